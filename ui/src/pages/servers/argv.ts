/** A command as its parts: split as a shell would, compared part by part, looked over for versions left open. */

/** The parts of a typed command. Quotes hold a part together; a backslash takes the next letter as it is. */
export function splitCommand(text: string): string[] {
  const parts: string[] = [];
  let part: string | null = null;
  let quote = "";
  for (let n = 0; n < text.length; n += 1) {
    const letter = text.charAt(n);
    if (letter === "\\" && quote !== "'" && n + 1 < text.length) part = (part ?? "") + text.charAt(++n);
    else if (quote) {
      if (letter === quote) quote = "";
      else part = (part ?? "") + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      part ??= "";
    } else if (/\s/.test(letter)) {
      if (part !== null) parts.push(part);
      part = null;
    } else part = (part ?? "") + letter;
  }
  return part === null ? parts : [...parts, part];
}

/** The command on one line, so that splitting it gives the same parts. */
export function joinCommand(argv: readonly string[]): string {
  return argv
    .map((part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}

export interface Match {
  /** Parts from the first on that are the same. */
  parts: number;
  whole: boolean;
}

export function matchOf(typed: string, argv: readonly string[]): Match {
  const words = splitCommand(typed);
  const differs = argv.findIndex((part, n) => words[n] !== part);
  const parts = differs < 0 ? argv.length : differs;
  return { parts, whole: parts === argv.length && words.length === argv.length };
}

const RUNNERS: Record<string, { words: string[][]; kind: "npm" | "python" | "image" }> = {
  npx: { words: [[]], kind: "npm" },
  bunx: { words: [[]], kind: "npm" },
  pnpx: { words: [[]], kind: "npm" },
  pnpm: { words: [["dlx"], ["exec"]], kind: "npm" },
  yarn: { words: [["dlx"]], kind: "npm" },
  npm: { words: [["exec"], ["x"]], kind: "npm" },
  bun: { words: [["x"]], kind: "npm" },
  uvx: { words: [[]], kind: "python" },
  uv: { words: [["tool", "run"]], kind: "python" },
  pipx: { words: [["run"]], kind: "python" },
  docker: { words: [["run"]], kind: "image" },
  podman: { words: [["run"]], kind: "image" },
};

const NAMED = /^(?:-p|--package|--from|--spec|--with)(?:=(.*))?$/;
const TAKES_VALUE = new Set(
  "--python --index-url --registry --cache -v --volume -e --env --env-file --name --network --mount -u --user -w --workdir -p --publish --entrypoint --platform".split(
    " ",
  ),
);

/** Places in argv that name a package or an image whose version may change between two starts. */
export function unpinnedParts(argv: readonly string[]): number[] {
  const [program = "", ...rest] = argv;
  const runner = RUNNERS[program.replace(/^.*[\\/]/, "").replace(/\.(cmd|exe)$/, "")];
  const words = runner?.words.find((given) => given.every((part, n) => rest[n] === part));
  if (!runner || !words) return [];
  return packagesIn(argv, 1 + words.length, runner.kind).filter((n) => !isPinned(argv[n] ?? "", runner.kind));
}

function packagesIn(argv: readonly string[], from: number, kind: "npm" | "python" | "image"): number[] {
  const named: number[] = [];
  for (let n = from; n < argv.length; n += 1) {
    const part = argv[n] ?? "";
    const option = kind === "image" ? null : NAMED.exec(part);
    if (option) named.push(option[1] === undefined ? ++n : n);
    else if (part.startsWith("-")) n += TAKES_VALUE.has(part) ? 1 : 0;
    else return named.length > 0 ? named : [n];
  }
  return named;
}

function isPinned(part: string, kind: "npm" | "python" | "image"): boolean {
  const name = part.replace(/^--?[\w-]+=/, "");
  if (kind === "image")
    return /@sha256:[0-9a-f]{64}$/.test(name) || /:(?!latest$)[\w][\w.-]*\d[\w.-]*$/.test(name);
  if (/^(\.|\/|~|file:)/.test(name)) return true;
  if (/^(git\+|https?:|github:)/.test(name)) return /[@#][0-9a-f]{40}$/.test(name);
  const version = kind === "npm" ? /.@v?(\d+\.\d+\.\d+[\w.+-]*)$/ : /(?:===?|@)(\d+(?:\.\d+)+[\w.+!-]*)$/;
  return version.test(name);
}
