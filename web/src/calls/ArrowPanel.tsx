/** What an arrow lets through, and the log of its calls; from here its owner calls tools, too. */

import { ListTree, Play } from "lucide-react";
import { useState } from "react";
import type { Arrow } from "../board/model.ts";
import { changeArrow } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Empty, Failed, Waiting } from "../ui/Empty.tsx";
import { CheckField } from "../ui/Field.tsx";
import { CallEntry } from "./CallEntry.tsx";
import "./calls.css";
import { RunTool } from "./RunTool.tsx";
import { useArrowLog } from "./useArrowLog.ts";

export function ArrowPanel({ arrow }: { readonly arrow: Arrow }) {
  const text = useText();
  const [isRunning, setIsRunning] = useState(false);
  return (
    <div className="arrow-panel">
      <div className="arrow-panel-head">
        <CheckField
          label={text("calls.recorded")}
          hint={text("calls.recorded.hint")}
          checked={arrow.recorded}
          onChange={(event) => void changeArrow(arrow.id, { recorded: event.target.checked })}
        />
        <Button icon={Play} onClick={() => setIsRunning(true)}>
          {text("calls.run")}
        </Button>
      </div>
      <Log arrow={arrow.id} />
      {isRunning ? <RunTool arrow={arrow.id} onClose={() => setIsRunning(false)} /> : null}
    </div>
  );
}

function Log({ arrow }: { readonly arrow: string }) {
  const text = useText();
  const { calls, isRead, problem, again, readOlder } = useArrowLog(arrow);
  if (problem !== undefined && !isRead) {
    return <Failed message={problem} again={<Button onClick={() => void again()}>{text("ui.try_again")}</Button>} />;
  }
  if (calls.length === 0 && !isRead) return <Waiting label={text("ui.loading")} />;
  if (calls.length === 0) {
    return (
      <Empty icon={ListTree} title={text("calls.none")}>
        {text("calls.none.text")}
      </Empty>
    );
  }
  return (
    <section aria-label={text("calls.log")}>
      <ol className="call-list">
        {calls.map((call) => (
          <CallEntry key={call.call_id} arrow={arrow} call={call} />
        ))}
      </ol>
      {readOlder ? (
        <Button className="call-older" onClick={() => void readOlder()}>
          {text("calls.older")}
        </Button>
      ) : null}
    </section>
  );
}
