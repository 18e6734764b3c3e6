/** What the user has set for a card, as its author reads and changes it (cards.md §3, `card.settings`). */

import type { MockManifest } from "@toolwire/card-sdk/testing";
import { createMockHost } from "@toolwire/card-sdk/testing";
import { expect, test } from "vitest";
import { manifest as radar, settle } from "./manifest.js";

const manifest = {
  ...radar,
  settings: [
    { key: "greeting", type: "string", label: "Greeting", default: "hi", maxLength: 5 },
    { key: "every", type: "number", label: "Every", min: 5, required: true },
    { key: "paint", type: "color", label: "Paint", scope: "package" },
    { key: "token", type: "secret", label: "Token" },
  ],
} satisfies MockManifest;

const two = [
  { id: "crd_1", name: "a" },
  { id: "crd_2", name: "b" },
];

test("values are there once the card is connected, and of secrets whether they are set", async () => {
  const host = createMockHost({ manifest, settings: { every: 15, token: "hush" } });
  const card = await host.connect();
  expect(card.settings.values()).toEqual({ greeting: "hi", every: 15 });
  expect(card.settings.value<number>("every")).toBe(15);
  expect([card.settings.hasSecret("token"), card.settings.value("token")]).toEqual([true, undefined]);
  host.close();
});

test("a change is told with all values and the copy, for as long as somebody listens", async () => {
  const host = createMockHost({ manifest, cards: two });
  const card = await host.connect();
  const heard: unknown[] = [];
  const stop = card.settings.onChange((values, copy) => heard.push([copy, values]));
  host.setSetting("greeting", "hey", "crd_2");
  host.setSetting("paint", "#00ff00");
  await settle();
  stop();
  host.setSetting("greeting", null, "crd_2");
  await settle();
  expect(heard).toEqual([
    ["crd_2", { greeting: "hey" }],
    ["crd_1", { greeting: "hi", paint: "#00ff00" }],
    ["crd_2", { greeting: "hey", paint: "#00ff00" }],
  ]);
  expect(card.settings.value("greeting", { card: "crd_2" })).toBe("hi");
  expect(() => card.settings.value("greeting")).toThrow("which copy");
  host.close();
});

test("a card sets what fits and is no secret", async () => {
  const host = createMockHost({ manifest });
  const card = await host.connect();
  await card.settings.set("greeting", "hey");
  expect(card.settings.value("greeting")).toBe("hey");
  await card.settings.set("greeting", null);
  expect(card.settings.value("greeting")).toBe("hi");
  await expect(card.settings.set("greeting", "too long")).rejects.toMatchObject({ code: "invalid_param" });
  await expect(card.settings.set("every", 4)).rejects.toThrow("at least 5");
  await expect(card.settings.set("every", null)).rejects.toThrow("required");
  await expect(card.settings.set("paint", "green")).rejects.toThrow("no value of a color");
  await expect(card.settings.set("other", 1)).rejects.toThrow("no setting");
  await expect(card.settings.set("token", "mine")).rejects.toMatchObject({ code: "permission_denied" });
  host.close();
});

test("a card that is connected anew hears what has changed meanwhile", async () => {
  const host = createMockHost({ manifest });
  const card = await host.connect();
  const heard: unknown[] = [];
  card.settings.onChange((values) => heard.push(values["greeting"]));
  host.close();
  host.setSetting("greeting", "hey");
  await host.connect({ card });
  expect(heard).toEqual(["hey"]);
  host.close();
});
