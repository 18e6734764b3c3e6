/** A conversation as people read it, made of the rows of its channel: what was said, what came of it, what is asked. */

import type { Schemas } from "../api/client.ts";
import type { Content } from "../ui/ContentView.tsx";

export type Row = Schemas["ChannelMessage"];

export interface Approval {
  readonly call_id: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly reason: string | null;
}

export interface Decision {
  readonly approve?: readonly string[] | boolean;
  readonly deny?: readonly string[] | boolean;
  readonly reason?: string | null;
}

export interface AskedForm {
  readonly key: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type Piece =
  | { readonly kind: "text"; readonly text: string }
  /** Something that the agent does on the way, such as calling a tool. */
  | { readonly kind: "step"; readonly text: string }
  | {
      readonly kind: "question";
      readonly id: string;
      readonly text: string;
      readonly approvals: readonly Approval[];
      readonly forms: readonly AskedForm[];
      readonly decision: Decision | undefined;
    };
export type Question = Extract<Piece, { kind: "question" }>;

export interface End {
  readonly isError: boolean;
  readonly text: string;
  readonly content: readonly Content[];
}

/** A message to the agent, and all that it has made the agent say. */
export interface Turn {
  readonly id: string;
  readonly said: string;
  readonly pieces: readonly Piece[];
  readonly end: End | undefined;
}

/** The turns of a conversation, in the order in which they began. */
export function turnsOf(rows: readonly Row[]): readonly Turn[] {
  const turns = new Map<string, Turn>();
  const asked = new Map<string, string>();
  for (const row of rows) {
    if (row.type === "chat_message") {
      turns.set(row.message_id, { id: row.message_id, said: saidIn(row.payload), pieces: [], end: undefined });
      continue;
    }
    const of = row.in_reply_to ?? "";
    const id = asked.get(of) ?? of;
    const turn = turns.get(id);
    if (turn === undefined) continue;
    if (row.type === "agent.input_required") asked.set(row.message_id, id);
    turns.set(id, after(turn, row));
  }
  return [...turns.values()];
}

/** The id of the task that a turn is. */
export function taskOf(turn: string): string {
  return turn.replace(/^msg_/, "call_");
}

export function turnOf(task: string): string {
  return task.replace(/^call_/, "msg_");
}

/** The question that a turn waits for, if it does. */
export function openQuestion(turn: Turn): Question | undefined {
  const last = turn.pieces.at(-1);
  return turn.end === undefined && last?.kind === "question" && last.decision === undefined ? last : undefined;
}

function after(turn: Turn, row: Row): Turn {
  const { pieces } = turn;
  switch (row.type) {
    case "agent_reply_delta":
      return { ...turn, pieces: withDelta(pieces, row.payload) };
    case "agent.input_required":
      return { ...turn, pieces: [...pieces, questionIn(row)] };
    case "user.continue":
      return { ...turn, pieces: pieces.map((piece) => decided(piece, row)) };
    case "agent_reply":
    case "agent_reply_error":
    case "agent.refuse":
    case "agent_busy":
      return { ...turn, pieces: withoutDraft(pieces), end: endIn(row) };
    default:
      return turn;
  }
}

function withDelta(pieces: readonly Piece[], payload: Row["payload"]): readonly Piece[] {
  const { text, progress } = payload as { text?: unknown; progress?: { message?: unknown } };
  if (typeof text === "string" && text) {
    const last = pieces.at(-1);
    return last?.kind === "text"
      ? [...pieces.slice(0, -1), { kind: "text", text: last.text + text }]
      : [...pieces, { kind: "text", text }];
  }
  const step = progress?.message;
  return typeof step === "string" && step ? [...pieces, { kind: "step", text: step }] : pieces;
}

/** The end says in full what was written last, piece by piece. */
function withoutDraft(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.at(-1)?.kind === "text" ? pieces.slice(0, -1) : pieces;
}

function questionIn(row: Row): Question {
  const { text, approvals, questions } = row.payload as {
    text?: string;
    approvals?: readonly Approval[];
    questions?: readonly AskedForm[];
  };
  const forms = approvals && approvals.length > 0 ? [] : (questions ?? []);
  return {
    kind: "question",
    id: row.message_id,
    text: text ?? "",
    approvals: approvals ?? [],
    forms,
    decision: undefined,
  };
}

function decided(piece: Piece, row: Row): Piece {
  if (piece.kind !== "question" || piece.id !== row.in_reply_to || piece.decision !== undefined) return piece;
  return { ...piece, decision: row.payload as Decision };
}

function endIn(row: Row): End {
  const { text, content, is_error } = row.payload as {
    text?: string;
    content?: readonly Content[];
    is_error?: boolean;
  };
  return { isError: row.type !== "agent_reply" || is_error === true, text: text ?? "", content: content ?? [] };
}

function saidIn(payload: Row["payload"]): string {
  const { message, tool } = payload as { message?: unknown; tool?: { arguments?: { message?: unknown } } };
  const said = tool?.arguments?.message ?? message;
  return typeof said === "string" ? said : "";
}

/** Whether a call of a question was let run; `undefined` where nothing was said about it. */
export function verdictOn(call: string, { approve, deny }: Decision): "approved" | "denied" | undefined {
  if (deny === true || (Array.isArray(deny) && deny.includes(call))) return "denied";
  return approve === true || (Array.isArray(approve) && approve.includes(call)) ? "approved" : undefined;
}
