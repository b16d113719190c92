import { Suspense, lazy, useCallback, useEffect, useMemo, useState } from "react";

import { conversations, type AvailableTool, type ConversationInfo } from "../api";
import { Resource, useResource } from "../app/resource";
import { noteChatLink } from "../app/link";
import { serverList } from "../app/resources";
import { isAt, navigate, paths, useRoute } from "../app/router";
import { readAttached, useAttached, writeAttached } from "../composer/attached";
import { useMessageHint } from "../composer/searchHint";
import { Composer } from "../composer/Composer";
import { Controls, type Choice } from "../composer/Controls";
import { readDraft, takeAway, useDraft, writeDraft } from "../composer/draft";
import { wantTools } from "../composer/ToolsPicker";
import { FirstRun } from "../first/FirstRun";
import { AskToNotify } from "../notifications/AskToNotify";
import { refreshSoon } from "../sidebar/listing";
import { pathOf, phaseOf } from "../state";
import { Announcer } from "./Announcer";
import { OpenConversation, useConversation, useLink } from "./context";
import { ConversationTop } from "./ConversationTop";
import { LinkBanner } from "./LinkBanner";
import { Missing } from "./Missing";
import { outboxOf, useLetter } from "./outbox";
import { Pills } from "./Pills";
import { stop } from "./stop";
import { ConversationStore } from "./store";
import { Strips } from "./Strips";
import { namingFrom, toolsOf } from "./toolbox";
import { useChoice } from "./useChoice";
import { useDock } from "./useDock";
import { useHit } from "./useHit";
import { useKeys } from "./useKeys";
import { useQueued } from "./useQueued";
import { useStick } from "./useStick";
import { useVerb } from "./useVerb";

// What draws turns is most of the page's code; an empty chat does without it until somebody writes.
const loadThread = () => import("./Thread");
const Thread = lazy(loadThread);

/** A conversation, or the empty one that is not there yet. */
export function ConversationPage({ id }: { id: string }) {
  return id ? <OpenPage key={id} id={id} /> : <NewPage />;
}

