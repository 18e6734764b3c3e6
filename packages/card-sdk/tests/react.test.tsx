// @vitest-environment jsdom
/** React: tools live as long as their component, with the latest closure (cards.md 69-71, decision 23). */

import type { Card } from "@toolwire/card-sdk";
import { card as frameCard } from "@toolwire/card-sdk";
import { CardProvider, useCard, useTool } from "@toolwire/card-sdk/react";
import type { ReactNode } from "react";
import { act, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { asked, connected, hostOf, textOf } from "./hosts.js";
import { settle } from "./manifest.js";
import { Scratchpad } from "./seed/scratchpad.js";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

/** Renders into the page; `show` renders anew, `show(null)` takes all away. */
async function rendered(first: ReactNode): Promise<(next: ReactNode) => Promise<void>> {
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  const show = (next: ReactNode): Promise<void> => act(async () => root.render(next));
  onTestFinished(() => act(() => root.unmount()));
  await show(first);
  return show;
}

const within = (card: Card, children: ReactNode) => <CardProvider card={card}>{children}</CardProvider>;

test("the page's own component answers with the latest text", async () => {
  const [host, card] = await connected();
  const show = await rendered(within(card, <Scratchpad text="" />));
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("(empty)");
  await show(within(card, <Scratchpad text="milk" />));
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("milk");
  expect(document.body.textContent).toContain("milk");
});

test("rendering anew does not register anew", async () => {
  const [, card] = await connected();
  const handle = vi.spyOn(card.tools, "handle");
  const show = await rendered(within(card, <Scratchpad text="a" />));
  for (const text of ["b", "c", "d"]) await show(within(card, <Scratchpad text={text} />));
  expect(handle).toHaveBeenCalledTimes(1);
});

test("a call that waits through renderings gets one answer, of the closure that was there when it began", async () => {
  const [host, card] = await connected();
  let finish: () => void = () => undefined;
  function Slow({ text }: { readonly text: string }) {
    useTool("run_tests", () => new Promise((done) => (finish = () => done(text))));
    return null;
  }
  const show = await rendered(within(card, <Slow text="a" />));
  const called = host.callTool("run_tests");
  await settle();
  await show(within(card, <Slow text="b" />));
  finish();
  expect(await textOf(called)).toBe("a");
  expect(asked(host, "tools.respond")).toHaveLength(1);
});

test("strict mode, which mounts twice, leaves one handler", async () => {
  const [host, card] = await connected();
  const show = await rendered(<StrictMode>{within(card, <Scratchpad text="a" />)}</StrictMode>);
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("a");
  await show(null);
  card.tools.handle("read_scratchpad", () => "free again");
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("free again");
});

test("a component that is gone leaves its tool to the next one, and calls wait for that", async () => {
  const [host, card] = await connected();
  const show = await rendered(within(card, <Scratchpad key="1" text="one" />));
  await show(within(card, <Scratchpad key="2" text="two" />));
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("two");
  await show(within(card, null));
  const called = host.callTool("read_scratchpad");
  await settle();
  await show(within(card, <Scratchpad text="three" />));
  expect(await textOf(called)).toBe("three");
});

test("another name is another tool", async () => {
  const [host, card] = await connected();
  function Named({ name }: { readonly name: string }) {
    useTool(name, () => name);
    return null;
  }
  const show = await rendered(within(card, <Named name="run_tests" />));
  await show(within(card, <Named name="read_scratchpad" />));
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("read_scratchpad");
  card.tools.handle("run_tests", () => "free");
  expect(await textOf(host.callTool("run_tests"))).toBe("free");
});

test("without a provider it is the card of the frame", async () => {
  const host = hostOf();
  await host.connect({ card: frameCard });
  let seen: Card | undefined;
  function Seeing() {
    seen = useCard();
    return <Scratchpad text="frame" />;
  }
  await rendered(<Seeing />);
  expect(seen).toBe(frameCard);
  expect(await textOf(host.callTool("read_scratchpad"))).toBe("frame");
});
