import { useEffect, useRef, useState, type RefObject } from "react";

import { saveBlob } from "../api";
import { useLoaded } from "../pages/useLoaded";
import { Icon, IconButton, LinkButton, bytes } from "../parts";
import type { Call, OutputFile } from "../state";
import { useOpen } from "./context";
import { heldIn, type Held } from "./media";
import { nameCall } from "./toolbox";

interface Props {
  call: Call;
  file: OutputFile;
  /** Its place among the files of the result. */
  nth: number;
}

/** A picture, a sound or a file of a tool, with where it came from. */
export function Figure({ call, file, nth, shape }: Props & { shape: "image" | "audio" | "file" }) {
  const { naming } = useOpen();
  const figure = useRef<HTMLElement>(null);
  const [tall, setTall] = useState(false);
  const { value, error, again } = useHeld({ call, file, nth }, useNear(figure) && shape !== "file");
  const { title, server } = nameCall(naming, call);
  const name = file.name || NAMES[file.kind];
  return (
    <figure className={["fig", shape, tall && "tall"].filter(Boolean).join(" ")} ref={figure}>
      {shape !== "file" && (
        <div className="fig-body">
          {error ? (
            <p className="dim">
              Couldn’t load it. <LinkButton onClick={again}>Try again</LinkButton>
            </p>
          ) : (
            value?.url && <Shown shape={shape} url={value.url} alt={altOf(value, title)} />
          )}
        </div>
      )}
      <figcaption>
        <Icon name={file.kind === "image" ? "image" : "doc"} />
        <span className="cut">
          <b dir="auto" title={file.uri}>
            {name}
          </b>{" "}
          from {title}
          {server && ` on ${server}`}
          {file.size ? `, ${bytes(file.size)}` : ""}
        </span>
        <span className="grow" />
        {shape === "image" && (
          <IconButton
            icon="expand"
            label={tall ? "Show smaller" : "Show larger"}
            aria-pressed={tall}
            onClick={() => setTall(!tall)}
          />
        )}
        {file.kind !== "link" && (
          <IconButton icon="save" label={`Save ${name}`} onClick={() => save(call, file, nth)} />
        )}
      </figcaption>
    </figure>
  );
}

const NAMES = { image: "Image", audio: "Audio", file: "File", link: "Link" };

function Shown({ shape, url, alt }: { shape: "image" | "audio"; url: string; alt: string }) {
  return shape === "image" ? (
    <img src={url} alt={alt} decoding="async" />
  ) : (
    <audio src={url} controls preload="metadata" />
  );
}

const LONGEST_ALT = 200;

/** A short text beside the picture is the tool's own description of it. */
function altOf({ text }: Held, title: string): string {
  return text && text.length <= LONGEST_ALT ? text : `Image from ${title}, no description`;
}

export function Thumb({ call, file, nth }: Props) {
  const box = useRef<HTMLSpanElement>(null);
  const { value } = useHeld({ call, file, nth }, useNear(box));
  return <span ref={box}>{value?.url && <img src={value.url} alt="" decoding="async" />}</span>;
}

function useHeld({ call, file, nth }: Props, wanted: boolean) {
  const output = call.finished?.output;
  const key = wanted && output?.result_id ? `${output.result_id}/${nth}` : "";
  return useLoaded<Held | null>(key, () => (output ? heldIn(output, file, nth) : Promise.resolve(null)));
}

const NEAR = "600px";

/** True once it has come near what is seen. */
function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || !element.current) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true),
      { rootMargin: NEAR },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, near]);
  return near;
}

/** As bytes without a type: nothing opens it as a page of ours. */
async function save(call: Call, file: OutputFile, nth: number): Promise<void> {
  const held = call.finished && (await heldIn(call.finished.output, file, nth));
  if (held)
    saveBlob(new Blob([held.bytes], { type: "application/octet-stream" }), file.name || unnamed(file));
}

function unnamed({ kind, mime = "" }: OutputFile): string {
  const ending = /\/(?:x-)?([a-z\d]{2,4})\b/.exec(mime)?.[1] ?? "bin";
  return `${kind}.${ending === "jpeg" ? "jpg" : ending}`;
}
