import { useCallback, useState } from "react";

import { ApiError, errorText, type Code } from "../api";

interface Verb {
  /** Do it; what went wrong is kept in `error`. Resolves to whether it worked. */
  run: (act: () => Promise<unknown>) => Promise<boolean>;
  busy: boolean;
  error: string;
  /** The server's own name for what went wrong. */
  code: Code | "";
}

/** One thing a person asked for, under way or failed. A second click while it runs does nothing. */
export function useVerb(): Verb {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [code, setCode] = useState<Verb["code"]>("");
  const run = useCallback(
    async (act: () => Promise<unknown>) => {
      if (busy) return false;
      setBusy(true);
      setError("");
      setCode("");
      try {
        await act();
        return true;
      } catch (problem) {
        setError(errorText(problem));
        setCode(problem instanceof ApiError ? problem.code : "");
        return false;
      } finally {
        setBusy(false);
      }
    },
    [busy],
  );
  return { run, busy, error, code };
}
