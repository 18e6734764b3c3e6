/** The owner's workspaces: their list, and which one is opened next time. */

import { create } from "zustand";
import { api, ask, type Schemas } from "../api/client.ts";

const KEPT_AS = "toolwire.workspace";

interface WorkspacesState {
  readonly all: readonly Schemas["WorkspaceSummary"][] | undefined;
}

export const useWorkspaces = create<WorkspacesState>()(() => ({ all: undefined }));

export async function readWorkspaces(): Promise<readonly Schemas["WorkspaceSummary"][]> {
  const { workspaces } = await ask(api.GET("/api/v1/workspaces"));
  useWorkspaces.setState({ all: workspaces });
  return workspaces;
}

export async function makeWorkspace(name: string): Promise<Schemas["WorkspaceSummary"]> {
  const made = await ask(api.POST("/api/v1/workspaces", { body: { name } }));
  await readWorkspaces();
  return made;
}

export async function renameWorkspace(id: string, name: string): Promise<void> {
  await ask(api.PATCH("/api/v1/workspaces/{w}", { params: { path: { w: id } }, body: { name } }));
  await readWorkspaces();
}

/** The workspace to show first: the last one that was open here, or else the first; `undefined` where there is none. */
export function firstShown(all: readonly Schemas["WorkspaceSummary"][]): string | undefined {
  const kept = localStorage.getItem(KEPT_AS);
  return (all.find((one) => one.id === kept) ?? all[0])?.id;
}

export function keepShown(id: string): void {
  localStorage.setItem(KEPT_AS, id);
}
