/**
 * What cards ask their user, above every page: who asks and for whom, what it says, and how long it still waits. No
 * answer is a no, and the card's words are shown as plain text.
 */

import { ShieldQuestionMark } from "lucide-react";
import { AlertDialog } from "radix-ui";
import { useEffect, useState } from "react";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import "./confirmations.css";
import { answerQuestion, type Question, useQuestions } from "./questions.ts";

const TICK_MS = 250;
/** A question that has just come up is not answered by a click that was meant for something else. */
const SETTLED_MS = 600;

export function Confirmations() {
  const waiting = useQuestions((state) => state.waiting);
  const [first] = waiting;
  return first ? <Asked key={first.id} question={first} count={waiting.length} /> : null;
}

function Asked({ question, count }: { readonly question: Question; readonly count: number }) {
  const text = useText();
  const left = useLeft(question.until);
  const isSettled = useSettled();
  const [busy, setBusy] = useState(false);
  const answer = async (confirmed: boolean): Promise<void> => {
    setBusy(true);
    await answerQuestion(question, confirmed);
    setBusy(false);
  };
  const { agent, tool, card, title, message, confirm_label, cancel_label, tone } = question;
  return (
    <AlertDialog.Root open>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="asked-scrim" />
        <AlertDialog.Content className="asked" onEscapeKeyDown={(event) => event.preventDefault()}>
          <p className="asked-who">
            <ShieldQuestionMark aria-hidden size={18} />
            <strong>{text("cards.ask.of", { card: card.name })}</strong>
            {count > 1 ? <span className="asked-more">{text("cards.ask.more", { n: count })}</span> : null}
          </p>
          <p className="asked-for">
            {agent && tool ? text("cards.ask.for", { agent, tool }) : text("cards.ask.alone")}
            {" · "}
            {question.workspace.name}
          </p>
          <AlertDialog.Title className="asked-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="asked-message">{message}</AlertDialog.Description>
          <footer className="asked-foot">
            <span className="asked-left">{text("cards.ask.left", { n: left })}</span>
            <AlertDialog.Cancel asChild>
              <Button busy={busy} onClick={() => void answer(false)}>
                {cancel_label || text("cards.ask.decline")}
              </Button>
            </AlertDialog.Cancel>
            <Button
              tone={tone === "danger" ? "danger" : "primary"}
              busy={busy}
              disabled={!isSettled}
              onClick={() => void answer(true)}
            >
              {confirm_label || text("cards.ask.confirm")}
            </Button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** Whole seconds until a moment of the page's clock. */
function useLeft(until: number): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(performance.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((until - now) / 1_000));
}

function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(true), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return isSettled;
}
