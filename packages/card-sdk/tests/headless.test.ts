/** What of a card's entry runs without a page; the whole way to a host is walked by tests/card_sdk of the repository. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { scriptsOf } from "../src/headless-entry.js";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "card-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function scripts(html: string): Promise<readonly string[]> {
  const page = join(folder, "index.html");
  writeFileSync(page, html);
  return (await scriptsOf(page)).map((script) => fileURLToPath(script).slice(folder.length + 1));
}

test.each([
  ['<script type="module" src="./dist/main.js"></script>', ["dist/main.js"]],
  ['<script type="module" crossorigin src="/assets/index-Bx1.js"></script>', ["assets/index-Bx1.js"]],
  ["<SCRIPT SRC='a.js?v=1' TYPE=module></SCRIPT><script src=b.js type=module>\n</script>", ["a.js", "b.js"]],
  ['<!-- <script type="module" src="old.js"></script> --><script src="x.js"></script>' +
    '<script type="module" data-src="no.js" src="new.js"></script>', ["new.js"]],
])("the module scripts of a page are found: %s", async (html, found) => {
  expect(await scripts(html)).toEqual(found);
});

test.each([
  ["<p>nothing</p>", "there is nothing to run"],
  ['<script type="module">import "./a.js"</script>', "put it in a file of its own"],
  ['<script type="module" src="//cdn.example/a.js"></script>', "is not a file of the card"],
  ['<script type="module" src="https://cdn.example/a.js"></script>', "is not a file of the card"],
])("a page that cannot be run is refused in words: %s", async (html, words) => {
  await expect(scripts(html)).rejects.toThrow(words);
});

test("a script is run as it is", async () => {
  expect((await scriptsOf(join(folder, "main.js"))).map((script) => fileURLToPath(script))).toEqual([join(folder, "main.js")]);
});
