import { expect, test } from "vitest";
import type { ArrowCall } from "./actions.ts";
import { withoutHidden } from "./rerun.ts";
import type { ShownCall } from "./store.ts";
import { joined } from "./useArrowLog.ts";

const SCHEMA = { type: "object", properties: { token: { type: "string" }, deep: { type: "object" } } };

test("what was kept out of a log is not sent again in its place", () => {
  const sent = { token: "••••••", deep: { "a/b": "••••••", kept: 1 }, card: "card_1" };
  expect(withoutHidden(sent, ["/token", "/deep/a~1b"], SCHEMA)).toEqual({ deep: { kept: 1 } });
});

test("a log has each call once, the newest first, as it was told last", () => {
  const call = (call_id: string, status: string) => ({ call_id, status }) as unknown as ArrowCall & ShownCall;
  const log = joined([call("a", "ok"), call("b", "running")], [call("b", "ok"), call("c", "running")]);
  expect(log.map((one) => `${one.call_id} ${one.status}`)).toEqual(["c running", "b ok", "a ok"]);
  expect(joined([call("a", "ok")], [call("a", "running")]).map((one) => one.status)).toEqual(["ok"]);
});
