/** Something that the agent asks its user: a form made of what it wants to know, which may be declined. */

import { MessageCircleQuestionMark } from "lucide-react";
import { useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import type { Json } from "../ui/JsonTree.tsx";
import { initialOf, type JsonSchema } from "../ui/json-schema.ts";
import { SchemaForm } from "../ui/SchemaForm.tsx";
import { problemsOf } from "../ui/schema-check.ts";
import type { AskedForm } from "./model.ts";
import { answerForm } from "./requests.ts";

interface AskedFormViewProps {
  readonly form: AskedForm;
  readonly isOpen: boolean;
  readonly agent: string;
  readonly task: string;
  readonly onDone: () => Promise<void>;
}

export function AskedFormView({ form, isOpen, agent, task, onDone }: AskedFormViewProps) {
  const text = useText();
  const message = typeof form.params.message === "string" ? form.params.message : text("chat.form.title");
  const schema = form.params.requestedSchema as JsonSchema | undefined;
  return (
    <section className="chat-ask" data-open={isOpen || undefined} aria-label={message}>
      <header>
        <MessageCircleQuestionMark aria-hidden size={16} />
        <h3>{message}</h3>
      </header>
      {isOpen && schema !== undefined ? <Answer {...{ form, schema, agent, task, onDone }} label={message} /> : null}
      {isOpen && schema === undefined ? <p className="chat-ask-why">{text("chat.form.elsewhere")}</p> : null}
      {isOpen ? null : <p className="chat-ask-why">{text("chat.form.over")}</p>}
    </section>
  );
}

interface AnswerProps extends Omit<AskedFormViewProps, "isOpen"> {
  readonly schema: JsonSchema;
  readonly label: string;
}

function Answer({ form, schema, agent, task, onDone, label }: AnswerProps) {
  const text = useText();
  const [value, setValue] = useState<Json | undefined>(() => initialOf(schema));
  const [showProblems, setShow] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const give = async (given: Record<string, unknown>): Promise<void> => {
    setBusy(true);
    try {
      await answerForm(agent, task, form.key, given);
      await onDone();
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  const send = (): void => {
    if (problemsOf(schema, value).length > 0) setShow(true);
    else void give({ action: "accept", content: value });
  };
  return (
    <>
      <SchemaForm schema={schema} value={value} onChange={setValue} showProblems={showProblems} label={label} />
      {problem ? (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
      <div className="chat-ask-buttons">
        <Button disabled={busy} onClick={() => void give({ action: "decline" })}>
          {text("chat.form.decline")}
        </Button>
        <Button tone="primary" disabled={busy} onClick={send}>
          {text("chat.form.send")}
        </Button>
      </div>
    </>
  );
}