function OpenPage({ id }: { id: string }) {
  const store = useMemo(() => new ConversationStore(id), [id]);
  const info = useMemo(() => new Resource(async () => (await conversations.get(id)).conversation), [id]);
  const { value: conversation } = useResource(info);
  const { value: tools, error: noTools } = useResource(toolsOf(id));
  const { value: known } = useResource(serverList);
  const naming = useMemo(() => namingFrom(tools?.available_tools ?? [], known ?? []), [tools, known]);
  const toolsKnown = tools !== null || noTools !== "";
  const open = useMemo(() => ({ store, naming, toolsKnown }), [store, naming, toolsKnown]);
  useEffect(() => store.open(), [store]);
  useEffect(
    () =>
      store.onDurable((events) => {
        for (const event of events)
          if (event.type === "turn_started") outboxOf(id).see(event.client_message_id ?? "");
        if (events.some((event) => event.type === "turn_started" || event.type === "turn_finished"))
          void info.refresh();
      }),
    [store, info, id],
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
  const { scroller, content, atEnd, toEnd, letGo } = useStick();
  const dock = useDock();
  const hit = useHit(store, state, path, letGo);
  const last = path.at(-1);
  const running = last !== undefined && phaseOf(last).kind !== "finished";
  const hint = useMessageHint();
  const [text, setText] = useDraft(store.id);
  const [attached, setAttached] = useAttached(store.id);
  const tools = useResource(toolsOf(store.id)).value?.available_tools ?? NO_TOOLS;
  const { choice, choose, kept, error: unkept } = useChoice(store.id, conversation);
  const outbox = outboxOf(store.id);
  const letter = useLetter(outbox);
  useEffect(() => {
    noteChatLink(link);
  }, [link]);
  useEffect(() => () => noteChatLink(null), []);

  const stopTurn = useCallback(() => {
    if (last && !last.finished) stop(store, last.id);
  }, [store, last]);
  // The server knows which turn is the newest, also while this page does not; only another branch is named.
  const parent = last?.id === state.newest ? undefined : last?.id;
  const begins = letter.stage === "taken";
  const queue = useQueued(store.id, begins ? undefined : last, ({ text, attached, id }) =>
    outbox.send(text, { parent, attached, id, first: kept() }),
  );
  const stopAsked = useKeys({ path, running, stop: stopTurn });

  const send = () => {
    setText("");
    setAttached([]);
    toEnd();
    if (running || begins) queue.put(text, attached);
    else void outbox.send(text, { parent, attached, first: kept() });
  };
  const empty = path.length === 0 && conversation?.state === "empty";
  if (path.length === 0 && link.state === "refused" && link.status === 404) return <Missing />;
  return (
    <main className="main">
      <ConversationTop conversation={conversation} state={state} path={path} inspected={route.inspect} />
      <Strips choice={choice} last={last} />
      <div className="scroll talk" tabIndex={0} aria-label="Messages" ref={scroller}>
        <div className="talk-body">
          {empty && <FirstRun conversationId={store.id} onFill={setText} />}
          <div ref={content}>
            <div className="thread" role="log" aria-label="Chat" hidden={empty}>
              <Suspense fallback={null}>
                <Thread
                  conversation={state}
                  path={path}
                  inspect={route.inspect}
                  round={route.round}
                  at={hit}
                  scroller={scroller}
                />
              </Suspense>
            </div>
          </div>
        </div>
        <div className="dock" ref={dock}>
          <div className="dock-in">
            <Pills
              scroller={scroller}
              last={last}
              atEnd={atEnd || path.length === 0}
              toEnd={toEnd}
              stopAsked={stopAsked}
            />
            <LinkBanner link={link} wasLost={store.wasLost} running={running} onTry={() => store.tryNow()} />
            {last && running && <AskToNotify startedAt={last.startedAt} />}
            {conversation?.client ? (
              <p className="dim" dir="auto">
                Calls of {conversation.client} over MCP. It alone makes calls here; decide on them above.
              </p>
            ) : (
              <Composer
                text={text}
                onText={setText}
                attached={attached}
                onAttached={setAttached}
                tools={tools}
                onSend={send}
                onStop={stopTurn}
                running={running}
                busy={letter.stage === "going"}
                placeholder={running ? "Queue a message" : hint}
                controls={<Controls conversationId={store.id} choice={choice} onChoose={choose} />}
                queue={queue}
                error={letter.error || unkept}
              />
            )}
          </div>
        </div>
      </div>
      <Announcer />
    </main>
  );
}

const NO_TOOLS: readonly AvailableTool[] = [];
const NO_QUEUE = { messages: [], take: () => undefined, release: () => undefined };

function NewPage() {
  const dock = useDock();
  const hint = useMessageHint();
  const [text, setText] = useDraft("new");
  const [attached, setAttached] = useAttached("new");
  const writes = text !== "";
  useEffect(() => {
    if (writes) void loadThread();
  }, [writes]);
  const [choice, setChoice] = useState<Choice>({ persona: "", provider: "", model: "" });
  const sending = useVerb();
  const create = async () => {
    const chosen = Object.entries(choice).filter(([, one]) => one);
    return (await conversations.create(Object.fromEntries(chosen))).conversation.id;
  };
  /** With what is in the box. A person who went elsewhere meanwhile is left there. */
  const move = (id: string) => {
    if (!isAt("new")) return;
    writeDraft(id, readDraft("new"));
    writeDraft("new", "");
    writeAttached(id, readAttached("new"));
    writeAttached("new", []);
    navigate(paths.conversation(id));
  };
  const chooseTools = () =>
    sending.run(async () => {
      const id = await create();
      wantTools(id);
      move(id);
    });
  const send = () =>
    sending.run(async () => {
      const id = await create();
      takeAway("new", text);
      setAttached([]);
      move(id);
      await outboxOf(id).send(text, { attached });
      refreshSoon();
    });
  return (
    <main className="main">
      <ConversationTop conversation={null} state={null} path={[]} inspected="" />
      <Strips choice={choice} last={undefined} />
      <div className="scroll talk" tabIndex={0} aria-label="Start">
        <div className="talk-body">
          <FirstRun onFill={setText} />
        </div>
        <div className="dock" ref={dock}>
          <div className="dock-in">
            <Composer
              text={text}
              onText={setText}
              attached={attached}
              onAttached={setAttached}
              tools={NO_TOOLS}
              onSend={() => void send()}
              onStop={() => undefined}
              running={false}
              busy={sending.busy}
              placeholder={hint}
              controls={
                <Controls
                  conversationId=""
                  choice={choice}
                  onChoose={(fields) => setChoice({ ...choice, ...fields })}
                  onBegin={() => void chooseTools()}
                />
              }
              queue={NO_QUEUE}
              error={sending.error}
            />
          </div>
        </div>
      </div>
    </main>
  );
}
