/** What of a card's entry is run without a page: the module scripts of an HTML file, or a script itself. */

import { readFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SCRIPT = /<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi;
const COMMENT = /<!--[\s\S]*?-->/g;

/**
 * The addresses of the scripts that a card's entry has, in their order.
 *
 * @throws Error if it has none that can be run.
 */
export async function scriptsOf(entry: string): Promise<readonly URL[]> {
  const path = resolve(entry);
  if (![".html", ".htm"].includes(extname(path).toLowerCase())) return [pathToFileURL(path)];
  const found: URL[] = [];
  for (const [, attributes = "", body = ""] of (await readFile(path, "utf8")).replace(COMMENT, "").matchAll(SCRIPT)) {
    if (attribute(attributes, "type")?.toLowerCase() !== "module") continue;
    const source = attribute(attributes, "src");
    if (source !== undefined) found.push(placeOf(source, path));
    else if (body.trim() !== "") throw new Error(`${entry} has a module script in its text; put it in a file of its own`);
  }
  if (found.length === 0) throw new Error(`${entry} has no <script type="module" src="…">, so there is nothing to run`);
  return found;
}

function placeOf(source: string, page: string): URL {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(source)) {
    throw new Error(`the script ${source} is not a file of the card; a card brings all that it runs`);
  }
  const path = source.replace(/[?#].*$/, "");
  return pathToFileURL(join(dirname(page), path)); // a leading slash is the card's root, where its page is
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, "i").exec(attributes);
  return found ? (found[1] ?? found[2] ?? found[3]) : undefined;
}
