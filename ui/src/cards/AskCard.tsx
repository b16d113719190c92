import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import type { Named } from "../conversation/toolbox";
import { Icon, type IconName } from "../parts";
import { maySteal } from "./attention";
import { ServerChip } from "./ServerChip";

interface Props {
  callId: string;
  icon: IconName;
  question: string;
  named: Named;
  /** How long it waits, or when it was sent. */
  time: ReactNode;
  children: ReactNode;
  foot?: ReactNode;
  error?: ReactNode;
  /** Whether it may take the focus when it begins to wait. */
  first: boolean;
  /** Whether the person came here from another step of it: then it has the focus already. */
  stepped?: boolean;
  /** Where Escape leads; without it, out of a field. */
  back?: () => void;
}

const GUARD_MS = 400;

/**
 * The frame of every card that waits for a person. It takes the focus on itself, not on a button, and takes no click
 * at first, so that nothing is allowed by a click or a key meant for elsewhere. Escape goes back a step and no further.
 */
export function AskCard(props: Props) {
  const { callId, icon, question, named, time, children, foot, error, first, stepped = false, back } = props;
  const title = useId();
  const frame = useRef<HTMLElement>(null);
  const guarded = useGuard();
  useEffect(() => {
    const card = frame.current;
    const inside = card?.contains(document.activeElement);
    if ((first && maySteal()) || (stepped && !inside)) card?.focus({ preventScroll: stepped });
  }, [first, stepped]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    const inField = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (!back && !inField) return;
    event.preventDefault();
    if (back) back();
    else frame.current?.focus();
  };
  return (
    <section
      ref={frame}
      id={`ask-${callId}`}
      className="ask-card"
      tabIndex={-1}
      aria-labelledby={title}
      data-waits
      onKeyDown={onKeyDown}
      onClickCapture={(event) => {
        if (!guarded()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <div className="ask-head">
        <Icon name={icon} />
        <h2 id={title}>{question}</h2>
        {named.server && <ServerChip id={named.serverId} slug={named.server} />}
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
