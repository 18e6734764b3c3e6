/** What a user does about the calls of an arrow: reads one in full, makes one, ends one. */

import { api, ask, messageOf, type Schemas } from "../api/client.ts";
import { here } from "../board/store.ts";
import type { Json } from "../ui/JsonTree.tsx";
import { showToast } from "../ui/toasts.ts";

export type WholeCall = Schemas["WholeArrowCall"];
export type ArrowTool = Schemas["ArrowTool"];
export type ArrowCall = Schemas["ArrowCall"];

/** Stands for who made a call that no agent made. */
export const OWNER = "owner";

function at(arrow: string): { readonly w: string; readonly a: string } {
  return { w: here(), a: arrow };
}

/** The latest calls of an arrow, the oldest first; those before one of them. */
export async function readLog(arrow: string, before?: string): Promise<readonly ArrowCall[]> {
  const query = before === undefined ? { limit: PAGE } : { limit: PAGE, before };
  const params = { path: at(arrow), query };
  return (await ask(api.GET("/api/v1/workspaces/{w}/arrows/{a}/log", { params }))).calls;
}

/** How many calls are read at a time. */
export const PAGE = 30;

export async function readCall(arrow: string, call: string): Promise<WholeCall> {
  const params = { path: { ...at(arrow), call } };
  return await ask(api.GET("/api/v1/workspaces/{w}/arrows/{a}/log/{call}", { params }));
}

/** What an arrow lets through; in the place of an agent, where it joins two. */
export async function readTools(arrow: string, agent: string | undefined): Promise<readonly ArrowTool[]> {
  const params = { path: at(arrow), query: agent === undefined ? {} : { agent } };
  return (await ask(api.GET("/api/v1/workspaces/{w}/arrows/{a}/tools", { params }))).tools;
}

/** Make a call; gives back its id. */
export async function makeCall(
  arrow: string,
  tool: string,
  given: Readonly<Record<string, Json>>,
  agent: string | undefined,
): Promise<string> {
  const body = { tool, arguments: given as Record<string, unknown>, ...(agent === undefined ? {} : { agent }) };
  const made = ask(api.POST("/api/v1/workspaces/{w}/arrows/{a}/calls", { params: { path: at(arrow) }, body }));
  return (await made).call_id;
}

export async function cancelCall(arrow: string, call: string): Promise<void> {
  const params = { path: { ...at(arrow), call } };
  try {
    await ask(api.POST("/api/v1/workspaces/{w}/arrows/{a}/calls/{call}/cancel", { params }));
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}
