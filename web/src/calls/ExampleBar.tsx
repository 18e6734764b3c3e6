/** Where a card brings an example call along, a button that makes it: a real one, through the arrow of an agent. */

import { Play, X } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../api/client.ts";
import type { Board } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import type { Json } from "../ui/JsonTree.tsx";
import { isObject } from "../ui/json-schema.ts";
import { showToast } from "../ui/toasts.ts";
import { makeCall } from "./actions.ts";
import "./example-bar.css";
import { useCalls } from "./store.ts";

export interface Example {
  readonly arrow: string;
  readonly tool: string;
  readonly arguments: { readonly [key: string]: Json };
}

const HIDDEN_AS = "toolwire.example.hidden";

/** The example of a board: the first card that brings one and that an agent's arrow reaches. */
export function exampleIn(board: Board): Example | undefined {
  for (const arrow of Object.values(board.arrows)) {
    const [from, to] = [board.cards[arrow.source], board.cards[arrow.target]];
    if (from?.kind !== "agent" || to === undefined) continue;
    const { example } = to.content;
    if (!isObject(example) || typeof example.tool !== "string") continue;
    return { arrow: arrow.id, tool: example.tool, arguments: isObject(example.arguments) ? example.arguments : {} };
  }
  return undefined;
}

export function ExampleBar() {
  const text = useText();
  const board = useBoard((state) => state.board);
  const workspace = useBoard((state) => state.workspace?.id ?? "");
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN_AS));
  const [isBusy, setIsBusy] = useState(false);
  const example = exampleIn(board);
  const wasCalled = useCalls((state) => example !== undefined && state.places[example.arrow] !== undefined);
  if (example === undefined || hidden === workspace) return null;
  const call = async (): Promise<void> => {
    setIsBusy(true);
    try {
      await makeCall(example.arrow, example.tool, example.arguments, undefined);
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    } finally {
      setIsBusy(false);
    }
  };
  const hide = (): void => {
    localStorage.setItem(HIDDEN_AS, workspace);
    setHidden(workspace);
  };
  return (
    <aside className="example-bar" aria-label={text("calls.example.label")}>
      <p aria-live="polite">{text(wasCalled ? "calls.example.more" : "calls.example.text")}</p>
      <Button tone="primary" small icon={Play} busy={isBusy} onClick={() => void call()}>
        {text("calls.example.go")}
      </Button>
      <IconButton small icon={X} label={text("calls.example.hide")} onClick={hide} />
    </aside>
  );
}
