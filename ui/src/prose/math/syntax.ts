/** `$…$`, `$$…$$`, `\(…\)` and `\[…\]` within a text, found before Markdown reads its escapes. */

type Code = number | null;
type State = (code: Code) => State | undefined;

interface Effects {
  enter: (token: string) => unknown;
  exit: (token: string) => unknown;
  consume: (code: Code) => undefined;
}

type Tokenizer = (effects: Effects, ok: State, nok: State) => State;

interface Construct {
  name: string;
  tokenize: Tokenizer;
  previous?: (code: Code) => boolean;
}

const DOLLAR = 36;
const BACKSLASH = 92;
const SPACE = 32;
const CLOSERS = new Map<Code, number>([
  [40, 41], // ( )
  [91, 93], // [ ]
]);

/** A micromark extension. While a text grows, a bracket that is not closed yet stays as it was typed. */
export function mathSyntax(growing: boolean) {
  const brackets = growing ? [inBrackets, asTyped] : [inBrackets];
  return { text: { [DOLLAR]: inDollars, [BACKSLASH]: brackets } };
}

/**
 * One dollar is money unless it opens right before a letter and closes right after one: not after a digit or word
 * (`10$`), not before a space, and not where a digit follows, as in `$5 and $6`.
 */
const inDollars: Construct = {
  name: "mathInDollars",
  previous: (code) => code !== DOLLAR && !isWord(code),
  tokenize(effects, ok, nok) {
    const { between, consume, last, end } = content(effects, nok, atDollar);
    let width = 0;
    let closing = 0;
    return begin;

    function begin(code: Code): State | undefined {
      effects.enter("math");
      effects.enter("mathData");
      return open(code);
    }

    function open(code: Code): State | undefined {
      if (code === DOLLAR) {
        width += 1;
        consume(code);
        return open;
      }
      if (width > 2 || (width === 1 && isSpace(code))) return nok(code);
      effects.exit("mathData");
      return between(code);
    }

    function atDollar(code: Code): State | undefined | false {
      if (code !== DOLLAR) return false;
      if (width === 1 && isSpace(last())) return nok(code);
      closing = 0;
      return close(code);
    }

    function close(code: Code): State | undefined {
      if (code === DOLLAR && closing < width) {
        closing += 1;
        consume(code);
        return close;
      }
      if (closing === width && code !== DOLLAR && !(width === 1 && isDigit(code))) return end(ok, code);
      return width === 1 ? nok(code) : inData(code);
    }

    function inData(code: Code): State | undefined {
      effects.exit("mathData");
      return between(code);
    }
  },
};

const inBrackets: Construct = {
  name: "mathInBrackets",
  tokenize(effects, ok, nok) {
    let closer: number | undefined;
    let blank = true;
    const { between, consume, end } = content(effects, nok, seen, closes);
    return begin;

    function seen(code: Code): false {
      blank &&= isSpace(code) || code === BACKSLASH;
      return false;
    }

    function begin(code: Code): State | undefined {
      effects.enter("math");
      effects.enter("mathData");
      consume(code);
      return open;
    }

    function open(code: Code): State | undefined {
      closer = CLOSERS.get(code);
      if (closer === undefined) return nok(code);
      consume(code);
      return opened;
    }

    function opened(code: Code): State | undefined {
      effects.exit("mathData");
      return between(code);
    }

    /** After a backslash. An empty pair is a check box, and `\[words\](url)` a link that was escaped. */
    function closes(code: Code): State | undefined | false {
      if (code !== closer) {
        blank = false;
        return false;
      }
      if (blank) return nok(code);
      consume(code);
      return (next) => (closer === 93 && next === 40 ? nok(next) : end(ok, next));
    }
  },
};

const asTyped: Construct = {
  name: "mathNotClosed",
  tokenize(effects, ok, nok) {
    return (code) => {
      effects.enter("data");
      effects.consume(code);
      return bracket;
    };

    function bracket(code: Code): State | undefined {
      if (!CLOSERS.has(code)) return nok(code);
      effects.consume(code);
      effects.exit("data");
      return ok;
    }
  },
};

type Look = (code: Code) => State | undefined | false;
const neither: Look = () => false;

/** What is inside, line by line. `at` looks at each letter first, `afterBackslash` at the one behind a backslash. */
function content(effects: Effects, nok: State, at: Look, afterBackslash: Look = neither) {
  let previous: Code = null;
  return { between, consume, last: () => previous, end };

  function consume(code: Code): void {
    previous = code;
    effects.consume(code);
  }

  function between(code: Code): State | undefined {
    if (code === null) return nok(code);
    if (isLineEnding(code)) {
      effects.enter("lineEnding");
      consume(code);
      effects.exit("lineEnding");
      return between;
    }
    effects.enter("mathData");
    return data(code);
  }

  function data(code: Code): State | undefined {
    if (code === null || isLineEnding(code)) {
      effects.exit("mathData");
      return between(code);
    }
    const found = at(code);
    if (found !== false) return found;
    consume(code);
    return code === BACKSLASH ? escaped : data;
  }

  function escaped(code: Code): State | undefined {
    if (code === null || isLineEnding(code)) return data(code);
    const found = afterBackslash(code);
    if (found !== false) return found;
    consume(code);
    return data;
  }

  function end(ok: State, code: Code): State | undefined {
    effects.exit("mathData");
    effects.exit("math");
    return ok(code);
  }
}

function isLineEnding(code: Code): boolean {
  return code !== null && code < -2;
}

/** Tabs and ends of lines are below zero. */
function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === SPACE;
}

function isDigit(code: Code): boolean {
  return code !== null && code >= 48 && code <= 57;
}

/** ASCII alone: Chinese and Japanese write no space before a formula. */
function isWord(code: Code): boolean {
  return isDigit(code) || (code !== null && ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)));
}
