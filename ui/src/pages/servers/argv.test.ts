import { describe, expect, test } from "vitest";

import { joinCommand, matchOf, splitCommand, unpinnedParts } from "./argv";

describe("a typed command", () => {
  test.each([
    ["/usr/bin/npx -y pkg", ["/usr/bin/npx", "-y", "pkg"]],
    ["  a   b ", ["a", "b"]],
    [`a "two words" 'and three more'`, ["a", "two words", "and three more"]],
    [`a --x="1 2"`, ["a", "--x=1 2"]],
    [String.raw`a two\ words \"`, ["a", "two words", '"']],
    [`a ""`, ["a", ""]],
    [`'not over`, ["not over"]],
    ["", []],
  ])("%s", (text, parts) => {
    expect(splitCommand(text)).toEqual(parts);
  });

  test("is the same again when it is joined and split", () => {
    const argv = ["/bin/x", "two words", "it's", 'a"b', "", "$HOME", "a\\b", "ø"];
    expect(splitCommand(joinCommand(argv))).toEqual(argv);
  });
});

describe("confirming", () => {
  const argv = ["/usr/bin/npx", "-y", "@acme/weather-mcp@latest", "--units=metric"];

  test("counts the parts that match from the first on", () => {
    expect(matchOf("/usr/bin/npx -y @acme/weather-mcp@la", argv)).toEqual({ parts: 2, whole: false });
    expect(matchOf("", argv)).toEqual({ parts: 0, whole: false });
  });

  test("wants all of it and nothing more", () => {
    expect(matchOf(argv.join(" "), argv).whole).toBe(true);
    expect(matchOf(`${argv.join(" ")} --more`, argv).whole).toBe(false);
    expect(matchOf(argv.slice(1).join(" "), argv).whole).toBe(false);
  });
});

describe("versions left open", () => {
  test.each([
    ["npx -y @acme/weather@latest --units=metric", ["@acme/weather@latest"]],
    ["npx -y @acme/weather", ["@acme/weather"]],
    ["npx -y weather@^1.2.0", ["weather@^1.2.0"]],
    ["npx -y weather@1.2.3", []],
    ["npx -y @acme/weather@1.2.3 /docs", []],
    ["/usr/local/bin/npx -p weather@1 run", ["weather@1"]],
    ["npx --package=weather@1.2.3 run", []],
    ["pnpm dlx weather", ["weather"]],
    ["uvx mcp-server-git", ["mcp-server-git"]],
    ["uvx mcp-server-git==2026.1.14", []],
    ["uvx mcp-server-git@2026.1.14", []],
    ["uvx --from git+https://example.com/x run", ["git+https://example.com/x"]],
    ["uv tool run ruff", ["ruff"]],
    ["docker run -i --rm -e KEY mcp/fetch", ["mcp/fetch"]],
    ["docker run -i mcp/fetch:latest", ["mcp/fetch:latest"]],
    ["docker run -i mcp/fetch:1.4.2", []],
    ["python -m server", []],
    ["/opt/bin/server npx", []],
    ["npx ./local", []],
  ])("%s", (command, flagged) => {
    const argv = splitCommand(command);
    expect(unpinnedParts(argv).map((n) => argv[n])).toEqual(flagged);
  });
});
