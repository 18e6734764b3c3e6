import { card, isCardSdkError, toolError } from "@toolwire/card-sdk";

card.tools.handle<{ area: "docs" | "code" }>("run_checks", async ({ area }, call) => {
  const terminal = (await card.agents.list()).find((peer) => peer.kind === "shell" && peer.connected);
  if (!terminal) return toolError("Ask the user to connect a terminal to the Release desk card.");

  call.progress(`checking the ${area}`);
  const ran = await card.terminals.run(terminal.id, `make check-${area}`, { timeoutMs: 110_000 });
  if (ran.timedOut) return toolError("The checks did not end in time; the terminal shows how far they came.");
  return ran.exitCode === 0 ? "All checks passed" : ran.output.slice(-4_000);
});

card.tools.handle("drop_notes", async (_args, call) => {
  const notes = (await card.storage.get<string[]>("notes")) ?? [];
  const asked = { title: `Delete ${notes.length} notes?`, message: `${call.agent.name} wants to.`, tone: "danger", call } as const;
  if (!(await card.ui.confirm(asked))) return toolError("The user did not agree. Leave the notes as they are.");

  try {
    await card.storage.delete("notes");
  } catch (error) {
    if (isCardSdkError(error, "unavailable")) return toolError("The notes cannot be changed now. Try again later.");
    throw error; // its message reaches the agent, and the card's log
  }
  void card.log.info(`${call.agent.name} deleted ${notes.length} notes`);
  return { deleted: notes.length };
});
