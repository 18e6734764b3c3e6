/** Runs a tool of an arrow in the agent's place, with arguments that are written here; or a call once more. */

import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Failed, Waiting } from "../ui/Empty.tsx";
import { SelectField } from "../ui/Field.tsx";
import type { Json } from "../ui/JsonTree.tsx";
import { initialOf, isObject, type JsonSchema } from "../ui/json-schema.ts";
import { SchemaForm } from "../ui/SchemaForm.tsx";
import { problemsOf } from "../ui/schema-check.ts";
import { type ArrowTool, makeCall, OWNER, readTools, type WholeCall } from "./actions.ts";
import { openCall } from "./opened.ts";
import { withoutHidden } from "./rerun.ts";

interface RunProps {
  readonly arrow: string;
  /** The call that is made once more. */
  readonly like?: WholeCall;
  readonly onClose: () => void;
}

export function RunTool({ arrow, like, onClose }: RunProps) {
  const text = useText();
  const agent = like === undefined || like.caller.id === OWNER ? undefined : like.caller.id;
  const tools = useAsked(arrow, () => readTools(arrow, agent));
  const title = text(like ? "calls.run.again" : "calls.run.title");
  return (
    <Dialog wide title={title} description={text("calls.run.about")} onClose={onClose}>
      {tools.problem ? <Failed message={tools.problem} /> : null}
      {tools.data === undefined && !tools.problem ? <Waiting label={text("ui.loading")} /> : null}
      {tools.data?.length === 0 ? <p className="call-note">{text("calls.run.none")}</p> : null}
      {tools.data?.length ? (
        <ToolForm arrow={arrow} agent={agent} tools={tools.data} onClose={onClose} {...(like ? { like } : {})} />
      ) : null}
    </Dialog>
  );
}

interface FormProps extends RunProps {
  readonly agent: string | undefined;
  readonly tools: readonly ArrowTool[];
}

function ToolForm({ arrow, agent, tools, like, onClose }: FormProps) {
  const text = useText();
  const [name, setName] = useState(() => tools.find((one) => one.name === like?.tool)?.name ?? tools[0]?.name ?? "");
  const tool = tools.find((one) => one.name === name);
  const schema = (tool?.input_schema ?? { type: "object" }) as JsonSchema;
  const [given, setGiven] = useState<Json | undefined>(() => startOf(schema, name === like?.tool ? like : undefined));
  const [showProblems, setShowProblems] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const choose = (next: string): void => {
    const chosen = (tools.find((one) => one.name === next)?.input_schema ?? {}) as JsonSchema;
    setName(next);
    setGiven(startOf(chosen, next === like?.tool ? like : undefined));
    setShowProblems(false);
  };
  const run = async (): Promise<void> => {
    setShowProblems(true);
    if (!isObject(given) || problemsOf(schema, given).length > 0) return;
    setIsBusy(true);
    setProblem(undefined);
    try {
      openCall(arrow, await makeCall(arrow, name, given, agent));
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      <SelectField label={text("calls.run.tool")} value={name} onChange={(event) => choose(event.target.value)}>
        {tools.map((one) => (
          <option key={one.name} value={one.name}>
            {one.title ? `${one.title} (${one.name})` : one.name}
          </option>
        ))}
      </SelectField>
      {tool?.description ? <p className="call-about">{tool.description}</p> : null}
      <SchemaForm
        key={name}
        schema={schema}
        value={given}
        onChange={setGiven}
        showProblems={showProblems}
        label={text("calls.arguments")}
      />
      {problem ? (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
      <div className="call-run-buttons">
        <Button onClick={onClose}>{text("ui.cancel")}</Button>
        <Button tone="primary" busy={isBusy} onClick={() => void run()}>
          {text("calls.run.go")}
        </Button>
      </div>
    </>
  );
}

/** What the form begins with: what the call had, or what the schema says. */
function startOf(schema: JsonSchema, like: WholeCall | undefined): Json | undefined {
  const first = initialOf(schema) ?? {};
  const sent = like?.sent;
  return isObject(sent) ? withoutHidden(sent as { readonly [key: string]: Json }, like?.hidden ?? [], schema) : first;
}
