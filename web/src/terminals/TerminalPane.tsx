/** A terminal with what is around it: how it does, what to do when it has ended, and how to leave it by the keyboard. */

import { Maximize2, RotateCcw } from "lucide-react";
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import type { Card } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { Waiting } from "../ui/Empty.tsx";
import { showToast } from "../ui/toasts.ts";
import { startTerminal } from "./actions.ts";
import type { TerminalScreen } from "./screen.ts";
import { noteTerminal, showLarge, useTerminals } from "./store.ts";
import type { Line, TerminalState } from "./stream.ts";
import "./terminal-pane.css";
import { useInSight } from "./useInSight.ts";

const TerminalView = lazy(async () => ({ default: (await import("./TerminalView.tsx")).TerminalView }));

const HIDDEN_MS = 60_000;

interface TerminalPaneProps {
  readonly card: Card;
  /** On the board a terminal takes the pointer only when it has the focus, so that the board can be moved over it. */
  readonly onBoard?: boolean;
  readonly onLeave: (place: HTMLElement) => void;
}

export function TerminalPane({ card, onBoard = false, onLeave }: TerminalPaneProps) {
  const text = useText();
  const pane = useRef<HTMLDivElement>(null);
  const screen = useRef<TerminalScreen>(undefined);
  const inSight = useInSight(pane, HIDDEN_MS);
  const forReaders = useTerminals((state) => state.forReaders);
  const [line, setLine] = useState<Line>("connecting");
  const [hasFocus, setFocus] = useState(false);
  const isHeld = onBoard && !hasFocus;
  const takesKeys = (state: TerminalState): boolean =>
    card.kind === "agent" ? state.status === "working" : state.status !== "exited";
  const ears = {
    onState: (state: TerminalState) => noteTerminal(card.id, { status: state.status, exitCode: state.exit_code }),
    onLine: setLine,
    onProblem: (message: string) => showToast({ tone: "bad", text: message }),
    onLeave: () => (pane.current ? onLeave(pane.current) : undefined),
  };
  return (
    // biome-ignore lint/a11y: the terminal inside takes the focus; a press anywhere around it gives it that
    <div
      ref={pane}
      className={isHeld ? "terminal-pane terminal-pane-held" : "terminal-pane nodrag nowheel nopan nokey"}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      onClick={() => (isHeld ? screen.current?.focus() : undefined)}
    >
      {inSight ? (
        <Suspense fallback={<Waiting label={text("terminals.loading")} />}>
          <TerminalView
            card={card.id}
            label={text("terminals.label", { title: card.title })}
            forReaders={forReaders}
            takesKeys={takesKeys}
            ears={ears}
            onScreen={(shown) => {
              screen.current = shown;
              if (!onBoard) shown?.focus();
            }}
          />
        </Suspense>
      ) : null}
      <TerminalEnd card={card} onStarted={() => screen.current?.focus()} />
      <TerminalFoot card={card} line={line} hasFocus={hasFocus} onBoard={onBoard} />
    </div>
  );
}

/** Says how what ran here has ended, and offers to start it again. */
function TerminalEnd({ card, onStarted }: { readonly card: Card; readonly onStarted: () => void }) {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const news = useTerminals((state) => state.cards[card.id]);
  const isAgent = card.kind === "agent";
  if (news === undefined || news.status === "working" || (!isAgent && news.status === "idle")) return null;
  const hasRun = news.status === "exited";
  const what = isAgent ? "terminals.program_ended" : "terminals.ended";
  const start = async (): Promise<void> => {
    setBusy(true);
    await startTerminal(card.id);
    setBusy(false);
    onStarted();
  };
  return (
    <div className="terminal-end nodrag" role="status">
      <span>
        {hasRun
          ? news.exitCode === null
            ? text(what)
            : text(`${what}_code`, { code: news.exitCode })
          : text("terminals.not_started")}
      </span>
      <Button small icon={RotateCcw} busy={busy} onClick={() => void start()}>
        {text(hasRun ? "terminals.start_again" : "terminals.start")}
      </Button>
    </div>
  );
}

interface TerminalFootProps {
  readonly card: Card;
  readonly line: Line;
  readonly hasFocus: boolean;
  readonly onBoard: boolean;
}

function TerminalFoot({ card, line, hasFocus, onBoard }: TerminalFootProps): ReactNode {
  const text = useText();
  const status = useTerminals((state) => state.cards[card.id]?.status ?? "idle");
  const shown = line === "lost" ? "lost" : status;
  return (
    <footer className="terminal-foot nodrag">
      <span className={`terminal-status terminal-status-${shown}`}>
        {text(`terminals.status.${shown}` as "terminals.status.idle")}
      </span>
      <span className="terminal-hint">{hasFocus ? text("terminals.leave") : ""}</span>
      {onBoard ? (
        <IconButton small icon={Maximize2} label={text("terminals.enlarge")} onClick={() => showLarge(card.id)} />
      ) : null}
    </footer>
  );
}
