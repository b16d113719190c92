import { useNow, waited } from "../parts";

export function WaitingTime({ since }: { since: number }) {
  return <>waiting {waited(useNow(true) - since)}</>;
}
