/** A call that the agent asks its owner for: what it would do, and a yes or a no with a reason. */

import { Check, ShieldQuestionMark, X } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { TextField } from "../ui/Field.tsx";
import { type Json, JsonTree } from "../ui/JsonTree.tsx";
import { type Approval, type Question, verdictOn } from "./model.ts";
import { decide } from "./requests.ts";

interface ApprovalViewProps {
  readonly approval: Approval;
  readonly question: Question;
  readonly isOpen: boolean;
  readonly channel: string;
  readonly onDone: () => Promise<void>;
}

export function ApprovalView({ approval, question, isOpen, channel, onDone }: ApprovalViewProps) {
  const text = useText();
  const verdict = question.decision === undefined ? undefined : verdictOn(approval.call_id, question.decision);
  return (
    <section
      className="chat-ask"
      data-open={isOpen || undefined}
      aria-label={text("chat.approve.title", { tool: approval.tool })}
    >
      <header>
        <ShieldQuestionMark aria-hidden size={16} />
        <h3>{text("chat.approve.title", { tool: approval.tool })}</h3>
        {verdict ? <Badge tone={verdict === "approved" ? "ok" : "bad"}>{text(`chat.approve.${verdict}`)}</Badge> : null}
      </header>
      {approval.reason ? <p className="chat-ask-why">{approval.reason}</p> : null}
      <Arguments value={approval.arguments} />
      {question.decision?.reason && verdict ? (
        <p className="chat-ask-why">{text("chat.approve.because", { reason: question.decision.reason })}</p>
      ) : null}
      {isOpen ? <Buttons {...{ approval, question, channel, onDone }} /> : null}
      {!isOpen && verdict === undefined ? <p className="chat-ask-why">{text("chat.approve.over")}</p> : null}
    </section>
  );
}

/** The arguments of a call, those that are plain by name. */
function Arguments({ value }: { readonly value: unknown }) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return <JsonTree value={value as Json} />;
  return (
    <dl className="chat-arguments">
      {Object.entries(value).map(([name, one]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof one === "string" ? one : <JsonTree value={one as Json} />}</dd>
        </div>
      ))}
    </dl>
  );
}

type ButtonsProps = Omit<ApprovalViewProps, "isOpen">;

function Buttons({ approval, question, channel, onDone }: ButtonsProps) {
  const text = useText();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const say = async (verdict: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await decide(channel, question, { [verdict]: [approval.call_id], reason: reason.trim() || null });
      await onDone();
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <>
      <TextField
        label={text("chat.approve.reason")}
        value={reason}
        problem={problem}
        onChange={(event) => setReason(event.target.value)}
      />
      <div className="chat-ask-buttons">
        <Button tone="danger" icon={X} disabled={busy} onClick={() => void say("deny")}>
          {text("chat.approve.deny")}
        </Button>
        <Button tone="primary" icon={Check} disabled={busy} onClick={() => void say("approve")}>
          {text("chat.approve.approve")}
        </Button>
      </div>
    </>
  );
}
