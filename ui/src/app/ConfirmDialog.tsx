import * as Dialog from "@radix-ui/react-dialog";
import { useEffect, useRef, useState, useSyncExternalStore, type SyntheticEvent } from "react";

import { confirming, settleConfirming, watchConfirming } from "../api/confirming";
import { confirmSession } from "../api/session";
import { currentSession, watchSession } from "../api/sessionState";
import { useVerb } from "../conversation/useVerb";
import { Button, Icon, Quoted } from "../parts";
import { credentialOf } from "./credential";

/** Asked for by whatever verb needs it (api/confirming). What was being done goes on where it stopped. */
export function ConfirmDialog() {
  const what = useSyncExternalStore(watchConfirming, confirming);
  const before = useRef<Element | null>(null); // it has no trigger that could get the focus back
  return (
    <Dialog.Root open={what !== ""} onOpenChange={(next) => !next && settleConfirming(false)}>
      <Dialog.Portal>
        <Dialog.Overlay className="veil top" />
        <Dialog.Content
          className="dialog panel"
          onOpenAutoFocus={() => (before.current = document.activeElement)}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (before.current instanceof HTMLElement) before.current.focus();
          }}
        >
          <Inside what={what} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Inside({ what: asked }: { what: string }) {
  const [what] = useState(asked); // it is still read while the dialog closes
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const { run, busy, error } = useVerb();
  useConfirmedElsewhere();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    event.stopPropagation(); // React's events rise through a portal into the form that asked
    const credential = credentialOf(typed, true);
    if (!credential) return;
    if (await run(() => confirmSession(credential))) settleConfirming(true);
    else field.current?.select(); // what does not fit stays, to be looked at or typed over
  };
  return (
    <form onSubmit={submit}>
      <div className="panel-head">
        <Icon name="shield" />
        <Dialog.Title>Confirm it’s you</Dialog.Title>
      </div>
      <div className="panel-body">
        <Dialog.Description asChild>
          <p>
            To {what}, this server needs more than an open browser. Confirming holds for 10 minutes in this
            browser; then what you started goes on by itself.
          </p>
        </Dialog.Description>
        <label className="field">
          <span className="label">Access token, or the digits in the terminal</span>
          <input
            className="input mono"
            type="password"
            autoComplete="current-password"
            autoFocus
            ref={field}
            value={typed}
            aria-invalid={error ? true : undefined}
            onChange={(event) => setTyped(event.target.value)}
          />
          <span className="help">
            <code className="mono">windlass serve</code> shows the digits where it runs. Or open a fresh link
            from <code className="mono">windlass token --url</code> in this browser.
          </span>
        </label>
        {error && (
          <p className="bad" role="alert">
            <strong>Not confirmed.</strong> <Quoted text={error} />
          </p>
        )}
        <div className="panel-foot">
          <Button look="ghost" onClick={() => settleConfirming(false)}>
            Cancel
          </Button>
          <Button type="submit" look="primary" disabled={busy || !credentialOf(typed, true)}>
            Confirm
          </Button>
        </div>
      </div>
    </form>
  );
}

/** A fresh link was opened in another tab: that signs in anew, which confirms as well. */
function useConfirmedElsewhere(): void {
  useEffect(() => {
    const since = currentSession()?.confirmedUntil ?? 0;
    return watchSession(() => {
      const until = currentSession()?.confirmedUntil ?? 0;
      if (until > since) settleConfirming(true);
    });
  }, []);
}
