import { useState } from "react";

import { servers, type FilledServerPrompt, type Server, type ServerPrompt } from "../../api";
import { ResultView } from "../../conversation/ResultView";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Problem, Skeleton } from "../../parts";
import { useLoaded } from "../useLoaded";

/** Each can be tried with arguments; nothing goes to a model. */
export function PromptsOf({ server }: { server: Server }) {
  const [open, setOpen] = useState("");
  const { value: prompts, error } = useLoaded(
    server.id,
    async () => (await servers.prompts(server.id)).prompts,
  );
  return (
    <div className="offered">
      <Problem what="Couldn’t load its prompts." error={error} />
      {!prompts && !error && <Skeleton label="Loading prompts…" rows={3} row={36} />}
      {prompts?.length === 0 && <p className="dim">It lists no prompts.</p>}
      <ul>
        {prompts?.map((prompt) => (
          <li key={prompt.name}>
            <button
              type="button"
              className="offered-row"
              aria-expanded={open === prompt.name}
              onClick={() => setOpen(open === prompt.name ? "" : prompt.name)}
            >
              <Icon name="write" />
              <bdi className="cut">{prompt.title || prompt.name}</bdi>
              <span className="dim cut grow">{prompt.description}</span>
            </button>
            {open === prompt.name && <Trial server={server} prompt={prompt} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Trial({ server, prompt }: { server: Server; prompt: ServerPrompt }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [filled, setFilled] = useState<FilledServerPrompt | null>(null);
  const { run, busy, error } = useVerb();
  const fill = () =>
    void run(async () =>
      setFilled(await servers.fillPrompt(server.id, { name: prompt.name, arguments: values })),
    );
  return (
    <div className="definition">
      {prompt.arguments.map((argument) => (
        <label key={argument.name} className="fill-field">
          <span>
            {argument.title || argument.name} {!argument.required && <span className="dim">optional</span>}
          </span>
          <input
            className="input"
            dir="auto"
            value={values[argument.name] ?? ""}
            onChange={(event) => setValues({ ...values, [argument.name]: event.target.value })}
          />
        </label>
      ))}
      <Button small disabled={busy} onClick={fill}>
        Try it
      </Button>
      <Problem what="Couldn’t fill it in." error={error} />
      {filled && <ResultView text={filled.text} />}
      {filled?.notes.map((note) => (
        <p key={note} className="warn">
          {note}
        </p>
      ))}
    </div>
  );
}
