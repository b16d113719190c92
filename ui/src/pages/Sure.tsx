import { useEffect, useRef, useState } from "react";

import { Button, type IconName } from "../parts";

interface Props {
  /** The word on the button at first; it ends in "…". */
  ask: string;
  /** What is lost, in a sentence. */
  question: string;
  /** The word that does it. */
  act: string;
  icon?: IconName;
  small?: boolean;
  disabled?: boolean;
  onSure: () => void;
}

/** One more step, in place, for what has no way back. */
export function Sure({ ask, question, act, icon, small = false, disabled = false, onSure }: Props) {
  const [asking, setAsking] = useState(false);
  if (asking)
    return (
      <SureRow question={question} act={act} small={small} onSure={onSure} onKeep={() => setAsking(false)} />
    );
  return (
    <Button
      look="ghost"
      small={small}
      disabled={disabled}
      {...(icon && { icon })}
      onClick={() => setAsking(true)}
    >
      {ask}
    </Button>
  );
}

interface RowProps {
  question: string;
  act: string;
  small?: boolean;
  onSure: () => void;
  onKeep: () => void;
}

/** The question itself. The way out has the focus. */
export function SureRow({ question, act, small = false, onSure, onKeep }: RowProps) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <span className="sure" role="group" aria-label={question}>
      <span>{question}</span>
      <Button small={small} onClick={onSure}>
        {act}
      </Button>
      <Button ref={keep} look="ghost" small={small} onClick={onKeep}>
        Keep
      </Button>
    </span>
  );
}
