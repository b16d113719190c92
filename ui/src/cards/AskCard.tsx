import { useEffect, useId, useRef, type KeyboardEvent, type ReactNode } from "react";

import { usePreference } from "../app/preferences";
import type { Named } from "../conversation/toolbox";
import { Icon, type IconName } from "../parts";
import { maySteal } from "./attention";
import { useGuard } from "./guard";
import { ServerChip } from "./ServerChip";

/** What a single letter does while the frame has the focus. */
export type CardKeys = Readonly<Record<string, () => void>>;

interface FrameProps {
  callId: string;
  icon: IconName;
  question: string;
  /** The call's tool and server; null where the card holds several calls. */
  named: Named | null;
  /** How long it waits, or when it was sent. */
  aside: ReactNode;
  children: ReactNode;
  /** Whether it may take the focus when it begins to wait. */
  first: boolean;
  /** Names what it shows. When that changes, clicks and keys wait a moment again, and the card keeps the focus. */
  moment?: string;
  /** What a press would decide. When that changes, clicks and keys wait again, but the focus stays where it is. */
  stakes?: string;
  /** Where Escape leads; without it, out of a field. */
  back?: (() => void) | undefined;
  keys?: CardKeys;
  /** Letters that decide nothing, so that they need not wait. */
  moves?: CardKeys;
  onLeave?: () => void;
}

/**
 * The frame of every card that waits for a person. It takes the focus on itself, not on a button, and takes no click
 * and no key at first, so that nothing is allowed by one meant for elsewhere. Escape goes back a step and no further.
 */
export function CardFrame(props: FrameProps) {
  const {
    callId,
    icon,
    question,
    named,
    aside,
    children,
    first,
    moment = "",
    stakes = "",
    back,
    keys = {},
    moves = {},
    onLeave,
  } = props;
  const title = useId();
  const frame = useRef<HTMLElement>(null);
  const guarded = useGuard(`${moment} ${stakes}`);
  const [letters] = usePreference("singleKeys");
  useFocus(frame, first, moment);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.defaultPrevented) return;
    if (event.key === "Escape") onEscape(event, frame.current, back);
    else if (letters && isLetter(event)) {
      const letter = event.key.toLowerCase();
      const act = moves[letter] ?? (guarded() ? undefined : keys[letter]);
      if (!act) return;
      event.preventDefault();
      act();
    }
  };
  const shortcuts = letters
    ? Object.keys({ ...keys, ...moves })
        .join(" ")
        .toUpperCase()
    : "";
  return (
    <section
      ref={frame}
      id={`ask-${callId}`}
      className="ask-card"
      role="group"
      tabIndex={-1}
      aria-labelledby={title}
      aria-keyshortcuts={shortcuts || undefined}
      data-waits
      onKeyDown={onKeyDown}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) onLeave?.();
      }}
      onClickCapture={(event) => {
        if (!guarded()) return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <div className="ask-head">
        <Icon name={icon} />
        <h2 id={title}>{question}</h2>
        {named?.server && <ServerChip id={named.serverId} slug={named.server} />}
        <span className="grow" />
        <span className="time">{aside}</span>
      </div>
      {children}
    </section>
  );
}

/** It takes the focus when it begins to wait, and keeps it when a button that had it is gone. */
function useFocus(frame: { current: HTMLElement | null }, first: boolean, moment: string): void {
  const before = useRef(moment);
  useEffect(() => {
    if (first && maySteal()) frame.current?.focus();
  }, [frame, first]);
  useEffect(() => {
    if (before.current === moment) return;
    before.current = moment;
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (lost) frame.current?.focus({ preventScroll: true });
  }, [frame, moment]);
}

function isLetter(event: KeyboardEvent<HTMLElement>): boolean {
  const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
  return event.target === event.currentTarget && !modified && !event.repeat;
}

function onEscape(event: KeyboardEvent<HTMLElement>, frame: HTMLElement | null, back?: () => void): void {
  const inField = event.target instanceof Element && event.target.matches("input, textarea, select");
  if (!back && !inField) return;
  event.preventDefault();
  if (back) back();
  else frame?.focus();
}

interface Props extends Omit<FrameProps, "named"> {
  named: Named;
  foot?: ReactNode;
  error?: ReactNode;
}

/** A card about one call. */
export function AskCard({ children, foot, error, ...frame }: Props) {
  return (
    <CardFrame {...frame}>
      <CardInside foot={foot} error={error}>
        {children}
      </CardInside>
    </CardFrame>
  );
}

interface InsideProps {
  children: ReactNode;
  foot?: ReactNode;
  error?: ReactNode;
}

export function CardInside({ children, foot, error }: InsideProps) {
  return (
    <>
      <div className="ask-body">
        {children}
        {error && (
          <p className="bad" role="alert">
            {error}
          </p>
        )}
      </div>
      {foot && <div className="ask-foot">{foot}</div>}
    </>
  );
}

/** The letter that does the same as a button, while such letters are on. */
export function Key({ letter }: { letter: string }) {
  const [letters] = usePreference("singleKeys");
  return letters ? <kbd aria-hidden="true">{letter}</kbd> : null;
}
