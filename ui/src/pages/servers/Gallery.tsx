import { useEffect, useId, useRef, useState } from "react";

import { servers, type GalleryEntry } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, IconButton, LinkButton, Problem, Skeleton, Tag } from "../../parts";
import { useLoaded } from "../useLoaded";
import { Argv } from "./DraftCard";
import { ValueFields, given, type Values } from "./ValueFields";
import "./drafts.css";

interface Props {
  /** What is searched for; the page's empty state sets it too. */
  query: string;
  onQuery: (query: string) => void;
  /** Changes when a server was added or removed. */
  version: string;
  onOther: () => void;
}

const FEW = 8;
const NEEDS = { key: "Key", sign_in: "Sign-in", address: "Address", folder: "Folder" } as const;

/** Known servers that come with Windlass. Adding one is a form, then a draft like any other. */
export function Gallery({ query, onQuery, version, onOther }: Props) {
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState("");
  const { value, error, again } = useLoaded(`gallery ${version}`, () => servers.gallery(""));
  const found = useLoaded(query.trim() ? `gallery ${version} ${query.trim()}` : "", () =>
    servers.gallery(query.trim()),
  );
  const id = useId();
  const shown = useKept(query.trim() ? found.value?.entries : value?.entries);
  const few = shown && !all && !query.trim() ? shown.slice(0, FEW) : shown;
  return (
    <section aria-labelledby={id}>
      <div className="gallery-head">
        <div className="section-head">
          <h2 id={id}>Add a server</h2>
          <span className="dim">
            one of these, or <LinkButton onClick={onOther}>any command or address</LinkButton>
          </span>
        </div>
        <span className="grow" />
        <input
          className="input"
          type="search"
          aria-label="Search known servers"
          placeholder="Search, e.g. database"
          value={query}
          maxLength={200}
          onChange={(event) => onQuery(event.target.value)}
        />
      </div>
      <Problem what="Couldn’t load the gallery." error={error || found.error} onAgain={again} />
      {!shown && !error && <Skeleton label="Loading the gallery…" rows={2} row={104} />}
      {shown?.length === 0 && (
        <p className="dim" role="status">
          No known server matches “{query.trim()}”. Any command or address can be added.
        </p>
      )}
      {few && few.length > 0 && (
        <ul className="gallery">
          {few.map((entry) => (
            <Entry
              key={entry.id}
              entry={entry}
              open={open === entry.id}
              onToggle={(wanted) => setOpen(wanted ? entry.id : "")}
            />
          ))}
        </ul>
      )}
      {shown && few && few.length < shown.length && (
        <p>
          <LinkButton onClick={() => setAll(true)}>Show all {shown.length}</LinkButton>
        </p>
      )}
    </section>
  );
}

/** The last one there was: nothing disappears while the next is loaded. */
function useKept<T>(value: T | undefined): T | undefined {
  const [kept, setKept] = useState(value);
  if (value !== undefined && value !== kept) setKept(value);
  return value ?? kept;
}

interface EntryProps {
  entry: GalleryEntry;
  open: boolean;
  onToggle: (open: boolean) => void;
}

function Entry({ entry, open, onToggle }: EntryProps) {
  const needs = entry.needs.map((need) => NEEDS[need]);
  const card = useRef<HTMLButtonElement>(null);
  return (
    <>
      <li>
        <button
          ref={card}
          type="button"
          className="known"
          aria-expanded={open}
          onClick={() => onToggle(!open)}
        >
          <span className="known-letter" aria-hidden="true">
            {entry.name.slice(0, 1)}
          </span>
          <span className="known-name">
            <span className="cut">{entry.name}</span>
            <small className="cut">{entry.publisher}</small>
          </span>
          {entry.added.length > 0 ? (
            <Tag tone="accent">Added</Tag>
          ) : (
            <Tag>{needs.length > 0 ? needs.join(", ") : "No key"}</Tag>
          )}
          <span className="known-text">{entry.description}</span>
        </button>
      </li>
      {open && (
        <li className="whole">
          <AddForm
            entry={entry}
            onClose={() => {
              onToggle(false);
              card.current?.focus();
            }}
          />
        </li>
      )}
    </>
  );
}

function AddForm({ entry, onClose }: { entry: GalleryEntry; onClose: () => void }) {
  const [values, setValues] = useState<Values>({});
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const root = useRef<HTMLFormElement>(null);
  useEffect(() => root.current?.querySelector<HTMLElement>("input, button[type=submit]")?.focus(), []);
  const add = async () => {
    setTried(true);
    const whole = given(entry.asks, values);
    if (!whole) return;
    const done = await run(() => servers.addKnown(entry.id, whole));
    if (!done) return;
    await serverList.refresh();
    onClose();
  };
  return (
    <section className="panel" aria-label={`Add ${entry.name}`}>
      <div className="panel-head">
        <h3>Add {entry.name}</h3>
        <span className="dim">
          {entry.version ? `version ${entry.version}` : "reached at an address"}, by {entry.publisher}
        </span>
        <span className="grow" />
        <IconButton icon="x" label="Close the form" onClick={onClose} />
      </div>
      <form
        ref={root}
        className="panel-body form"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <Argv argv={entry.transport === "stdio" ? entry.argv : [entry.url]} />
        {entry.note && <p className="dim">{entry.note}</p>}
        {entry.needs.includes("sign_in") && <p className="dim">You sign in after you start it.</p>}
        <ValueFields asks={entry.asks} values={values} onChange={setValues} tried={tried} />
        <Problem what="Couldn’t add it." error={error} />
        <div className="panel-foot">
          <Button type="submit" look="primary" disabled={busy}>
            Add as a draft
          </Button>
          <Button look="ghost" onClick={onClose}>
            Cancel
          </Button>
          <span className="dim">Nothing starts until you confirm it.</span>
        </div>
      </form>
    </section>
  );
}
