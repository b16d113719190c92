import { useEffect, useState } from "react";

import type { Link } from "../api";
import { Banner, Button, toLocal, useNow } from "../parts";

interface Props {
  link: Link;
  wasLost: boolean;
  onTry: () => void;
}

/** Says that the page is behind, and when it is no longer. */
export function LinkBanner({ link, wasLost, onTry }: Props) {
  if (link.state === "lost") return <Lost nextTry={link.nextTry} onTry={onTry} />;
  if (link.state === "refused" && link.status !== 401)
    return (
      <Line>
        <Banner tone="bad" icon="fail" role="alert">
          <strong>{link.message}</strong>
        </Banner>
      </Line>
    );
  return link.state === "open" && wasLost ? <Back /> : null;
}

function Lost({ nextTry, onTry }: { nextTry: number; onTry: () => void }) {
  const now = toLocal(useNow(true));
  const left = Math.max(0, Math.ceil((nextTry - now) / 1000));
  return (
    <Line>
      <Banner
        tone="warn"
        icon="offline"
        role="alert"
        actions={
          <Button small onClick={onTry}>
            Try now
          </Button>
        }
      >
        <strong>Not connected.</strong> The turn goes on without this page.{" "}
        {left > 0 ? `Next try in ${left}\u00a0s.` : "Trying now."}
      </Banner>
    </Line>
  );
}

const SAID_FOR_MS = 4000;

function Back() {
  const [shown, setShown] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setShown(false), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <Line>
      <Banner icon="check" role="status">
        Connected again. Nothing was missed.
      </Banner>
    </Line>
  );
}

function Line({ children }: { children: React.ReactNode }) {
  return <div className="dock-line">{children}</div>;
}
