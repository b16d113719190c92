import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./compress.ts";

const server = process.env.WINDLASS_URL ?? "http://127.0.0.1:8420";

const KEEPS_STATE = ["src/api/*.test.ts", "src/app/*.test.ts"];

export default defineConfig({
  base: "/ui/",
  // Chunks and fonts name each other by relative paths, so that the page can be served below any path of a proxy.
  experimental: {
    renderBuiltUrl: (_file, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  plugins: [react(), compress()],
  build: {
    outDir: "../src/windlass/web/static",
    emptyOutDir: true,
    target: "es2023",
    cssTarget: ["chrome123", "firefox128", "safari17.5"], // light-dark() stays as written
    assetsInlineLimit: 0, // a data: font would need a wider content security policy
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: {
      "^/(?!ui/)": { target: server, changeOrigin: true },
    },
  },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    testTimeout: 120_000, // a busy machine is slow, and no finding
    // What draws nothing and keeps nothing shares one page: making a page for each file takes longer than its tests.
    projects: [
      {
        extends: true,
        test: { name: "pure", include: ["src/**/*.test.ts"], exclude: KEEPS_STATE, isolate: false },
      },
      { extends: true, test: { name: "drawn", include: ["src/**/*.test.tsx", ...KEEPS_STATE] } },
    ],
  },
});
