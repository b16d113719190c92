/** Words for what a server is and does. */

import type { Server } from "../../api";

type Tone = "" | "ok" | "warn" | "bad";

export const STATUS: Record<Server["status"], { word: string; tone: Tone }> = {
  draft: { word: "Draft", tone: "warn" },
  configured: { word: "Not started", tone: "" },
  starting: { word: "Starting", tone: "ok" },
  running: { word: "Running", tone: "ok" },
  failed: { word: "Failed", tone: "bad" },
  stopped: { word: "Stopped", tone: "" },
};

export function sandboxWords(server: Server): string {
  if (server.transport !== "stdio") return "remote: it runs elsewhere";
  return server.sandbox === "bwrap"
    ? "bwrap: private home, none of your files"
    : "off: it runs as you, with your files and your network";
}

export function sandboxShort(server: Server): string {
  return server.transport === "stdio" ? server.sandbox : "remote";
}

export function ms(value: number | null): string {
  return value ? `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)}\u00a0ms` : "–";
}
