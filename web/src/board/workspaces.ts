/** The owner's workspaces: their list, and which one is opened next time. */

import { create } from "zustand";
import { ApiError, api, ask, type Schemas } from "../api/client.ts";
import { text } from "../i18n/text.ts";
import { useBoard } from "./store.ts";

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

/** Let agents use what is in a workspace, or not. */
export async function setWorkspaceOpen(id: string, open: boolean): Promise<void> {
  const path = { params: { path: { w: id } } };
  const summary = await (open
    ? ask(api.POST("/api/v1/workspaces/{w}/open", path))
    : ask(api.POST("/api/v1/workspaces/{w}/close", path)));
  if (useBoard.getState().workspace?.id === id) useBoard.setState({ workspace: summary });
  await readWorkspaces();
}

export async function removeWorkspace(id: string): Promise<void> {
  await ask(api.DELETE("/api/v1/workspaces/{w}", { params: { path: { w: id } } }));
  await readWorkspaces();
}

/** Give the user a file with a workspace in it; it holds no keys. */
export async function exportWorkspace({ id, name }: Schemas["WorkspaceSummary"]): Promise<void> {
  const exported = await ask(api.GET("/api/v1/workspaces/{w}/export", { params: { path: { w: id } } }));
  const url = URL.createObjectURL(new Blob([JSON.stringify(exported, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, "-") || "workspace"}.json`;
  link.click();
  URL.revokeObjectURL(url);
}

/** Make a workspace out of such a file. */
export async function importWorkspace(file: File): Promise<Schemas["WorkspaceSummary"]> {
  const body = readExport(await file.text());
  const made = await ask(api.POST("/api/v1/workspaces", { body }));
  await readWorkspaces();
  return made;
}

function readExport(content: string): Schemas["NewWorkspace"] {
  try {
    const read = JSON.parse(content) as Schemas["NewWorkspace"] | null;
    if (typeof read?.name === "string") return read;
  } catch {
    // it is no JSON at all: the same answer
  }
  throw new ApiError("invalid_file", text("workspace.import.not_one"));
}

/** The workspace to show first: the last one that was open here, or else the first; `undefined` where there is none. */
export function firstShown(all: readonly Schemas["WorkspaceSummary"][]): string | undefined {
  const kept = localStorage.getItem(KEPT_AS);
  return (all.find((one) => one.id === kept) ?? all[0])?.id;
}

/** The last workspace that was open here; it may be gone. */
export function lastShown(): string | undefined {
  return localStorage.getItem(KEPT_AS) ?? undefined;
}

export function keepShown(id: string): void {
  localStorage.setItem(KEPT_AS, id);
}
