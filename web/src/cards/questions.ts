/** What cards ask their user on any board, the oldest first, as the feed tells it; it answers by REST. */

import { create } from "zustand";
import { ApiError, api, ask, messageOf, type Schemas } from "../api/client.ts";
import type { Moment } from "../api/feed.ts";
import { onMoments, useBoard } from "../board/store.ts";
import { readWorkspaces } from "../board/workspaces.ts";
import { text } from "../i18n/text.ts";
import { showToast } from "../ui/toasts.ts";

export type Question = Schemas["WaitingQuestion"] & {
  /** When it is declined, on the page's own clock. */
  readonly until: number;
};

interface QuestionsState {
  readonly waiting: readonly Question[];
}

export const useQuestions = create<QuestionsState>()(() => ({ waiting: [] }));

/** The questions after one more; one that is known stays as it is. */
export function withQuestion(
  waiting: readonly Question[],
  asked: Schemas["WaitingQuestion"],
  now: number,
): readonly Question[] {
  if (waiting.some((one) => one.id === asked.id)) return waiting;
  return [...waiting, { ...asked, until: now + asked.remaining_ms }].sort((one, other) =>
    one.asked_at.localeCompare(other.asked_at),
  );
}

/** Answer one; what has ended meanwhile is no fault. */
export async function answerQuestion({ id, workspace }: Question, confirmed: boolean): Promise<void> {
  const path = { w: workspace.id, confirmation: id };
  try {
    await ask(
      api.POST("/api/v1/workspaces/{w}/confirmations/{confirmation}", { params: { path }, body: { confirmed } }),
    );
    drop(id);
  } catch (error) {
    if (error instanceof ApiError && error.code === "conflict") drop(id);
    else showToast({ tone: "bad", text: messageOf(error) });
  }
}

/** Read what waits on all boards: a page that has just been loaded has not heard it. */
export async function readQuestions(): Promise<void> {
  try {
    const workspaces = await readWorkspaces();
    const read = workspaces.map(({ id }) =>
      ask(api.GET("/api/v1/workspaces/{w}/confirmations", { params: { path: { w: id } } })),
    );
    const now = performance.now();
    for (const { confirmations } of await Promise.all(read)) {
      for (const asked of confirmations) {
        useQuestions.setState(({ waiting }) => ({ waiting: withQuestion(waiting, asked, now) }));
      }
    }
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}

function drop(id: string): void {
  useQuestions.setState(({ waiting }) => ({ waiting: waiting.filter((one) => one.id !== id) }));
}

function onEnded(id: string, outcome: string): void {
  const ended = useQuestions.getState().waiting.find((one) => one.id === id);
  drop(id);
  if (ended === undefined) return;
  if (outcome === "expired") showToast({ tone: "info", text: text("cards.ask.expired", { card: ended.card.name }) });
  if (outcome === "withdrawn")
    showToast({ tone: "info", text: text("cards.ask.withdrawn", { card: ended.card.name }) });
}

function onMoment(moment: Moment): void {
  if (moment.type === "confirm") {
    const asked = moment as unknown as Schemas["WaitingQuestion"];
    useQuestions.setState(({ waiting }) => ({ waiting: withQuestion(waiting, asked, performance.now()) }));
  }
  if (moment.type === "confirmed") {
    const { id, outcome } = moment as unknown as { readonly id: string; readonly outcome: string };
    onEnded(id, outcome);
  }
  if (moment.type === "reset") {
    useQuestions.setState({ waiting: [] });
    void readQuestions();
  }
}

onMoments((moments) => moments.forEach(onMoment));

// A workspace that is opened brings a feed that has told nothing yet.
useBoard.subscribe(({ workspace }, before) => {
  if (workspace !== undefined && workspace.id !== before.workspace?.id) void readQuestions();
});
