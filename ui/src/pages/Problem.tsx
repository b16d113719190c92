import { Banner, Button, Quoted } from "../parts";

interface Props {
  what: string;
  error: string;
  onAgain?: () => void;
}

/** What could not be done, and why. Draws nothing while there is no error. */
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
