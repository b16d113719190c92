import type { ReactNode } from "react";

import { Button } from "../parts";

interface Props {
  busy: boolean;
  back: () => void;
  /** What the step can do. */
  children: ReactNode;
}

/** The foot of each step after the question: what it can do, and the way back. */
export function StepFoot({ busy, back, children }: Props) {
  return (
    <>
      {children}
      <span className="grow" />
      <BackButton disabled={busy} onClick={back} />
    </>
  );
}

interface BackProps {
  small?: boolean;
  disabled: boolean;
  onClick: () => void;
}

/** Does what Escape does. */
export function BackButton(props: BackProps) {
  return (
    <Button look="ghost" {...props}>
      Back <kbd aria-hidden="true">Esc</kbd>
    </Button>
  );
}
