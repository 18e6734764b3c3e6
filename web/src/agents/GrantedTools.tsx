/** Which tools an agent has, by the arrow that each comes by, and when it read their list. */

import { Cable } from "lucide-react";
import { useEffect } from "react";
import { api, ask, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import type { Card } from "../board/model.ts";
import { useSelection } from "../board/selection.ts";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Badge } from "../ui/Badge.tsx";
import { Empty } from "../ui/Empty.tsx";
import { When } from "../ui/When.tsx";
import { useToolboxes } from "./toolboxes.ts";

type Toolbox = Schemas["Toolbox"];
type Grant = Schemas["ToolboxGrant"];
type Tool = Schemas["ToolboxTool"];

export function GrantedTools({ card }: { readonly card: Card }) {
  const workspace = useBoard((state) => state.workspace?.id ?? "");
  const news = useToolboxes((state) => state.cards[card.id]);
  const asked = useAsked(`toolbox/${card.id}`, () =>
    ask(api.GET("/api/v1/workspaces/{w}/cards/{c}/toolbox", { params: { path: { w: workspace, c: card.id } } })),
  );
  const { again } = asked;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every news of the toolbox is a reason to read it again
  useEffect(() => {
    void again();
  }, [news, again]);
  return <AskedView asked={asked}>{(toolbox) => <Grants toolbox={toolbox} />}</AskedView>;
}

function Grants({ toolbox }: { readonly toolbox: Toolbox }) {
  const text = useText();
  const tools = new Map(toolbox.tools.map((tool) => [tool.name, tool]));
  if (toolbox.grants.length === 0) {
    return (
      <Empty icon={Cable} title={text("agents.no_tools.title")}>
        {text("agents.no_tools.text")}
      </Empty>
    );
  }
  return (
    <div className="granted">
      <p className="granted-read">
        {toolbox.listed_at === null ? (
          text("agents.read_never")
        ) : (
          <>
            {text("agents.read_last")} <When at={toolbox.listed_at} />
          </>
        )}
      </p>
      {toolbox.grants.map((grant) => (
        <GrantSection
          key={grant.arrow}
          grant={grant}
          tools={tools}
          isNew={toolbox.listed_at !== null && toolbox.unseen.includes(grant.arrow)}
        />
      ))}
    </div>
  );
}

interface GrantSectionProps {
  readonly grant: Grant;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly isNew: boolean;
}

function GrantSection({ grant, tools, isNew }: GrantSectionProps) {
  const text = useText();
  const select = useSelection((state) => state.select);
  const here = useBoard((state) => state.workspace?.id);
  return (
    <section className="granted-arrow" aria-label={grant.title}>
      <header>
        <h3>{grant.title}</h3>
        {grant.workspace === here ? null : <Badge>{grant.workspace_name}</Badge>}
        {isNew ? <Badge tone="warn">{text("agents.not_seen")}</Badge> : null}
        {grant.workspace === here ? (
          <button
            type="button"
            className="granted-link"
            onClick={() => select({ kind: "arrow", id: grant.arrow })}
            aria-label={text("agents.show_arrow_to", { title: grant.title })}
          >
            {text("agents.show_arrow")}
          </button>
        ) : null}
      </header>
      {grant.tools.length === 0 ? <p className="granted-none">{text("agents.arrow_without_tools")}</p> : null}
      <ul>
        {grant.tools.map((name) => (
          <ToolLine key={name} name={name} tool={tools.get(name)} />
        ))}
      </ul>
    </section>
  );
}

function ToolLine({ name, tool }: { readonly name: string; readonly tool: Tool | undefined }) {
  const text = useText();
  return (
    <li>
      <code>{name}</code>
      {tool?.read_only ? <Badge tone="info">{text("agents.read_only")}</Badge> : null}
      {tool?.description ? <p>{tool.description}</p> : null}
    </li>
  );
}
