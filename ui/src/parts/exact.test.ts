import { expect, test } from "vitest";

import { keepsNumbers } from "./exact";

test.each([
  '{"a":[1,-0.5,1.0,15e-1,1E3,0,-0.0]}',
  '{"a":"1234567890123456789"}',
  '{"a":"\\"1e999"}',
  "{",
  "",
])("%s is read as it is written", (json) => expect(keepsNumbers(json)).toBe(true));

test.each([
  '{"a":1234567890123456789}',
  '{"a":{"b":[0.12345678901234567891]}}',
  '{"a":1e999}',
  '{"a":1e-999}',
])("%s would be rounded", (json) => expect(keepsNumbers(json)).toBe(false));
