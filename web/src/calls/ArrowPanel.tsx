/** What an arrow grants, and the log of its calls. */

import { ListTree } from "lucide-react";
import type { Arrow } from "../board/model.ts";
import { useText } from "../i18n/text.ts";
import { Empty } from "../ui/Empty.tsx";
import { useCalls } from "./store.ts";

export function ArrowPanel({ arrow }: { readonly arrow: Arrow }) {
  const text = useText();
  const calls = useCalls((state) => state.arrows[arrow.id]);
  if (calls === undefined) return <Empty icon={ListTree} title={text("calls.none")} />;
  return null;
}
