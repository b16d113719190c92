import { useCallback, useEffect, useMemo, useState } from "react";

import { conversations, sendMessage, turns, type ConversationInfo } from "../api";
import { Resource, useResource } from "../app/resource";
import { navigate, paths, useRoute } from "../app/router";
import { Composer } from "../composer/Composer";
import { Controls, type Choice } from "../composer/Controls";
import { useDraft, writeDraft } from "../composer/draft";
import { FirstRun } from "../first/FirstRun";
import { refreshSoon } from "../sidebar/listing";
import { noteLink } from "../sidebar/LinkState";
import { pathOf, phaseOf } from "../state";
import { Announcer } from "./Announcer";
import { OpenConversation, useConversation, useLink } from "./context";
import { ConversationTop } from "./ConversationTop";
import { LinkBanner } from "./LinkBanner";
import { Missing } from "./Missing";
import { Pills } from "./Pills";
import { ConversationStore } from "./store";
import { Strips } from "./Strips";
import { Thread } from "./Thread";
import { namingFrom, toolsOf } from "./toolbox";
import { useKeys } from "./useKeys";
import { useQueued } from "./useQueued";
import { useStick } from "./useStick";
import { useVerb } from "./useVerb";

/** A conversation, or the empty one that is not there yet. */
export function ConversationPage({ id }: { id: string }) {
  return id ? <OpenPage key={id} id={id} /> : <NewPage />;
}

function OpenPage({ id }: { id: string }) {
  const store = useMemo(() => new ConversationStore(id), [id]);
  const info = useMemo(() => new Resource(async () => (await conversations.get(id)).conversation), [id]);
  const { value: conversation } = useResource(info);
  const { value: tools } = useResource(toolsOf(id));
  const naming = useMemo(() => namingFrom(tools?.available_tools ?? []), [tools]);
  const open = useMemo(() => ({ store, naming }), [store, naming]);
  useEffect(() => store.open(), [store]);
  useEffect(
    () =>
      store.hear((events) => {
        refreshSoon();
        if (events.some((event) => event.type === "turn_started" || event.type === "turn_finished"))
          void info.refresh();
      }),
    [store, info],
  );
  return (
    <OpenConversation value={open}>
      <OpenThread store={store} conversation={conversation} />
    </OpenConversation>
  );
}

function OpenThread({
  store,
  conversation,
}: {
  store: ConversationStore;
  conversation: ConversationInfo | null;
}) {
  const state = useConversation(store);
  const link = useLink(store);
  const route = useRoute();
  const path = useMemo(() => pathOf(state), [state]);
  const { scroller, content, atEnd, toEnd } = useStick();
  const last = path.at(-1);
  const running = last !== undefined && phaseOf(last).kind !== "finished";
  const [text, setText] = useDraft(store.id);
  const [choice, setChoice] = useChoice(conversation);
  const sending = useVerb();
  useEffect(() => noteLink(link), [link]);

  const stop = useCallback(() => {
    if (!last || last.finished) return;
    store.put({ type: "stop_sent", turn_id: last.id, call_id: "" });
    turns.stop(last.id).catch(() => store.put({ type: "stop_unsent", turn_id: last.id, call_id: "" }));
  }, [store, last]);
  const parent = last?.id; // until its turns are here, the server knows which is the newest
  const deliver = useCallback(
    (content: string) =>
      sending.run(() =>
        sendMessage(store.id, { content, client_message_id: crypto.randomUUID(), parent_turn_id: parent }),
      ),
    [sending, store.id, parent],
  );
  const queue = useQueued(store.id, last, deliver, setText);
  useKeys({ store, path, stop });

  const send = async () => {
    if (running) queue.put(text);
    setText("");
    toEnd();
    if (!running && !(await deliver(text))) setText(text);
  };
  const empty = path.length === 0 && conversation?.state === "empty";
  if (path.length === 0 && link.state === "refused" && link.status === 404) return <Missing />;
  return (
    <main className="main">
      <ConversationTop conversation={conversation} state={state} path={path} inspected={route.inspect} />
      <Strips choice={choice} last={last} />
      <div className="scroll" tabIndex={0} aria-label="Messages" ref={scroller}>
        {empty && <FirstRun onFill={setText} />}
        <div ref={content}>
          <div className="thread" role="log" aria-label="Conversation" hidden={empty}>
            <Thread
              conversation={state}
              path={path}
              inspect={route.inspect}
              round={route.round}
              scroller={scroller}
            />
          </div>
        </div>
      </div>
      <div className="dock">
        <div className="dock-in">
          <Pills scroller={scroller} last={last} atEnd={atEnd || path.length === 0} toEnd={toEnd} />
          <LinkBanner link={link} wasLost={store.wasLost} onTry={() => store.tryNow()} />
          <Composer
            text={text}
            onText={setText}
            onSend={() => void send()}
            onStop={stop}
            running={running}
            busy={sending.busy}
            placeholder={running ? "Next message, sent after this turn" : "Message, or // to search the web"}
            controls={
              <Controls
                conversation={conversation}
                choice={choice}
                onChoice={setChoice}
                ensure={() => Promise.resolve(store.id)}
              />
            }
            queued={queue.text}
            onUnqueue={() => setText(queue.take())}
            error={sending.error}
          />
        </div>
      </div>
      <Announcer />
    </main>
  );
}

function NewPage() {
  const [text, setText] = useDraft("new");
  const [choice, setChoice] = useState<Choice>({ persona: "", provider: "", model: "" });
  const sending = useVerb();
  const create = async () => {
    const chosen = Object.entries(choice).filter(([, one]) => one);
    return (await conversations.create(Object.fromEntries(chosen))).conversation.id;
  };
  const move = (id: string, draft: string) => {
    writeDraft("new", "");
    writeDraft(id, draft);
    navigate(paths.conversation(id));
  };
  const ensure = async () => {
    const id = await create();
    move(id, text);
    return id;
  };
  const send = () =>
    sending.run(async () => {
      const id = await create();
      await sendMessage(id, { content: text, client_message_id: crypto.randomUUID() });
      refreshSoon();
      move(id, "");
    });
  return (
    <main className="main">
      <ConversationTop conversation={null} state={null} path={[]} inspected="" />
      <Strips choice={choice} last={undefined} />
      <div className="scroll" tabIndex={0} aria-label="Start">
        <FirstRun onFill={setText} />
      </div>
      <div className="dock">
        <div className="dock-in">
          <Composer
            text={text}
            onText={setText}
            onSend={() => void send()}
            onStop={() => undefined}
            running={false}
            busy={sending.busy}
            placeholder="Message, or // to search the web"
            controls={<Controls conversation={null} choice={choice} onChoice={setChoice} ensure={ensure} />}
            queued=""
            onUnqueue={() => undefined}
            error={sending.error}
          />
        </div>
      </div>
    </main>
  );
}

/** The conversation's own choice, until the person makes another. */
function useChoice(conversation: ConversationInfo | null): [Choice, (choice: Choice) => void] {
  const [made, setMade] = useState<Choice | null>(null);
  const kept = {
    persona: conversation?.persona ?? "",
    provider: conversation?.provider ?? "",
    model: conversation?.model ?? "",
  };
  return [made ?? kept, setMade];
}
