import { expect, test } from "vitest";

import { onlyLetters } from "./trusted";

test.each(["&copy;", "&sup2;", "&CounterClockwiseContourIntegral;"])("%s may be decoded", (text) => {
  expect(onlyLetters(text)).toBe(text);
});

test.each(["<img src=x onerror=alert(1)>", "&lt;<b>;", "&copy;<b>", "copy", "", "& copy;", "&a;\n<b>;"])(
  "%s is refused",
  (text) => {
    expect(onlyLetters(text)).toBeNull();
  },
);
