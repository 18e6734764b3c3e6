/** A call in full: what was asked, how it went, what came back; with what a user may do about it. */

import { CircleStop, Copy, RotateCw } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { messageOf } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Button, IconButton } from "../ui/Button.tsx";
import { type Content, ContentView } from "../ui/ContentView.tsx";
import { Failed, Waiting } from "../ui/Empty.tsx";
import { type Json, JsonTree } from "../ui/JsonTree.tsx";
import { showToast } from "../ui/toasts.ts";
import { When } from "../ui/When.tsx";
import { statusWords } from "./ArrowLabel.tsx";
import { cancelCall, OWNER, readCall, type WholeCall } from "./actions.ts";
import { duration } from "./duration.ts";
import { RunTool } from "./RunTool.tsx";
import { durationOf } from "./store.ts";
import type { LogCall } from "./useArrowLog.ts";

interface DetailsProps {
  readonly arrow: string;
  readonly call: LogCall;
}

export function CallDetails({ arrow, call }: DetailsProps) {
  const text = useText();
  const { whole, problem } = useWhole(arrow, call);
  const [isRunning, setIsRunning] = useState(false);
  if (problem !== undefined) return <Failed message={problem} />;
  if (whole === undefined) return <Waiting label={text("ui.loading")} />;
  return (
    <div className="call-details">
      <div className="call-actions">
        {call.status === "running" ? (
          <Button small icon={CircleStop} onClick={() => void cancelCall(arrow, call.call_id)}>
            {text("calls.cancel")}
          </Button>
        ) : (
          <Button small icon={RotateCw} onClick={() => setIsRunning(true)}>
            {text("calls.again")}
          </Button>
        )}
      </div>
      <Facts call={call} />
      <Sent whole={whole} />
      <Lines whole={whole} />
      <Outcome whole={whole} />
      {isRunning ? <RunTool arrow={arrow} like={whole} onClose={() => setIsRunning(false)} /> : null}
    </div>
  );
}

/** A call as the host has it, read anew as it goes on. */
function useWhole(arrow: string, call: LogCall): { readonly whole?: WholeCall; readonly problem?: string } {
  const [state, setState] = useState<{ whole?: WholeCall; problem?: string }>({});
  const { call_id, status, progress } = call;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line of progress, or the end, is why it is read anew
  useEffect(() => {
    let isWanted = true;
    readCall(arrow, call_id)
      .then((whole) => isWanted && setState({ whole }))
      .catch((error) => isWanted && setState((before) => (before.whole ? before : { problem: messageOf(error) })));
    return () => {
      isWanted = false;
    };
  }, [arrow, call_id, status, progress]);
  return state;
}

function Facts({ call }: { readonly call: LogCall }) {
  const text = useText();
  const name = call.caller.id === OWNER ? text("calls.you") : call.caller.name;
  return (
    <p className="call-facts">
      <span>{text("calls.called_by", { name })}</span>
      <When at={call.started_at} />
      {call.status === "running" ? null : (
        <span>
          {statusWords(call.status, text)} · {duration(durationOf(call, 0))}
        </span>
      )}
    </p>
  );
}

function Sent({ whole }: { readonly whole: WholeCall }) {
  const text = useText();
  const sent = whole.sent as { readonly [key: string]: Json } | null;
  const preview = whole.arguments;
  if (sent === null && !preview) return <p className="call-note">{text("calls.not_recorded")}</p>;
  const copied = sent === null ? preview : JSON.stringify(sent, null, 2);
  return (
    <Section
      title={text("calls.arguments")}
      action={<CopyButton label={text("calls.copy_arguments")} value={copied} />}
    >
      {sent === null ? <Preview text={preview} /> : <Arguments sent={sent} />}
      {whole.hidden.length > 0 ? <p className="call-note">{text("calls.hidden")}</p> : null}
    </Section>
  );
}

function Arguments({ sent }: { readonly sent: { readonly [key: string]: Json } }) {
  const text = useText();
  const entries = Object.entries(sent);
  if (entries.length === 0) return <p className="call-note">{text("calls.no_arguments")}</p>;
  return (
    <>
      {entries.map(([name, value]) => (
        <JsonTree key={name} name={name} value={value} depth={1} />
      ))}
    </>
  );
}

function Lines({ whole }: { readonly whole: WholeCall }) {
  const text = useText();
  if (whole.lines.length === 0) return null;
  return (
    <Section title={text("calls.progress")}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <ol className="call-lines" tabIndex={0}>
        {whole.lines.map((line) => (
          <li key={`${line.at} ${line.text}`}>
            <When at={line.at} />
            <span>{line.text}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Outcome({ whole }: { readonly whole: WholeCall }) {
  const text = useText();
  if (whole.status === "running") return <p className="call-note">{text("calls.waits")}</p>;
  const { content, error } = whole;
  if (error && (content === null || isOnly(content, error))) {
    return (
      <Section title={text("calls.error")} action={<CopyButton label={text("calls.copy_result")} value={error} />}>
        <p className="call-error">{error}</p>
      </Section>
    );
  }
  if (content === null) {
    if (!whole.result_preview) return null;
    return (
      <Section title={text("calls.result")}>
        <Preview text={whole.result_preview} />
        <p className="call-note">{text("calls.preview")}</p>
      </Section>
    );
  }
  const copied = textOf(content, whole.structured);
  return (
    <Section
      title={text(error ? "calls.error" : "calls.result")}
      action={copied ? <CopyButton label={text("calls.copy_result")} value={copied} /> : null}
    >
      <ContentView content={content} structured={whole.structured} />
    </Section>
  );
}

function isOnly(content: readonly Content[], error: string): boolean {
  return content.length === 1 && content[0]?.type === "text" && content[0].text === error;
}

/** What of a result can be copied as text. */
function textOf(content: readonly Content[], structured: unknown): string {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join("\n") || (structured === undefined ? "" : JSON.stringify(structured, null, 2));
}

function Preview({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <pre className="call-preview" tabIndex={0}>
      {text}
    </pre>
  );
}

interface SectionProps {
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

function Section({ title, action, children }: SectionProps) {
  return (
    <section className="call-section" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {action}
      </header>
      {children}
    </section>
  );
}

function CopyButton({ label, value }: { readonly label: string; readonly value: string }) {
  const text = useText();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      showToast({ tone: "ok", text: text("calls.copied") });
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
  };
  return <IconButton small icon={Copy} label={label} onClick={() => void copy()} />;
}
