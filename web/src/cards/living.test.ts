import { beforeEach, expect, test } from "vitest";
import { hearState, meetCards, sleepCards, startCard, useLiving, wakeCard } from "./living.ts";

const phaseOf = (card: string) => useLiving.getState().cards[card]?.phase;
const shown = (...cards: readonly (readonly [string, string])[]) =>
  new Map(cards.map(([id, state]) => [id, { state }] as const));

beforeEach(() => useLiving.setState({ cards: {} }));

test("a card that is awake when it is first seen is so elsewhere, and comes back once it is not", () => {
  meetCards(shown(["a", "awake"], ["b", "paused"]));
  expect([phaseOf("a"), phaseOf("b")]).toEqual(["elsewhere", "asleep"]);
  hearState("a", "paused");
  hearState("b", "awake");
  expect([phaseOf("a"), phaseOf("b")]).toEqual(["asleep", "elsewhere"]);
});

test("what the host tells of a card that is here changes nothing: the frame knows better", () => {
  meetCards(shown(["a", "paused"]));
  startCard("a");
  hearState("a", "paused");
  expect(phaseOf("a")).toBe("starting");
});

test("cards that leave the board are forgotten, and those that stay are as they were", () => {
  meetCards(shown(["a", "paused"], ["b", "paused"]));
  startCard("a");
  meetCards(shown(["a", "awake"]));
  expect(Object.keys(useLiving.getState().cards)).toEqual(["a"]);
  expect(phaseOf("a")).toBe("starting");
});

test("a call wakes who sleeps, and leaves the frame of who is awake as it is", () => {
  meetCards(shown(["a", "paused"]));
  wakeCard("a");
  const { run } = useLiving.getState().cards.a ?? {};
  wakeCard("a");
  expect(useLiving.getState().cards.a?.run).toBe(run);
  sleepCards(["a"]);
  wakeCard("a");
  expect(useLiving.getState().cards.a?.run).toBe((run ?? 0) + 1);
});
