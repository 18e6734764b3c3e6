/** The tools of a package as agents see them: name, words and parameters. */

import type { Schemas } from "../api/client.ts";
import { useText } from "../i18n/text.ts";
import { Badge } from "../ui/Badge.tsx";
import { type Json, JsonTree } from "../ui/JsonTree.tsx";
import "./tool-list.css";

type Tool = Schemas["PackageTool"];

export function ToolList({ tools }: { readonly tools: readonly Tool[] }) {
  const text = useText();
  if (tools.length === 0) return <p className="tool-list-none">{text("cards.tools_none")}</p>;
  return (
    <ul className="tool-list">
      {tools.map((tool) => (
        <ToolRow key={tool.name} tool={tool} />
      ))}
    </ul>
  );
}

function ToolRow({ tool }: { readonly tool: Tool }) {
  const text = useText();
  return (
    <li className="tool-row">
      <p className="tool-row-head">
        <code>{tool.exposed_name}</code>
        {tool.read_only ? <Badge tone="ok">{text("cards.read_only")}</Badge> : null}
        {tool.enabled ? null : <Badge tone="warn">{text("cards.off")}</Badge>}
        <span className="tool-row-time">{text("cards.seconds", { n: Math.round(tool.timeout_ms / 1_000) })}</span>
      </p>
      {tool.title ? <p className="tool-row-title">{tool.title}</p> : null}
      <p className="tool-row-words">{tool.description}</p>
      <details>
        <summary>{text("cards.parameters")}</summary>
        <JsonTree value={tool.input_schema as Json} />
      </details>
    </li>
  );
}
