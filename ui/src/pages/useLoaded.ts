/** Something fetched for as long as a component shows it; a new key fetches anew. */

import { useCallback, useEffect, useRef, useState } from "react";

import { errorText } from "../api";
import { onBack } from "../app/link";

export interface Loaded<T> {
  value: T | null;
  error: string;
  again: () => void;
}

interface Kept<T> {
  key: string;
  value: T | null;
  error: string;
}

/** With an empty key nothing is fetched. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [kept, setKept] = useState<Kept<T>>({ key: "", value: null, error: "" });
  const [tries, setTries] = useState(0);
  const loading = useRef(load);
  useEffect(() => {
    loading.current = load;
  });
  useEffect(() => {
    if (!key) return;
    let wanted = true;
    loading.current().then(
      (value) => wanted && setKept({ key, value, error: "" }),
      (error: unknown) => wanted && setKept({ key, value: null, error: errorText(error) }),
    );
    return () => {
      wanted = false;
    };
  }, [key, tries]);
  const again = useCallback(() => setTries((n) => n + 1), []);
  const fresh = kept.key === key;
  const failed = fresh && kept.error !== "";
  useEffect(() => (failed ? onBack(again) : undefined), [failed, again]);
  return { value: fresh ? kept.value : null, error: fresh ? kept.error : "", again };
}
