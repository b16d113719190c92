// Puts packed forms beside what was built, so that the server only has to choose one.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(js|css|svg|json|map|txt|webmanifest)$/; // not index.html: the server puts a nonce into each
const WORTH_IT = 1024;

export function compress(): Plugin {
  let folder = "";
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (TEXT.test(name)) pack(join(folder, name));
      }
    },
  };
}

function pack(file: string): void {
  const body = readFileSync(file);
  if (body.length < WORTH_IT) return;
  const hint = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(body, { params: hint }));
}
