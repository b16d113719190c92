/** Words for what a server is and does. */

import type { Server } from "../../api";
import { decimal, grouped } from "../../parts/format";

type Tone = "" | "ok" | "warn" | "bad";

export const STATUS: Record<Server["status"], { label: string; tone: Tone }> = {
  draft: { label: "Draft", tone: "warn" },
  configured: { label: "Not started", tone: "" },
  starting: { label: "Starting", tone: "ok" },
  running: { label: "Running", tone: "ok" },
  failed: { label: "Failed", tone: "bad" },
  stopped: { label: "Stopped", tone: "" },
  needs_sign_in: { label: "Needs sign-in", tone: "warn" },
};

export function sandboxText(server: Server): string {
  if (server.transport !== "stdio") return "remote: it runs elsewhere";
  const isolation = server.isolation;
  const what = {
    default: "default: none of your credentials, writes only where the command says",
    strict: "strict: private home, none of your files",
    off: "off: it runs as you, with your files and your network",
  }[isolation?.wanted ?? "off"];
  const held = isolation?.level === "none" && isolation.wanted !== "off" ? " Nothing isolates it here" : "";
  return isolation?.why ? `${what}.${held} (${isolation.why})` : what;
}

export function sandboxShort(server: Server): string {
  return server.transport === "stdio" ? server.sandbox : "remote";
}

export function ms(value: number | null): string {
  return value ? `${value < 10 ? decimal(value) : grouped(Math.round(value))}\u00a0ms` : "–";
}
