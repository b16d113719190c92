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
export function Sure({ ask, question, act, icon, small, disabled, onSure }: Props) {
  const [asking, setAsking] = useState(false);
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asking) keep.current?.focus();
  }, [asking]);
  const look = { ...(icon && { icon }), ...(small && { small }), ...(disabled && { disabled }) };
  if (!asking)
    return (
      <Button look="ghost" {...look} onClick={() => setAsking(true)}>
        {ask}
      </Button>
    );
  return (
    <span className="sure" role="group" aria-label={question}>
      <span>{question}</span>
      <Button {...(small && { small })} onClick={onSure}>
        {act}
      </Button>
      <Button ref={keep} look="ghost" {...(small && { small })} onClick={() => setAsking(false)}>
        Keep
      </Button>
    </span>
  );
}
