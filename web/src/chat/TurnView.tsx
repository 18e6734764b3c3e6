/** A message to the agent, and what came of it. */

import { Wrench } from "lucide-react";
import { useText } from "../i18n/text.ts";
import { ContentView } from "../ui/ContentView.tsx";
import { ApprovalView } from "./ApprovalView.tsx";
import { AskedFormView } from "./AskedFormView.tsx";
import { type End, openQuestion, type Piece, type Question, type Turn, taskOf } from "./model.ts";

interface TurnViewProps {
  readonly turn: Turn;
  readonly agent: string;
  readonly channel: string;
  /** An earlier turn comes first. */
  readonly isQueued: boolean;
  readonly onDone: () => Promise<void>;
}

export function TurnView({ turn, agent, channel, isQueued, onDone }: TurnViewProps) {
  const text = useText();
  const waiting = openQuestion(turn);
  const pieces = turn.pieces.map((piece, at) => ({ piece, key: `${at}:${piece.kind}` }));
  const isSilent = turn.end === undefined && waiting === undefined && turn.pieces.at(-1)?.kind !== "text";
  return (
    <article className="chat-turn">
      <p className="chat-said">{turn.said}</p>
      {pieces.map(({ piece, key }) => (
        <PieceView key={key} piece={piece}>
          {(question) => (
            <QuestionView
              question={question}
              isOpen={question === waiting}
              {...{ agent, channel, onDone }}
              task={taskOf(turn.id)}
            />
          )}
        </PieceView>
      ))}
      {turn.end ? <EndView end={turn.end} /> : null}
      {isSilent ? (
        <p className="chat-thinking" role="status">
          {isQueued ? null : <span aria-hidden className="chat-dots" />}
          {text(isQueued ? "chat.queued" : "chat.working")}
        </p>
      ) : null}
    </article>
  );
}

interface PieceViewProps {
  readonly piece: Piece;
  readonly children: (question: Question) => React.ReactNode;
}

function PieceView({ piece, children }: PieceViewProps) {
  switch (piece.kind) {
    case "text":
      return <p className="chat-answer">{piece.text}</p>;
    case "step":
      return (
        <p className="chat-step">
          <Wrench aria-hidden size={13} />
          {piece.text}
        </p>
      );
    case "question":
      return children(piece);
  }
}

interface QuestionViewProps {
  readonly question: Question;
  readonly isOpen: boolean;
  readonly agent: string;
  readonly channel: string;
  readonly task: string;
  readonly onDone: () => Promise<void>;
}

function QuestionView({ question, isOpen, agent, channel, task, onDone }: QuestionViewProps) {
  return (
    <>
      {question.approvals.map((approval) => (
        <ApprovalView key={approval.call_id} {...{ approval, question, isOpen, channel, onDone }} />
      ))}
      {question.forms.map((form) => (
        <AskedFormView key={form.key} {...{ form, isOpen, agent, task, onDone }} />
      ))}
    </>
  );
}

function EndView({ end }: { readonly end: End }) {
  const text = useText();
  const others = end.content.filter((part) => part.type !== "text");
  if (end.isError) {
    return (
      <p className="chat-failed" role="alert">
        {end.text || text("chat.failed")}
      </p>
    );
  }
  return (
    <div className="chat-answer">
      {end.text}
      {others.length > 0 ? <ContentView content={others} /> : null}
    </div>
  );
}
