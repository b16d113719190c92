import { useState } from "react";

import { servers, type Server, type ServerResource, type ServerTemplate } from "../../api";
import { navigate, paths } from "../../app/router";
import { readAttached, together, writeAttached } from "../../composer/attached";
import { ResultView } from "../../conversation/ResultView";
import { Button, Icon, Problem, Skeleton, grouped } from "../../parts";
import { useLoaded } from "../useLoaded";

interface Found {
  resources: readonly ServerResource[];
  templates: readonly ServerTemplate[];
  total: number;
}

/** Search, preview, attach to a new chat. */
export function ResourcesOf({ server }: { server: Server }) {
  const [words, setWords] = useState("");
  const [open, setOpen] = useState("");
  const [found, setFound] = useState<Found | null>(null); // of the words before, while others are looked for
  const { error } = useLoaded(`${server.id} ${words}`, async () => {
    const [listed, made] = await Promise.all([
      servers.resources(server.id, words),
      servers.templates(server.id),
    ]);
    setFound({ ...listed, templates: words ? [] : made.templates });
  });
  return (
    <div className="offered">
      <input
        className="input"
        aria-label="Search resources"
        placeholder="Search resources"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <Problem what="Couldn’t load its resources." error={error} />
      {!found && !error && <Skeleton label="Loading resources…" rows={3} row={36} />}
      <ul>
        {found?.templates.map((template) => (
          <li key={template.uri_template} className="offered-row">
            <Icon name="doc" />
            <bdi className="cut">{template.title || template.name}</bdi>
            <code className="dim cut grow">{template.uri_template}</code>
            <span className="dim">template</span>
          </li>
        ))}
        {found?.resources.map((resource) => (
          <li key={resource.uri}>
            <button
              type="button"
              className="offered-row"
              aria-expanded={open === resource.uri}
              onClick={() => setOpen(open === resource.uri ? "" : resource.uri)}
            >
              <Icon name="doc" />
              <bdi className="cut">{resource.title || resource.name || resource.uri}</bdi>
              <code className="dim cut grow">{resource.uri}</code>
              <span className="dim">{resource.mime}</span>
            </button>
            {open === resource.uri && <Preview server={server} resource={resource} />}
          </li>
        ))}
      </ul>
      {found && found.total > found.resources.length && (
        <p className="dim">{grouped(found.total - found.resources.length)} more. Search to find them.</p>
      )}
      {found?.total === 0 && found.templates.length === 0 && <p className="dim">Nothing matches.</p>}
    </div>
  );
}

function Preview({ server, resource }: { server: Server; resource: ServerResource }) {
  const { uri } = resource;
  const { value: contents, error } = useLoaded(
    `${server.id} ${uri}`,
    async () => (await servers.readResource(server.id, uri)).contents,
  );
  const attach = () => {
    writeAttached("new", together(readAttached("new"), [{ server: server.slug, uri }]));
    navigate(paths.home);
  };
  return (
    <div className="definition">
      {resource.description && <p className="dim">{resource.description}</p>}
      <Problem what="Couldn’t read it." error={error} />
      {!contents && !error && <Skeleton label="Reading…" rows={2} row={20} />}
      {contents?.map((one) =>
        one.text === null ? (
          <p key={one.uri} className="dim">
            {grouped(one.size)} bytes of {one.mime || "unknown type"}, not text.
          </p>
        ) : (
          <ResultView key={one.uri} text={one.text} />
        ),
      )}
      <Button small icon="attach" onClick={attach}>
        Attach to a new chat
      </Button>
    </div>
  );
}
