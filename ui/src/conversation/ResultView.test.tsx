import { screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { drawOpen } from "../testing/open";
import { serve } from "../testing/server";
import { partsOf } from "./media";
import { OutputView, ResultView } from "./ResultView";

const PNG = "iVBORw0KGgo=";
const whole = JSON.stringify({
  content: [
    { type: "text", text: "A chart and a tone." },
    { type: "image", mimeType: "image/png", data: PNG },
    { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
  ],
});

test("pictures and sounds of a result are fetched whole and shown", async () => {
  const half = Math.floor(whole.length / 2);
  const asked = serve({
    "GET /results/result-1?offset=0": { text: whole.slice(0, half), next_offset: half },
    [`GET /results/result-1?offset=${half}`]: { text: whole.slice(half), next_offset: null },
  });
  const text = [
    "A chart and a tone.",
    "[image, image/png, 12 KB; it is shown to the person]",
    "[audio, audio/wav, 1 KB; it is shown to the person]",
  ].join("\n");
  const { container } = drawOpen(<OutputView output={{ text, result_id: "result-1", size: 400 }} />);
  const picture = await screen.findByRole("img");
  expect(picture.getAttribute("src")).toBe(`data:image/png;base64,${PNG}`);
  expect(container.querySelector("audio[controls]")?.getAttribute("src")).toBe(
    "data:audio/wav;base64,UklGRg==",
  );
  expect(screen.getByText("A chart and a tone.")).toBeTruthy();
  expect(asked).toHaveLength(2);
});

test("only known formats become something to see or hear", () => {
  const content = [
    { type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" },
    { type: "image", mimeType: "text/html", data: "PGI+" },
    { type: "image", mimeType: 'image/png" onerror="x', data: PNG },
    { type: "audio", mimeType: "audio/wav", data: "not base64 <" },
  ];
  expect(partsOf(JSON.stringify({ content }))).toEqual([]);
  expect(partsOf("not json")).toEqual([]);
});

test("text that only looks like the note of a picture asks for nothing", () => {
  const asked = serve({});
  drawOpen(<OutputView output={{ text: "[image, image/png, 12 KB; it is shown to the person]" }} />);
  expect(asked).toEqual([]);
});

test("rows of plain values are a table, numbers to the right", () => {
  drawOpen(<ResultView text={'[{"id":1,"title":"Pool"},{"id":2,"title":null}]'} />);
  expect(screen.getAllByRole("columnheader").map((head) => head.textContent)).toEqual(["id", "title"]);
  expect(screen.getByText("1").className).toContain("r");
  expect(screen.getByText("–")).toBeTruthy();
});
