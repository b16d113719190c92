import { useState } from "react";

import { shortUri } from "../composer/attached";
import { Fold, grouped } from "../parts";
import type { Attachment, ChatMessage } from "../state";
import { ResultView } from "./ResultView";

/** Resources that came with a message, as they were read then. Events of earlier versions name none. */
export function AttachedTexts({ attached = [] }: { attached: ChatMessage["attached"] }) {
  return attached.map((one) => <AttachedText key={one.id} attachment={one} />);
}

function AttachedText({ attachment }: { attachment: Attachment }) {
  const [open, setOpen] = useState(false);
  const { server, uri, text } = attachment;
  return (
    <div className="attached" title={uri}>
      <Fold
        icon="doc"
        title={`${shortUri(uri)} from ${server}, ${grouped(text.length)} characters`}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open && <ResultView text={text} />}
    </div>
  );
}
