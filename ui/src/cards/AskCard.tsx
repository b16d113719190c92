import { useEffect, useId, useRef, useState, type ReactNode } from "react";

import { Badge, Icon, type IconName } from "../parts";
import { maySteal } from "./attention";

interface Props {
  callId: string;
  icon: IconName;
  question: string;
  server: string;
  /** How long it waits, or when it was sent. */
  time: ReactNode;
  children: ReactNode;
  foot?: ReactNode;
  error?: ReactNode;
  /** Whether it may take the focus when it begins to wait. */
  first: boolean;
}

const GUARD_MS = 400;

/**
 * The frame of every card that waits for a person. It takes the focus on itself, not on a button, and takes no click
 * at first, so that nothing is allowed by a click or a key meant for elsewhere.
 */
export function AskCard({ callId, icon, question, server, time, children, foot, error, first }: Props) {
  const title = useId();
  const frame = useRef<HTMLElement>(null);
  const guarded = useGuard();
  useEffect(() => {
    if (first && maySteal()) frame.current?.focus({ preventScroll: false });
  }, [first]);
  return (
    <section
      ref={frame}
      id={`ask-${callId}`}
      className="ask-card"
      tabIndex={-1}
      aria-labelledby={title}
      data-waits
      onClickCapture={(event) => {
        if (!guarded()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <div className="ask-head">
        <Icon name={icon} />
        <h2 id={title}>{question}</h2>
        {server && <Badge>{server}</Badge>}
        <span className="grow" />
        <span className="time">{time}</span>
      </div>
      <div className="ask-body">
        {children}
        {error && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
      </div>
      {foot && <div className="ask-foot">{foot}</div>}
    </section>
  );
}

function useGuard(): () => boolean {
  const [shownAt] = useState(() => performance.now());
  return () => performance.now() - shownAt < GUARD_MS;
}
