import { useState } from "react";

import { providers, type ProviderTest } from "../../api";
import { useVerb } from "../../conversation/useVerb";

/** A test of a provider, under way or done. */
export function useTest(): {
  test: ProviderTest | null;
  busy: boolean;
  error: string;
  begin: (id: string) => Promise<void>;
} {
  const [test, setTest] = useState<ProviderTest | null>(null);
  const { run, busy, error } = useVerb();
  const begin = async (id: string) => {
    setTest(null);
    await run(async () => setTest(await providers.test(id)));
  };
  return { test, busy, error, begin };
}
