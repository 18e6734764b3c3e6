/** Installing, updating, placing and removing packages: what the windows do, and what they say about it. */

import { api, ask } from "../api/client.ts";
import { add } from "../board/adding.ts";
import { useBoard } from "../board/store.ts";
import { chooseOnly } from "../canvas/commands.ts";
import { placeForNew } from "../canvas/place.ts";
import { text } from "../i18n/text.ts";
import { showToast } from "../ui/toasts.ts";
import { closeCards, openCards, useCardDialogs } from "./dialogs.ts";
import { type CardPackage, readPackages } from "./packages.ts";

/** Have the host fetch a package and look at it; what needs consent is shown, and nothing of it runs before. */
export async function offer(source: string): Promise<CardPackage> {
  const offered = await ask(api.POST("/api/v1/card-packages", { body: { source } }));
  await readPackages();
  return offered;
}

/** The same with an archive of the user's own machine. */
export async function upload(archive: File): Promise<CardPackage> {
  const answered = api.POST("/api/v1/card-packages/uploads", {
    params: { query: { filename: archive.name } },
    body: archive as unknown as string, // which is how the document names bytes
    bodySerializer: (body) => body as unknown as File,
    headers: { "content-type": "application/octet-stream" },
  });
  const offered = await ask(answered);
  await readPackages();
  return offered;
}

/** Whether its source can be asked for an update; an upload has none. */
export function hasSource({ source }: CardPackage): boolean {
  return !source.startsWith("upload:");
}

/** Go on with what was offered: ask for consent, or put what is installed already on the board. */
export async function goOn(offered: CardPackage): Promise<void> {
  if (offered.status === "consent_required") openCards({ view: "consent", package: offered });
  else await place(offered);
}

/** Fetch it again where it came from. */
export async function update(known: CardPackage): Promise<void> {
  const offered = await offer(sourceOf(known));
  const names = { name: offered.display_name, version: offered.version };
  if (offered.status === "consent_required") openCards({ view: "consent", package: offered });
  else if (offered.accepted_version === known.accepted_version && offered.digest === known.digest) {
    showToast({ tone: "info", text: text("cards.current", names) });
  } else showToast({ tone: "ok", text: text("cards.updated", names) });
}

/** The user's answer; a new package that was accepted is put on the board that is open. */
export async function consent(offered: CardPackage, accept: boolean): Promise<void> {
  const path = { package: offered.package };
  const body = { digest: offered.digest, accept };
  await ask(api.POST("/api/v1/card-packages/{package}/consent", { params: { path }, body }));
  await readPackages();
  if (!accept) return closeCards();
  const isNew = offered.accepted_version === null;
  const names = { name: offered.display_name, version: offered.version };
  showToast({ tone: "ok", text: text(isNew ? "cards.installed" : "cards.updated", names) });
  if (isNew && useBoard.getState().workspace !== undefined) await place(offered);
  else closeCards();
}

/** Put a copy on the board that is open. */
export async function place(known: CardPackage): Promise<void> {
  const at = useCardDialogs.getState().place ?? placeForNew("card");
  closeCards();
  const made = await add({ kind: "card", package: known.package, title: known.display_name }, at);
  if (made !== undefined) chooseOnly([made]);
}

/** Remove a package and its copies. */
export async function remove(known: CardPackage): Promise<void> {
  const params = { path: { package: known.package }, query: { force: "true" as const } };
  await ask(api.DELETE("/api/v1/card-packages/{package}", { params }));
  await readPackages();
  showToast({ tone: "info", text: text("cards.removed", { name: known.display_name }) });
}

/** A source as people write it, from the one that the host shows: `kind:place#folder`. */
export function sourceOf({ source }: CardPackage): string {
  return source.slice(source.indexOf(":") + 1);
}
