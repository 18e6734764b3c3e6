#!/usr/bin/env node
/**
 * Runs a card's script in Node, without a page: its tools answer, what it would show is shown nowhere.
 *
 *     TOOLWIRE_KEY=oag_… node dist/headless.js --url http://127.0.0.1:8094 --package test-radar --entry dist/index.html
 *
 * There is no DOM: a script that draws must look for `document` first. The card serves all copies of its package.
 */

import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { CardSdkError } from "./errors.js";
import { scriptsOf } from "./headless-entry.js";
import { openFrame } from "./headless-frame.js";
import type { HostAddress } from "./headless-link.js";
import { HostLink } from "./headless-link.js";

export type { HostAddress } from "./headless-link.js";

export interface HeadlessOptions extends HostAddress {
  /** The card's page, whose module scripts run, or one script. */
  readonly entry: string;
  /** The copy to be; all of the package, if it is not said. */
  readonly instance?: string;
  /** Hears how the connection does; stderr, if it is not said. */
  readonly tell?: (line: string) => void;
}

/** Run a card until the host refuses it; rejects with what is wrong then. A process runs one card. */
export async function runHeadless(options: HeadlessOptions): Promise<never> {
  const scripts = await scriptsOf(options.entry);
  const channel = new MessageChannel();
  const page = openFrame(channel.port2, options.instance);
  const link = new HostLink(options, channel.port1, options.tell ?? ((line) => console.error(line)));
  const carried = link.run();
  const started = (async () => {
    for (const script of scripts) await start(script);
    page.connect();
  })();
  await Promise.race([carried, started]);
  return carried;
}

async function start(script: URL): Promise<void> {
  try {
    await import(script.href);
  } catch (error) {
    if (!(error instanceof ReferenceError) || !/\bdocument\b/.test(error.message)) throw error;
    const words = `${script.pathname} needs a DOM, which there is not without a page; look for document before using it`;
    throw new Error(words, { cause: error });
  }
}

const USAGE = "usage: TOOLWIRE_KEY=oag_… headless --url URL --package PACKAGE --entry FILE [--instance CARD] [--key KEY]";

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const options = { url: text, key: text, package: text, entry: text, instance: text };
  const { values } = parseArgs({ options });
  const { url, package: named, entry, instance, key = process.env["TOOLWIRE_KEY"] } = values;
  if (!url || !named || !entry || !key) throw new TypeError(USAGE);
  // What a card leaves unhandled is its author's to read, and no reason to stop answering.
  process.on("unhandledRejection", (reason) => console.error("unhandled:", reason));
  await runHeadless({ url, key, package: named, entry, ...(instance ? { instance } : {}) });
}

function isProgram(): boolean {
  const started = process.argv[1];
  return started !== undefined && import.meta.url === pathToFileURL(realpathSync(started)).href;
}

if (isProgram()) {
  main().catch((error: unknown) => {
    console.error(error instanceof CardSdkError || error instanceof TypeError ? error.message : error);
    process.exit(1);
  });
}
