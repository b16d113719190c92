/** Pictures, sounds and files in results. The event names them; the whole result, which is fetched when needed, holds them. */

import { results } from "../api";
import { parseJson, sizeInBytes } from "../parts";
import type { OutputFile, ToolOutput } from "../state";

const IMAGES = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/;
const SOUNDS = /^audio\/(mpeg|mp3|wav|x-wav|wave|ogg|webm|mp4|aac|flac)$/;
const NOTE = /^\[(image|audio)(?: \d+)?, ([\w.+/-]+), [\d,.]+ [kK]?B(?:; it is shown to the person)?\]$/gm;
const LARGEST = 30_000_000;
const UNKNOWN_PLACE = -1;

/** What a result holds beside its text. Results from before the event named them are known by the note to the model. */
export function filesOf({ files, result_id: id, text }: ToolOutput): readonly OutputFile[] {
  if (files?.length || !id) return files ?? [];
  return [...text.matchAll(NOTE)].map(([, kind, mime = ""]) => ({
    kind: kind === "audio" ? "audio" : "image",
    at: UNKNOWN_PLACE,
    mime,
  }));
}

/** The text of a result without the notes of what is shown as a figure. */
export function textOf(output: ToolOutput): string {
  return filesOf(output).length > 0 ? output.text.replace(NOTE, "").trim() : output.text;
}

/** The one size of a result that is shown anywhere. */
export function sizeOf({ size = 0, text }: ToolOutput): number {
  return size > 0 ? size : sizeInBytes(text);
}

export function isShowable({ kind, mime = "", size = 0 }: OutputFile): boolean {
  return (
    size <= LARGEST && ((kind === "image" && IMAGES.test(mime)) || (kind === "audio" && SOUNDS.test(mime)))
  );
}

export interface Held {
  /** For an `img` or `audio` element alone: as a document of its own a drawing could run scripts. */
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** What the tool wrote beside it. */
  text: string;
}

/** One file of a result; null where the result does not hold it after all. */
export async function heldIn(output: ToolOutput, file: OutputFile, nth: number): Promise<Held | null> {
  const content = await contentOf(output.result_id ?? "");
  const found = file.at === UNKNOWN_PLACE ? content.filter(isMedia)[nth] : content[file.at];
  const data = found && dataOf(found);
  if (!data) return null;
  const url = isShowable(file) ? `data:${file.mime};base64,${data}` : "";
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return { url, bytes, text: content.map(wordsOf).filter(Boolean).join(" ") };
}

type Block = Readonly<Record<string, unknown>>;

function isMedia({ type }: Block): boolean {
  return type === "image" || type === "audio";
}

function wordsOf({ type, text }: Block): string {
  return type === "text" && typeof text === "string" ? text.trim() : "";
}

/** In base64, whichever way the block holds it. */
function dataOf(block: Block): string {
  const held = isBlock(block.resource) ? block.resource : block;
  if (typeof held.text === "string") return base64(new TextEncoder().encode(held.text));
  const data = held.data ?? held.blob;
  return typeof data === "string" && /^[\w+/=\s]*$/.test(data) ? data : "";
}

function base64(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte));
  return btoa(letters.join(""));
}

const KEPT = 12;
const kept = new Map<string, Promise<Block[]>>();

/** The thumbnail and the figure of a result share one fetch. */
function contentOf(id: string): Promise<Block[]> {
  const content = kept.get(id) ?? wholeOf(id).then(blocksIn);
  content.catch(() => kept.delete(id));
  kept.delete(id); // the newest stand last
  kept.set(id, content);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest) kept.delete(oldest);
  return content;
}

function blocksIn(whole: string): Block[] {
  const answer: unknown = parseJson(whole);
  const body = isBlock(answer) && isBlock(answer.result) ? answer.result : answer;
  return isBlock(body) && Array.isArray(body.content) ? body.content.filter(isBlock) : [];
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null;
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
