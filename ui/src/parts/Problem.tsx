import { Banner } from "./Banner";
import { Button } from "./Button";
import { Quoted } from "./Quoted";

interface Props {
  /** What did not work, in a sentence: "Couldn’t load servers." */
  what: string;
  /** Why: whoever refused names itself. */
  error: string;
  onAgain?: () => void;
}

/** What could not be done, why, and one next step. Draws nothing while there is no error. */
export function Problem({ what, error, onAgain }: Props) {
  if (!error) return null;
  const again = onAgain && (
    <Button small onClick={onAgain}>
      Try again
    </Button>
  );
  return (
    <Banner tone="bad" icon="fail" role="alert" actions={again}>
      <strong>{what}</strong> <Quoted text={error} />
    </Banner>
  );
}
