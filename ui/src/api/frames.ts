/** Server-sent events out of bytes, whatever the chunks they come in. */

export interface Frame {
  event: string;
  data: string;
  id: string | null;
}

/** Feed it text as it comes; it gives back the frames that are complete. */
export class FrameReader {
  #rest = "";

  feed(text: string): Frame[] {
    const parts = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = parts.pop() ?? "";
    return parts.flatMap((part) => frameOf(part) ?? []);
  }
}

function frameOf(block: string): Frame | null {
  const frame: Frame = { event: "message", data: "", id: null };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") frame.event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") frame.id = value;
  }
  frame.data = data.join("\n");
  return data.length > 0 || frame.event !== "message" ? frame : null;
}
