/** The card's code: it answers the tools that toolwire-card.json declares. */

import { card, toolError } from "@toolwire/card-sdk";

card.tools.handle<{ text: string }>("count_words", async ({ text }, call) => {
  call.progress("counting the words"); // shown on the arrow
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return toolError("The text has no words, only spaces. Send one that has some.");
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
  show(`${call.agent.name} sent ${words.length} words`);
  return { words: words.length, longest };
});

function show(line: string): void {
  // Without a page, as in `toolwire card dev`, there is nobody to show it to.
  const last = typeof document === "undefined" ? null : document.getElementById("last");
  if (last !== null) last.textContent = line;
}
