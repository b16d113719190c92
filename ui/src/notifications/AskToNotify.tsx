import { Banner, Button, useNow } from "../parts";
import { LONG_MS } from "./news";
import { noteAsked, permission, usePreferences } from "./preferences";

/** The one question, asked when a turn has run for a while, and never again after either answer. */
export function AskToNotify({ startedAt }: { startedAt: number }) {
  const { asked } = usePreferences();
  const now = useNow(asked === "");
  if (asked !== "" || permission() !== "default" || now - startedAt < LONG_MS) return null;
  const turnOn = () => {
    noteAsked("on");
    void Notification.requestPermission();
  };
  return (
    <div className="dock-line">
      <Banner
        icon="bell"
        role="status"
        actions={
          <>
            <Button small onClick={turnOn}>
              Turn on
            </Button>
            <Button small onClick={() => noteAsked("off")}>
              Not now
            </Button>
          </>
        }
      >
        Tell you when this finishes or needs you?
      </Banner>
    </div>
  );
}
