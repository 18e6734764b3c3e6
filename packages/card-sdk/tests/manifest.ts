/** The manifest of the card that the tests are about. */

import type { MockManifest } from "@toolwire/card-sdk/testing";

export const manifest = {
  name: "test-radar",
  displayName: "Test radar",
  version: "1.0.0",
  permissions: ["agents.read", "terminals.write", { id: "clipboard.write", optional: true }],
  tools: [
    {
      name: "run_tests",
      description: "Runs the project's tests.",
      inputSchema: { type: "object", properties: { filter: { type: "string", maxLength: 200 } } },
      timeoutMs: 120000,
    },
    { name: "read_scratchpad", description: "Reads the scratchpad.", inputSchema: { type: "object" } },
  ],
} satisfies MockManifest;

/** Let messages that are on their way arrive. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((done) => setImmediate(done));
}
