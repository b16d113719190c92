/** The part that reads and draws formulas, once a text needs it; null until it is here. */

import { useEffect, useState } from "react";

type MathModule = typeof import("./math");

let loaded: MathModule | null = null;

export function useMath(needed: boolean): MathModule | null {
  const [math, setMath] = useState(loaded);
  useEffect(() => {
    if (!needed || math) return;
    let wanted = true;
    import("./math").then(
      (module) => {
        loaded = module;
        if (wanted) setMath(module);
      },
      () => undefined, // offline: formulas stay as they were written
    );
    return () => {
      wanted = false;
    };
  }, [needed, math]);
  return needed ? math : null;
}
