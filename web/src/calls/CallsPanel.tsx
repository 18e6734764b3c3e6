/** All calls of the workspace as they happen, filtered; it follows what is selected on the board. */

import { ListTree, X } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { shownKeys } from "../app/shortcuts.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { reveal } from "../canvas/view.ts";
import { useText } from "../i18n/text.ts";
import { IconButton } from "../ui/Button.tsx";
import { Empty } from "../ui/Empty.tsx";
import { When } from "../ui/When.tsx";
import { statusWords } from "./ArrowLabel.tsx";
import { OWNER } from "./actions.ts";
import { CallerName, Elapsed, StatusIcon } from "./CallEntry.tsx";
import "./calls-panel.css";
import { duration } from "./duration.ts";
import { choicesIn, type Filters, fitting, NO_FILTERS } from "./filters.ts";
import { CALLS_KEY, openCall, togglePanel, useOpened } from "./opened.ts";
import { durationOf, isBad, type ShownCall } from "./store.ts";
import { useLatest } from "./useLatest.ts";

/** The button that opens and closes the panel. */
export function CallsToggle() {
  const text = useText();
  const isOpen = useOpened((state) => state.panel);
  const keys = shownKeys(CALLS_KEY);
  return (
    <IconButton
      icon={ListTree}
      label={`${text(isOpen ? "calls.all.hide" : "calls.all.show")} (${keys})`}
      aria-pressed={isOpen}
      onClick={togglePanel}
    />
  );
}

export function CallsPanel() {
  const isOpen = useOpened((state) => state.panel);
  return isOpen ? <Panel /> : null;
}

function Panel() {
  const text = useText();
  const [filters, setFilters] = useState<Filters>(NO_FILTERS);
  const latest = useLatest();
  const board = useBoard((state) => state.board);
  const selected = useSelection((state) => state.selected);
  const calls = useMemo(() => fitting(latest.values(), filters, selected, board), [latest, filters, selected, board]);
  return (
    <section className="calls-panel" aria-label={text("calls.all")}>
      <header className="calls-panel-head">
        <h2>{text("calls.all")}</h2>
        <FilterFields latest={latest} filters={filters} onChange={setFilters} />
        <IconButton icon={X} label={text("calls.all.hide")} onClick={togglePanel} />
      </header>
      {calls.length === 0 ? (
        <Empty icon={ListTree} title={text("calls.none")}>
          {text(latest.size === 0 ? "calls.none.all" : "calls.none.fitting")}
        </Empty>
      ) : (
        <ol className="calls-panel-list">
          {calls.map((call) => (
            <Row key={call.call_id} call={call} />
          ))}
        </ol>
      )}
    </section>
  );
}

interface FilterProps {
  readonly latest: ReadonlyMap<string, ShownCall>;
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
}

function FilterFields({ latest, filters, onChange }: FilterProps) {
  const text = useText();
  const { callers, tools, statuses } = useMemo(() => choicesIn(latest.values()), [latest]);
  const nameOf = ([id, name]: readonly [string, string]) => [id, id === OWNER ? text("calls.you") : name] as const;
  return (
    <div className="calls-panel-filters">
      <Choice
        label={text("calls.filter.agent")}
        value={filters.caller}
        options={[...callers].map(nameOf)}
        onChange={(caller) => onChange({ ...filters, caller })}
      />
      <Choice
        label={text("calls.filter.tool")}
        value={filters.tool}
        options={tools.map((tool) => [tool, tool] as const)}
        onChange={(tool) => onChange({ ...filters, tool })}
      />
      <Choice
        label={text("calls.filter.outcome")}
        value={filters.status}
        options={statuses.map((status) => [status, statusWords(status, text)] as const)}
        onChange={(status) => onChange({ ...filters, status })}
      />
      <label className="calls-panel-follow">
        <input
          type="checkbox"
          checked={filters.follows}
          onChange={(event) => onChange({ ...filters, follows: event.target.checked })}
        />
        {text("calls.filter.follow")}
      </label>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  const text = useText();
  return (
    <label className="calls-panel-choice">
      <span>{label}</span>
      <select className="control" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{text("calls.filter.any")}</option>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const Row = memo(function Row({ call }: { readonly call: ShownCall }) {
  const text = useText();
  const way = useWay(call);
  const words = call.status === "running" ? call.progress : (call.error ?? call.result_preview.split("\n", 1)[0]);
  return (
    <li>
      <button type="button" className="calls-panel-row" onClick={() => show(call)}>
        <StatusIcon status={call.status} />
        <When at={call.started_at} />
        <span className="call-tool">{call.tool}</span>
        <CallerName id={call.caller.id} name={call.caller.name} />
        <span className="calls-panel-way">{way ?? text("calls.gateway")}</span>
        <span className={isBad(call.status) ? "calls-panel-words call-error" : "calls-panel-words"}>{words}</span>
        <span className="call-time">
          {call.status === "running" ? <Elapsed call={call} /> : duration(durationOf(call, 0))}
        </span>
      </button>
    </li>
  );
});

/** Show a call where it belongs, and that on the board. */
function show(call: ShownCall): void {
  const { arrows } = useBoard.getState().board;
  const arrow = call.arrow === undefined ? undefined : arrows[call.arrow];
  if (arrow) openCall(arrow.id, call.call_id);
  else if (call.card !== undefined) useSelection.getState().select({ kind: "card", id: call.card });
  const place = arrow?.target ?? call.card;
  if (isNarrow()) togglePanel(); // the details take its room
  if (place !== undefined) reveal(place);
}

function isNarrow(): boolean {
  return window.matchMedia("(max-width: 900px)").matches;
}

/** The cards that a call's arrow joins. */
function useWay(call: ShownCall): string | undefined {
  return useBoard(({ board }) => {
    const arrow = call.arrow === undefined ? undefined : board.arrows[call.arrow];
    if (arrow === undefined) return undefined;
    return `${board.cards[arrow.source]?.title ?? ""} → ${board.cards[arrow.target]?.title ?? ""}`;
  });
}
