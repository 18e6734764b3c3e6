/** How a client of others becomes this agent: the address of its toolbox, a key made on request, and what to write where. */

import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useNewAgents } from "../board/adding.ts";
import type { Card } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Button } from "../ui/Button.tsx";
import { Copyable } from "../ui/Copyable.tsx";
import { SelectField } from "../ui/Field.tsx";

const KEY_NAME = "canvas page";

export function Connect({ card }: { readonly card: Card }) {
  const workspace = useBoard((state) => state.workspace?.id ?? "");
  const path = { params: { path: { w: workspace, c: card.id } } };
  const asked = useAsked(`clients/${card.id}`, async () => ({
    toolbox: await ask(api.GET("/api/v1/workspaces/{w}/cards/{c}/toolbox", path)),
    setups: await ask(api.GET("/api/v1/workspaces/{w}/cards/{c}/toolbox/clients", path)),
  }));
  return (
    <AskedView asked={asked}>
      {({ toolbox, setups }) => (
        <Ways agent={toolbox.agent_id} address={toolbox.toolbox_url} setups={setups} title={card.title} />
      )}
    </AskedView>
  );
}

interface WaysProps {
  readonly agent: string;
  readonly address: string;
  readonly title: string;
  readonly setups: Schemas["ClientSetups"];
}

function Ways({ agent, address, title, setups }: WaysProps) {
  const text = useText();
  const [key, setKey] = useState<string | undefined>(useNewAgents.getState().keys[agent]);
  const [chosen, setChosen] = useState(setups.clients[0]?.client ?? "");
  const setup = setups.clients.find((one) => one.client === chosen);
  return (
    <div className="connect">
      <section>
        <h3>{text("agents.address")}</h3>
        <Copyable label={text("agents.address")} value={address} />
        <p>{text("agents.address.hint")}</p>
      </section>
      <section>
        <h3>{text("agents.key")}</h3>
        <NewKey agent={agent} made={key} onMade={setKey} />
      </section>
      <section>
        <SelectField label={text("agents.client")} value={chosen} onChange={(event) => setChosen(event.target.value)}>
          {setups.clients.map((one) => (
            <option key={one.client} value={one.client}>
              {one.title}
            </option>
          ))}
        </SelectField>
        {setup ? (
          <>
            <p>{text("agents.put_into", { file: setup.file })}</p>
            <Copyable
              block
              label={text("agents.setup_for", { client: setup.title })}
              value={key === undefined ? setup.text : setup.text.replaceAll(setups.key_place, key)}
            />
            {key === undefined ? <p>{text("agents.key_place", { place: setups.key_place })}</p> : null}
            <p>{text("agents.by_command")}</p>
            <Copyable
              label={text("agents.by_command")}
              value={`toolwire connect ${setup.client} --agent ${quoted(title, agent)} --write`}
            />
          </>
        ) : null}
      </section>
    </div>
  );
}

interface NewKeyProps {
  readonly agent: string;
  readonly made: string | undefined;
  readonly onMade: (key: string) => void;
}

function NewKey({ agent, made, onMade }: NewKeyProps) {
  const text = useText();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const make = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { kind: "agk" as const, agent_id: agent, name: KEY_NAME };
      onMade((await ask(api.POST("/api/v1/keys", { body }))).key);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  if (made !== undefined) {
    return (
      <>
        <Copyable label={text("agents.key")} value={made} />
        <p className="connect-once">{text("agents.key.once")}</p>
      </>
    );
  }
  return (
    <>
      <p>{text("agents.key.hint")}</p>
      <Button icon={KeyRound} busy={busy} onClick={() => void make()}>
        {text("agents.key.make")}
      </Button>
      {problem ? (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      ) : null}
    </>
  );
}

/** The agent for a command line: its name where that is a plain word, else its id. */
function quoted(title: string, agent: string): string {
  return /^[\w.-]+$/.test(title) ? title : agent;
}
