/** What a user does with a terminal beside typing; refusals become messages. */

import { api, ask, messageOf } from "../api/client.ts";
import { showToast } from "../ui/toasts.ts";
import { noteTerminal } from "./store.ts";

/** Start the shell of a terminal anew, or the program of an agent's card. */
export async function startTerminal(card: string): Promise<void> {
  try {
    const { status } = await ask(api.POST("/api/v1/terminals/{c}/start", { params: { path: { c: card } } }));
    noteTerminal(card, { status, exitCode: null });
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}

export async function endTerminal(card: string): Promise<void> {
  await ask(api.POST("/api/v1/terminals/{c}/kill", { params: { path: { c: card } } }));
}
