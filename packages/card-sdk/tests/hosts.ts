/** Hosts for tests that are closed when the test is over. */

import type { Card } from "@toolwire/card-sdk";
import type { MockHost, MockHostOptions } from "@toolwire/card-sdk/testing";
import { createMockHost } from "@toolwire/card-sdk/testing";
import { onTestFinished } from "vitest";
import { manifest } from "./manifest.js";

export function hostOf(options: Partial<MockHostOptions> = {}): MockHost {
  const host = createMockHost({ manifest, ...options });
  onTestFinished(() => host.close());
  return host;
}

/** A host and a card on it. */
export async function connected(options: Partial<MockHostOptions> = {}): Promise<[MockHost, Card]> {
  const host = hostOf(options);
  return [host, await host.connect()];
}

/** The text of the only part of a result. */
export async function textOf(called: ReturnType<MockHost["callTool"]>): Promise<string> {
  const { content } = await called;
  const [part] = content;
  if (content.length !== 1 || part?.type !== "text") throw new Error(`no single text: ${JSON.stringify(content)}`);
  return part.text;
}

/** What the card has asked by one method. */
export function asked(host: MockHost, method: string): ReadonlyArray<unknown> {
  return host.calls.filter((request) => request.method === method).map(({ params }) => params);
}
