/** Pictures and sounds in a result. The model is told of them in words; the whole result holds them. */

import { results } from "../api";
import { parseJson } from "../parts";
import type { ToolOutput } from "../state";

export interface Part {
  kind: "image" | "audio" | "text";
  /** A data: address, or the text itself. */
  value: string;
}

const IMAGES = /^image\/(png|jpeg|gif|webp|avif)$/;
const SOUNDS = /^audio\/(mpeg|mp3|wav|x-wav|wave|ogg|webm|mp4|aac|flac)$/;
const TOLD = /^\[(image|audio), [\w.+/-]+, [\d,]+ KB; it is shown to the person\]$/m;
const LARGEST = 30_000_000;

/** Whether something in it is to be seen or heard rather than read. */
export function holdsMedia(output: ToolOutput): boolean {
  return Boolean(output.result_id) && (output.size ?? 0) <= LARGEST && TOLD.test(output.text);
}

export async function mediaOf(output: ToolOutput): Promise<Part[]> {
  return partsOf(await wholeOf(output.result_id ?? ""));
}

/** Parts that can be drawn safely: only known formats, only as data, never as a document. */
export function partsOf(whole: string): Part[] {
  const body = parseJson(whole);
  const content = typeof body === "object" && body !== null && "content" in body ? body.content : null;
  return Array.isArray(content) ? content.flatMap((block) => partOf(block) ?? []) : [];
}

function partOf(block: unknown): Part | null {
  if (typeof block !== "object" || block === null) return null;
  const { type, text, mimeType, data } = block as Record<string, unknown>;
  if (type === "text" && typeof text === "string") return { kind: "text", value: text };
  if (typeof mimeType !== "string" || typeof data !== "string" || !/^[\w+/=\s]*$/.test(data)) return null;
  const value = `data:${mimeType};base64,${data}`;
  if (type === "image" && IMAGES.test(mimeType)) return { kind: "image", value };
  if (type === "audio" && SOUNDS.test(mimeType)) return { kind: "audio", value };
  return null;
}

const PIECE = 1_000_000;

async function wholeOf(id: string): Promise<string> {
  const texts: string[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const piece: { text: string; next_offset: number | null } = await results.piece(id, offset, PIECE);
    texts.push(piece.text);
    offset = piece.next_offset;
  }
  return texts.join("");
}
