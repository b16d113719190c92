import { useConnection, type Connection } from "../app/link";
import { clockTime } from "../parts";

/** At the foot of the sidebar: whether what is shown is true now. */
export function LinkState() {
  const connection = useConnection();
  return (
    <div className="link-state" role="status">
      <span className={connection.state === "open" ? "dot" : "dot hollow"} />
      <span className="grow">{connectionText(connection)}</span>
      {connection.state !== "lost" && <span className="num">{location.host}</span>}
    </div>
  );
}

export function connectionText({ state, since }: Connection): string {
  switch (state) {
    case "connecting":
      return "Connecting";
    case "open":
      return "Connected";
    case "lost":
      return `Disconnected since ${clockTime(since)}`;
    case "signed_out":
      return "Signed out";
  }
}
