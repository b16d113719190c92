import { useEffect, useState } from "react";

import type { Link } from "../api";
import { Banner, Button, toLocal, useNow } from "../parts";

interface Props {
  link: Link;
  wasLost: boolean;
  /** Whether a turn is under way, which goes on without this page. */
  running: boolean;
  onTry: () => void;
}

/** Says that the page is behind, and when it is no longer. */
export function LinkBanner({ link, wasLost, running, onTry }: Props) {
  if (link.state === "lost") return <Lost nextTry={link.nextTry} running={running} onTry={onTry} />;
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

/** Spoken once: the words that count down are not those that alert. */
function Lost({ nextTry, running, onTry }: { nextTry: number; running: boolean; onTry: () => void }) {
  const now = toLocal(useNow(true));
  const left = Math.max(0, Math.ceil((nextTry - now) / 1000));
  return (
    <Line>
      <Banner
        tone="warn"
        icon="offline"
        actions={
          <Button small onClick={onTry}>
            Try now
          </Button>
        }
      >
        <span role="alert">
          <strong>Disconnected.</strong>
          {running && " The turn keeps running on the server."}
        </span>{" "}
        <span aria-hidden="true">{left > 0 ? `Retrying in ${left}\u00a0s.` : "Retrying now."}</span>
      </Banner>
    </Line>
  );
}

const SHOWN_FOR_MS = 4000;

function Back() {
  const [shown, setShown] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setShown(false), SHOWN_FOR_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <Line>
      <Banner icon="check" role="status">
        Back online. Nothing was missed.
      </Banner>
    </Line>
  );
}

function Line({ children }: { children: React.ReactNode }) {
  return <div className="dock-line">{children}</div>;
}
