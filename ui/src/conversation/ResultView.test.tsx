import { fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { drawOpen } from "../testing/open";
import { serve } from "../testing/server";
import type { OutputFile } from "../state";
import { filesOf, heldIn, isShowable, sizeOf, textOf } from "./media";
import { OutputView, ResultView } from "./ResultView";

const PNG = "iVBORw0KGgo=";
const NOTE = "[image, image/png, 12 KB; it is shown to the person]";
const image: OutputFile = { kind: "image", at: 1, mime: "image/png", size: 8 };

function keep(id: string, content: object[]): unknown[] {
  const whole = JSON.stringify({ content });
  const half = Math.floor(whole.length / 2);
  return serve({
    [`GET /results/${id}?offset=0`]: { text: whole.slice(0, half), next_offset: half },
    [`GET /results/${id}?offset=${half}`]: { text: whole.slice(half), next_offset: null },
  });
}

test("a picture is taken from the whole result, which is fetched once for all that show it", async () => {
  const asked = keep("result-1", [
    { type: "text", text: "A chart." },
    { type: "image", mimeType: "image/png", data: PNG },
  ]);
  const output = { text: "A chart.", result_id: "result-1", files: [image] };
  expect((await heldIn(output, image, 0))?.url).toBe(`data:image/png;base64,${PNG}`);
  expect([...((await heldIn(output, image, 0))?.bytes ?? [])].slice(1, 4)).toEqual([80, 78, 71]);
  expect(asked).toHaveLength(2);
});

test("a drawing that came as text is shown as data, for an image element alone", async () => {
  keep("result-2", [{ type: "resource", resource: { uri: "file:///é.svg", text: "<svg>é</svg>" } }]);
  const file: OutputFile = { kind: "image", at: 0, name: "é.svg", mime: "image/svg+xml" };
  const held = await heldIn({ text: "", result_id: "result-2" }, file, 0);
  expect(new TextDecoder().decode(held?.bytes)).toBe("<svg>é</svg>");
  expect(held?.url).toMatch(/^data:image\/svg\+xml;base64,/);
});

test("only known formats are shown; the others can be saved", () => {
  const shown = (kind: OutputFile["kind"], mime: string, size = 1) => isShowable({ kind, at: 0, mime, size });
  expect([shown("image", "image/png"), shown("audio", "audio/wav")]).toEqual([true, true]);
  expect([
    shown("image", "text/html"),
    shown("image", 'image/png" onerror="x'),
    shown("audio", "image/png"),
    shown("file", "image/png"),
    shown("image", "image/png", 40_000_000),
  ]).toEqual([false, false, false, false, false]);
});

test("data that is not base64 is not held", async () => {
  keep("result-3", [{ type: "image", mimeType: "image/png", data: "<svg onload=x>" }]);
  expect(await heldIn({ text: "", result_id: "result-3" }, { ...image, at: 0 }, 0)).toBeNull();
});

test("a result from before files were named is known by its notes, and only with a whole behind them", () => {
  expect(filesOf({ text: `A chart.\n${NOTE}`, result_id: "r" })).toHaveLength(1);
  expect(filesOf({ text: NOTE })).toEqual([]);
  expect(textOf({ text: `A chart.\n${NOTE}`, result_id: "r" })).toBe("A chart.");
});

test("notes of pictures that models were shown are left out, numbered or not", () => {
  const text = "Two charts.\n[image 1, image/png, 12 kB]\n[image 2, image/jpeg, 9 kB]\n[image, x]";
  expect(textOf({ text, result_id: "r", files: [image] })).toBe("Two charts.\n\n\n[image, x]");
});

test("a picture is found in an answer that was kept as the server sent it", async () => {
  const whole = JSON.stringify({ jsonrpc: "2.0", result: { content: [{ type: "image", data: PNG }] } });
  serve({ "GET /results/result-4?offset=0": { text: whole, next_offset: null } });
  const held = await heldIn({ text: "", result_id: "result-4" }, { ...image, at: 0 }, 0);
  expect(held?.url).toBe(`data:image/png;base64,${PNG}`);
});

test("a result has one size, in bytes", () => {
  expect(sizeOf({ text: "short", result_id: "r", size: 212_480, shortened: true })).toBe(212_480);
  expect(sizeOf({ text: "é" })).toBe(2);
});

test("a result without words says where it is shown", () => {
  drawOpen(<OutputView output={{ text: NOTE, result_id: "r", files: [image] }} />);
  expect(screen.getByText("Shown below.")).toBeTruthy();
});

test("rows of plain values are a table that sorts, numbers to the right", () => {
  drawOpen(<ResultView text={'[{"id":2,"title":"Pool"},{"id":1,"title":null}]'} />);
  const heads = screen.getAllByRole("columnheader");
  expect(heads.map((head) => head.textContent)).toEqual(["id", "title"]);
  expect(screen.getByText("1").className).toContain("r");
  expect(screen.getByText("–")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "id" }));
  expect([...document.querySelectorAll("tbody td:first-child")].map((cell) => cell.textContent)).toEqual([
    "1",
    "2",
  ]);
});
