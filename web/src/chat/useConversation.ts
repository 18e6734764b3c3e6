/** A conversation with an agent while somebody looks at it: read, followed by the feed of the board, and gone on with. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { messageOf } from "../api/client.ts";
import { onMoment } from "../board/store.ts";
import { type End, type Row, type Turn, taskOf, turnOf, turnsOf } from "./model.ts";
import { type Conversation, readConversations, readRows, readTask, say } from "./requests.ts";

interface State {
  /** `undefined` for one that has not begun. */
  readonly channel: string | undefined;
  readonly rows: readonly Row[];
  /** What was sent and is not among the rows yet. */
  readonly sent: readonly Turn[];
  /** How turns ended of which the agent has said nothing. */
  readonly ends: Readonly<Record<string, End>>;
}

export interface ConversationView {
  readonly isReady: boolean;
  readonly problem: string | undefined;
  readonly channel: string | undefined;
  readonly turns: readonly Turn[];
  readonly others: readonly Conversation[];
  readonly open: (channel: string | undefined) => void;
  readonly send: (message: string) => Promise<boolean>;
  /** Read what is new. */
  readonly refresh: () => Promise<void>;
}

const NEW: State = { channel: undefined, rows: [], sent: [], ends: {} };

export function useConversation(agent: string, card: string): ConversationView {
  const [state, setState] = useState<State>(NEW);
  const [others, setOthers] = useState<readonly Conversation[]>();
  const [problem, setProblem] = useState<string>();
  const heard = useRef(new Set<string>());
  /** Nobody has chosen what is shown, so that the first conversation may come by itself. */
  const isUntouched = useRef(true);
  const latest = useRef(state);
  latest.current = state;
  const refresh = useReader(agent, latest, setState, setProblem);

  const show = useCallback(
    (channel: string | undefined) => {
      latest.current = { ...NEW, channel };
      setState(latest.current);
      void refresh();
    },
    [refresh],
  );
  const list = useCallback(async (): Promise<void> => {
    const found = await readConversations(agent);
    setOthers(found);
    if (isUntouched.current && latest.current.channel === undefined) show(found[0]?.id);
  }, [agent, show]);

  useEffect(() => {
    list().catch((error: unknown) => setProblem(messageOf(error)));
  }, [list]);
  useEffect(
    () =>
      onMoment((moment) => {
        const { type, ...told } = moment as {
          readonly type: string;
          readonly card?: string;
          readonly call_id?: string;
        };
        const isOurs = type === "call" && told.card === card;
        if (type === "reset" || isOurs) void refresh();
        if (!isOurs || told.call_id === undefined || heard.current.has(told.call_id)) return;
        heard.current.add(told.call_id);
        void list().catch(() => undefined); // it is read again with the next call
      }),
    [card, list, refresh],
  );

  const open = (channel: string | undefined): void => {
    isUntouched.current = false;
    show(channel);
  };
  const send = async (message: string): Promise<boolean> => {
    isUntouched.current = false;
    try {
      const task = await say(agent, message, latest.current.channel);
      const turn = { id: turnOf(task.task_id), said: message, pieces: [], end: undefined };
      latest.current = {
        ...latest.current,
        channel: task.context_id ?? undefined,
        sent: [...latest.current.sent, turn],
      };
      setState(latest.current);
      setProblem(undefined);
      void refresh();
      return true;
    } catch (error) {
      setProblem(messageOf(error));
      return false;
    }
  };
  const turns = useMemo(() => shownTurns(state), [state]);
  return {
    isReady: others !== undefined,
    problem,
    channel: state.channel,
    turns,
    others: others ?? [],
    open,
    send,
    refresh,
  };
}

function shownTurns({ rows, sent, ends }: State): readonly Turn[] {
  const turns = turnsOf(rows);
  const known = new Set(turns.map((turn) => turn.id));
  const all = [...turns, ...sent.filter((turn) => !known.has(turn.id))];
  return all.map((turn) => (turn.end === undefined && ends[turn.id] ? { ...turn, end: ends[turn.id] } : turn));
}

/** Reads what is new of the conversation that is shown: one reading at a time, and once more if asked meanwhile. */
function useReader(
  agent: string,
  latest: { current: State },
  setState: (state: State) => void,
  setProblem: (problem: string | undefined) => void,
): () => Promise<void> {
  const reading = useRef({ busy: false, again: false });
  return useCallback(async () => {
    if (reading.current.busy) {
      reading.current.again = true;
      return;
    }
    reading.current = { busy: true, again: true };
    try {
      while (reading.current.again) {
        reading.current.again = false;
        const { channel } = latest.current;
        if (channel === undefined) break;
        const news = await newsOf(agent, latest.current, channel);
        if (latest.current.channel !== channel) {
          reading.current.again = true;
        } else if (news !== latest.current) {
          latest.current = { ...news, sent: latest.current.sent };
          setState(latest.current);
        }
      }
    } catch (error) {
      setProblem(messageOf(error));
    }
    reading.current.busy = false;
  }, [agent, latest, setState, setProblem]);
}

async function newsOf(agent: string, before: State, channel: string): Promise<State> {
  const known = before.rows.at(-1)?.offset ?? 0;
  const rows = await readRows(channel, known).catch((error: unknown) => {
    if (before.rows.length === 0 && before.sent.length > 0) return []; // its first message is still on its way
    throw error;
  });
  const state = rows.length > 0 ? { ...before, rows: [...before.rows, ...rows] } : before;
  const last = shownTurns(state).at(-1);
  if (last === undefined || last.end !== undefined || rows.length > 0) return state;
  const end = await endOf(agent, taskOf(last.id));
  return end ? { ...state, ends: { ...state.ends, [last.id]: end } } : state;
}

/** How a task ended, where it did without a word of the agent. */
async function endOf(agent: string, task: string): Promise<End | undefined> {
  try {
    const found = await readTask(agent, task);
    if (found.error) return { isError: true, text: found.error.message, content: [] };
    if (found.result) return { isError: found.result.is_error, text: found.result.text, content: [] };
  } catch {
    // A call of somebody else in the same conversation is no task of ours.
  }
  return undefined;
}
