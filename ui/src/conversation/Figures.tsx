import { Suspense, lazy, useState } from "react";

import { plural } from "../parts";
import { safeUrl } from "../prose/Prose";
import { lookOf, type Call, type OutputFile } from "../state";
import { filesOf, isShowable } from "./media";

const Figure = lazy(() => import("./Figure").then(({ Figure }) => ({ default: Figure })));
const Thumb = lazy(() => import("./Figure").then(({ Thumb }) => ({ default: Thumb })));

const MOST = 6;

/** What calls gave to look at, to hear or to keep. It stands below them whether they are folded or not. */
export function Figures({ calls }: { calls: readonly Call[] }) {
  const [all, setAll] = useState(false);
  const found = calls.flatMap((call) => filesIn(call).map((file, nth) => ({ call, file, nth })));
  const shown = all ? found : found.slice(0, MOST);
  return (
    <>
      {shown.map(({ call, file, nth }) => (
        <Suspense key={`${call.id}-${nth}`} fallback={<div className={`fig ${shapeOf(file)}`} />}>
          <Figure call={call} file={file} nth={nth} shape={shapeOf(file)} />
        </Suspense>
      ))}
      {shown.length < found.length && (
        <button type="button" className="link-btn" onClick={() => setAll(true)}>
          Show {plural(found.length - shown.length, "more file", "more files")}
        </button>
      )}
    </>
  );
}

export function hasFigures(calls: readonly Call[]): boolean {
  return calls.some((call) => filesIn(call).length > 0);
}

/** The first picture of a call, small enough for its row. */
export function CallThumb({ call }: { call: Call }) {
  const files = filesIn(call);
  const nth = files.findIndex((file) => file.kind === "image" && isShowable(file));
  const file = files[nth];
  if (!file) return null;
  return (
    <span className="thumb" aria-hidden="true">
      <Suspense>
        <Thumb call={call} file={file} nth={nth} />
      </Suspense>
    </span>
  );
}

/** Links to the web are among the numbered sources. */
function filesIn(call: Call): readonly OutputFile[] {
  if (!call.finished || lookOf(call) !== "done") return [];
  return filesOf(call.finished.output).filter(({ uri = "" }) => !safeUrl(uri));
}

/** Each has its height before anything is loaded. */
function shapeOf(file: OutputFile): "image" | "audio" | "file" {
  return isShowable(file) && file.kind !== "link" && file.kind !== "file" ? file.kind : "file";
}
