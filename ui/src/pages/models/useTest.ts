import { useState } from "react";

import { providers, type ProviderTest } from "../../api";
import { useVerb } from "../../conversation/useVerb";

/** A test of a provider, under way or done. */
export function useTest(): {
  test: ProviderTest | null;
  busy: boolean;
  error: string;
  /** Resolves to whether the model can be used. */
  begin: (id: string) => Promise<boolean>;
} {
  const [test, setTest] = useState<ProviderTest | null>(null);
  const { run, busy, error } = useVerb();
  const begin = async (id: string) => {
    setTest(null);
    let usable = false;
    await run(async () => {
      const found = await providers.test(id);
      usable = found.ok;
      setTest(found);
    });
    return usable;
  };
  return { test, busy, error, begin };
}
