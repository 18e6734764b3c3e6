/** Talking to an agent: what was said, what comes as it is written, what the agent asks, and a field for the next message. */

import { ArrowUp, ChevronDown, MessageCircle, Plus, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { messageOf } from "../api/client.ts";
import type { Card } from "../board/model.ts";
import { useLanguage, useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Empty, Waiting } from "../ui/Empty.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/Menu.tsx";
import { showToast } from "../ui/toasts.ts";
import "./chat.css";
import { openQuestion, type Turn, taskOf } from "./model.ts";
import { stop } from "./requests.ts";
import { TurnView } from "./TurnView.tsx";
import { type ConversationView, useConversation } from "./useConversation.ts";

const NEAR_END_PX = 80;

export function ChatPanel({ card }: { readonly card: Card }) {
  const text = useText();
  const agent = card.agent_id ?? "";
  const view = useConversation(agent, card.id);
  if (!view.isReady && view.problem === undefined) return <Waiting label={text("ui.loading")} />;
  return (
    <div className="chat">
      <ConversationMenu view={view} />
      <TurnList view={view} agent={agent} />
      {view.problem ? (
        <p className="field-problem" role="alert">
          {view.problem}
        </p>
      ) : null}
      <Composer key={view.channel} view={view} agent={agent} title={card.title} />
    </div>
  );
}

function ConversationMenu({ view }: { readonly view: ConversationView }) {
  const text = useText();
  const language = useLanguage((state) => state.language);
  if (view.others.length === 0) return null;
  const nameOf = (at: string): string =>
    new Date(at).toLocaleString(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
  const shown = view.others.find((one) => one.id === view.channel);
  return (
    <div className="chat-which">
      <Menu
        align="start"
        trigger={
          <Button small tone="quiet" icon={ChevronDown}>
            {shown ? text("chat.conversation", { at: nameOf(shown.at) }) : text("chat.new")}
          </Button>
        }
      >
        <MenuItem icon={Plus} onSelect={() => view.open(undefined)}>
          {text("chat.new")}
        </MenuItem>
        <MenuLine />
        {view.others.slice(0, 20).map((one) => (
          <MenuItem key={one.id} checked={one.id === view.channel} onSelect={() => view.open(one.id)}>
            {nameOf(one.at)}
          </MenuItem>
        ))}
      </Menu>
    </div>
  );
}

interface TurnListProps {
  readonly view: ConversationView;
  readonly agent: string;
}

function TurnList({ view, agent }: TurnListProps) {
  const text = useText();
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is new is followed, as long as its reader is at the end
  useLayoutEffect(() => {
    if (!list.current || !follows.current) return;
    const asked = list.current.querySelector("[data-open]");
    if (asked) asked.scrollIntoView({ block: "nearest" });
    else list.current.scrollTop = list.current.scrollHeight;
  }, [view.turns]);
  const first = view.turns.findIndex((turn) => turn.end === undefined);
  const onScroll = (): void => {
    const { scrollHeight, scrollTop, clientHeight } = list.current ?? {
      scrollHeight: 0,
      scrollTop: 0,
      clientHeight: 0,
    };
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div ref={list} className="chat-turns" role="log" aria-label={text("chat.label")} tabIndex={0} onScroll={onScroll}>
      {view.turns.length === 0 ? (
        <Empty icon={MessageCircle} title={text("chat.empty.title")}>
          {text("chat.empty.text")}
        </Empty>
      ) : null}
      {view.turns.map((turn, at) => (
        <TurnView
          key={turn.id}
          turn={turn}
          agent={agent}
          channel={view.channel ?? ""}
          isQueued={at > first && turn.pieces.length === 0}
          onDone={view.refresh}
        />
      ))}
    </div>
  );
}

interface ComposerProps {
  readonly view: ConversationView;
  readonly agent: string;
  readonly title: string;
}

function Composer({ view, agent, title }: ComposerProps) {
  const text = useText();
  const [draft, setDraft] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Where a finger would bring up a keyboard over what is to be read, it waits for the finger.
    if (!window.matchMedia("(pointer: coarse)").matches) field.current?.focus({ preventScroll: true });
  }, []);
  const running = view.turns.find((turn) => turn.end === undefined);
  const send = async (): Promise<void> => {
    const message = draft.trim();
    if (!message || busy) return;
    setBusy(true);
    if (await view.send(message)) setDraft("");
    setBusy(false);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <div className="chat-composer">
      <textarea
        ref={field}
        className="control"
        aria-label={text("chat.message_to", { name: title })}
        placeholder={text("chat.message_to", { name: title })}
        rows={2}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKey}
      />
      {running && !openQuestion(running) && draft === "" ? (
        <StopButton turn={running} agent={agent} onDone={view.refresh} />
      ) : (
        <IconButton
          icon={ArrowUp}
          tone="primary"
          label={text("chat.send")}
          disabled={draft.trim() === "" || busy}
          onClick={() => void send()}
        />
      )}
    </div>
  );
}

interface StopButtonProps {
  readonly turn: Turn;
  readonly agent: string;
  readonly onDone: () => Promise<void>;
}

function StopButton({ turn, agent, onDone }: StopButtonProps) {
  const text = useText();
  const end = async (): Promise<void> => {
    try {
      await stop(agent, taskOf(turn.id));
      await onDone();
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
  };
  return <IconButton icon={Square} label={text("chat.stop")} onClick={() => void end()} />;
}
