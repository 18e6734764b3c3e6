import { card } from "@toolwire/card-sdk";
import { createMockHost } from "@toolwire/card-sdk/testing";
import { expect, test } from "vitest";
import manifest from "./toolwire-card.json" with { type: "json" };
import "./main.js"; // registers the handlers

test("the checks run in the connected terminal", async () => {
  const host = createMockHost({
    manifest,
    agents: [{ id: "t1", name: "shell", kind: "shell" }],
    run: ({ command }) => ({ exitCode: 2, output: `${command} failed` }),
  });
  await host.connect({ card });

  const called = host.callTool("run_checks", { area: "docs" }, { agent: "claude" });

  expect(await called).toEqual({ content: [{ type: "text", text: "make check-docs failed" }] });
  expect(host.progress).toEqual([{ callId: called.callId, message: "checking the docs" }]);
  await expect(host.callTool("run_checks", { area: "shop" })).rejects.toThrow("do not fit its inputSchema");
});

test("notes are deleted with the user's leave alone", async () => {
  const host = createMockHost({ manifest, confirm: false, storage: { instance: { notes: ["faster", "smaller"] } } });
  await host.connect({ card });

  expect((await host.callTool("drop_notes")).isError).toBe(true);
  expect(host.storage.instance.has("notes")).toBe(true);

  host.setConfirm(({ title }) => title === "Delete 2 notes?");
  expect(await host.callTool("drop_notes", {}, { agent: "claude" })).toMatchObject({ content: [{ text: expect.stringContaining("2") }] });
  expect(host.storage.instance.has("notes")).toBe(false);
  expect(host.logs.map((line) => line.text)).toEqual(["claude deleted 2 notes"]);
});
