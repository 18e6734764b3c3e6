/** The agents that the owner sees, for pages that let one be chosen. */

import { api, ask, type Schemas } from "../api/client.ts";

export type Agent = Schemas["Agent"];

export async function readAgents(): Promise<readonly Agent[]> {
  return ask(api.GET("/api/v1/agents"));
}

export async function readAgent(id: string): Promise<Agent> {
  return ask(api.GET("/api/v1/agents/{agent}", { params: { path: { agent: id } } }));
}
