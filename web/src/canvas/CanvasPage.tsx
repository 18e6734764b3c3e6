/** The page of one workspace: its bar, its board, and the details of what is selected. */

import { useEffect } from "react";
import { AskingBar } from "../agents/AskingBar.tsx";
import { messageOf } from "../api/client.ts";
import { go } from "../app/routes.ts";
import { openWorkspace, useBoard } from "../board/store.ts";
import { firstShown, keepShown, makeWorkspace, readWorkspaces, setWorkspaceOpen } from "../board/workspaces.ts";
import { CallsPanel } from "../calls/CallsPanel.tsx";
import { ExampleBar } from "../calls/ExampleBar.tsx";
import { useText, text as words } from "../i18n/text.ts";
import { LargeTerminal } from "../terminals/LargeTerminal.tsx";
import { Button } from "../ui/Button.tsx";
import { Failed, Waiting } from "../ui/Empty.tsx";
import { showToast } from "../ui/toasts.ts";
import { BoardBar } from "./BoardBar.tsx";
import { BoardView } from "./BoardView.tsx";
import "./canvas-page.css";
import { Inspector } from "./Inspector.tsx";

export function CanvasPage({ workspace }: { readonly workspace: string | undefined }) {
  useEffect(() => {
    if (workspace === undefined) void showFirst();
  }, [workspace]);
  if (workspace === undefined) return <Loading />;
  return <OpenWorkspace key={workspace} id={workspace} />;
}

function OpenWorkspace({ id }: { readonly id: string }) {
  const text = useText();
  const workspace = useBoard((state) => state.workspace);
  const problem = useBoard((state) => state.problem);
  const feed = useBoard((state) => state.feed);
  useEffect(() => {
    keepShown(id);
    void readWorkspaces();
    return openWorkspace(id);
  }, [id]);
  if (problem) {
    const again = <Button onClick={() => go({ page: "canvas", workspace: undefined })}>{text("app.to_canvas")}</Button>;
    return <Failed message={problem.message} again={again} />;
  }
  if (workspace === undefined) return <Loading />;
  return (
    <div className="canvas-page">
      <BoardBar />
      {feed === "lost" ? (
        <p className="canvas-notice" role="status">
          {text("app.lost")}
        </p>
      ) : null}
      {workspace.open ? null : <Closed id={workspace.id} />}
      <AskingBar />
      <div className="canvas-middle">
        <BoardView />
        <ExampleBar />
        <Inspector />
      </div>
      <CallsPanel />
      <LargeTerminal />
    </div>
  );
}

/** Says that agents cannot use what is here. */
function Closed({ id }: { readonly id: string }) {
  const text = useText();
  const open = async (): Promise<void> => {
    try {
      await setWorkspaceOpen(id, true);
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    }
  };
  return (
    <div className="canvas-notice" role="status">
      <span>{text("workspace.closed")}</span>
      <Button small onClick={() => void open()}>
        {text("workspace.open")}
      </Button>
    </div>
  );
}

function Loading() {
  const text = useText();
  return <Waiting label={text("app.loading")} />;
}

/** Go to the workspace that was open last; where there is none, make one. */
async function showFirst(): Promise<void> {
  try {
    const first = firstShown(await readWorkspaces()) ?? (await makeWorkspace(words("workspace.untitled"))).id;
    go({ page: "canvas", workspace: first }, true);
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}
