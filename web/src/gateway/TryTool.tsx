/** Calls a tool of an agent with arguments that are typed here, and shows what came back. */

import { useRef, useState } from "react";
import { type Answered, api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { ContentView } from "../ui/ContentView.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import type { Json } from "../ui/JsonTree.tsx";
import { initialOf, type JsonSchema } from "../ui/json-schema.ts";
import { SchemaForm } from "../ui/SchemaForm.tsx";
import { problemsOf } from "../ui/schema-check.ts";
import type { Agent } from "./agents.ts";

type Answer = Schemas["Answer"];

interface TryToolProps {
  readonly agent: string;
  readonly tool: Agent["skills"][number];
  readonly onClose: () => void;
}

interface Outcome {
  readonly answer?: Answer;
  readonly problem?: string;
  readonly seconds: number;
}

export function TryTool({ agent, tool, onClose }: TryToolProps) {
  const text = useText();
  const [outcome, setOutcome] = useState<Outcome>();
  const running = useRef<AbortController>(undefined);
  const [isRunning, setIsRunning] = useState(false);
  const schema = (tool.inputSchema ?? { type: "object" }) as JsonSchema;
  const [given, setGiven] = useState<Json | undefined>(() => initialOf(schema));
  const [showProblems, setShowProblems] = useState(false);
  const call = async (): Promise<void> => {
    setShowProblems(true);
    if (given === undefined || problemsOf(schema, given).length > 0) return;
    const began = performance.now();
    const controller = new AbortController();
    running.current = controller;
    setIsRunning(true);
    setOutcome(undefined);
    const seconds = (): number => (performance.now() - began) / 1000;
    try {
      const path = { params: { path: { agent } }, signal: controller.signal };
      const body = { tool: tool.name, arguments: given as Record<string, unknown> };
      // The route could stream, too; asked for JSON, it gives the whole answer.
      const asked = api.POST("/api/v1/agents/{agent}/invoke", { ...path, body });
      const answer = await ask(asked as unknown as Promise<Answered<Answer>>);
      setOutcome({ answer, seconds: seconds() });
    } catch (error) {
      if (!controller.signal.aborted) setOutcome({ problem: messageOf(error), seconds: seconds() });
    } finally {
      setIsRunning(false);
    }
  };
  const close = (): void => {
    running.current?.abort();
    onClose();
  };
  return (
    <Dialog wide title={text("gateway.try.title", { tool: tool.name })} onClose={close}>
      {tool.description ? <p className="page-text">{tool.description}</p> : null}
      <SchemaForm
        schema={schema}
        value={given}
        onChange={setGiven}
        showProblems={showProblems}
        label={text("gateway.try.title", { tool: tool.name })}
      />
      <div className="page-buttons">
        {isRunning ? <Button onClick={() => running.current?.abort()}>{text("gateway.try.stop")}</Button> : null}
        <Button tone="primary" busy={isRunning} onClick={() => void call()}>
          {text("gateway.try.run")}
        </Button>
      </div>
      {outcome ? <Shown outcome={outcome} /> : null}
    </Dialog>
  );
}

function Shown({ outcome }: { readonly outcome: Outcome }) {
  const text = useText();
  const { answer, problem } = outcome;
  const failed = problem !== undefined || answer?.is_error === true;
  return (
    <section className="try-result" aria-live="polite" aria-label={text("gateway.try.result")}>
      <header className="try-head">
        <h3>{text("gateway.try.result")}</h3>
        {failed ? <Badge tone="bad">{text("gateway.try.failed")}</Badge> : null}
        <Badge>{text("gateway.try.took", { seconds: outcome.seconds.toFixed(2) })}</Badge>
      </header>
      {problem ? <p className="field-problem">{problem}</p> : null}
      {answer ? <ContentView content={answer.content} structured={answer.structured} /> : null}
    </section>
  );
}
