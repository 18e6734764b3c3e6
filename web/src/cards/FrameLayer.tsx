/**
 * The frames of all cards, in one layer that moves with the board: they stay where they are in the document while cards
 * are dragged, selected and drawn anew, because a frame that is moved there loads its page again.
 */

import { useOnViewportChange, useStore, useStoreApi, ViewportPortal } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Card } from "../board/model.ts";
import { useBoard } from "../board/store.ts";
import { useView } from "../canvas/view.ts";
import { useText } from "../i18n/text.ts";
import { Button } from "../ui/Button.tsx";
import { useBodies } from "./bodies.ts";
import { CardFrame } from "./CardFrame.tsx";
import "./frame-layer.css";
import { AWAKE_MS, changeLife, isFramed, meetCards, sleepCards, startCard, useLiving } from "./living.ts";
import { type CardPackage, readPackages, usePackages } from "./packages.ts";
import { overlaps, plan } from "./sleep.ts";
import { useShield } from "./useShield.ts";

const LOOK_MS = 1_000;
/** How far behind the time until which a card stays awake may be: it is not written down each time. */
const SLACK_MS = 5_000;

export function FrameLayer() {
  const layer = useRef<HTMLDivElement>(null);
  const cards = useBoard((state) => state.board.cards);
  const packages = usePackages((state) => state.all);
  const isWiring = useView((state) => state.wiringFrom !== undefined);
  useShield(layer);
  useEffect(() => void readPackages(), []);
  const paged = useMemo(() => pagedCards(cards, packages), [cards, packages]);
  useEffect(() => {
    if (packages !== undefined) meetCards(paged);
  }, [paged, packages]);
  useLooks(paged);
  const framed = useLiving(useShallow(({ cards: living }) => Object.keys(living).filter((id) => isFramed(living[id]))));
  const order = useOrder(framed);
  return (
    <ViewportPortal>
      <div ref={layer} className="frame-layer" data-wiring={isWiring}>
        {order.map((id) => (
          <FramePlace key={id} card={paged.get(id)} />
        ))}
      </div>
    </ViewportPortal>
  );
}

interface PagedCard {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly package: CardPackage;
  readonly address: string;
}

/** The cards of a board that have a page. */
function pagedCards(
  cards: Readonly<Record<string, Card>>,
  packages: ReadonlyMap<string, CardPackage> | undefined,
): ReadonlyMap<string, PagedCard> {
  const found = new Map<string, PagedCard>();
  for (const { id, title, state, package: packageId } of Object.values(cards)) {
    const known = packageId ? packages?.get(packageId) : undefined;
    if (known?.frame) found.set(id, { id, title, state, package: known, address: known.frame });
  }
  return found;
}

/** Look again and again at what is in sight, and have cards start and sleep accordingly. */
function useLooks(paged: ReadonlyMap<string, PagedCard>): void {
  const flow = useStoreApi();
  const latest = useRef(paged);
  latest.current = paged;
  const look = useCallback(() => {
    const now = performance.now();
    const seen = inSight(flow.getState(), latest.current);
    const { cards } = useLiving.getState();
    for (const id of seen) {
      const living = cards[id];
      if (isFramed(living) && (living?.wantedUntil ?? 0) < now + AWAKE_MS - SLACK_MS) {
        changeLife(id, { wantedUntil: now + AWAKE_MS });
      }
    }
    const { start, sleep } = plan(useLiving.getState().cards, seen, now);
    sleepCards(sleep);
    start.forEach(startCard);
  }, [flow]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new on the board is looked at without delay
  useEffect(look, [look, paged]);
  useOnViewportChange({ onEnd: look });
  useEffect(() => {
    const timer = window.setInterval(look, LOOK_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [look]);
}

type FlowState = ReturnType<ReturnType<typeof useStoreApi>["getState"]>;

function inSight(
  { transform: [left, top, zoom], width, height, nodeLookup, domNode }: FlowState,
  paged: ReadonlyMap<string, PagedCard>,
): ReadonlySet<string> {
  const seen = new Set<string>();
  if (document.visibilityState !== "visible" || !domNode?.checkVisibility()) return seen;
  const window_ = { x: -left / zoom, y: -top / zoom, width: width / zoom, height: height / zoom };
  for (const id of paged.keys()) {
    const node = nodeLookup.get(id);
    if (node === undefined) continue;
    const size = { width: node.measured.width ?? node.width ?? 0, height: node.measured.height ?? node.height ?? 0 };
    if (overlaps({ ...node.internals.positionAbsolute, ...size }, window_)) seen.add(id);
  }
  return seen;
}

/** What is there in the order in which it came: what stays does not change its place among the others. */
function useOrder(ids: readonly string[]): readonly string[] {
  const order = useRef<readonly string[]>([]);
  const kept = order.current.filter((id) => ids.includes(id));
  order.current = [...kept, ...ids.filter((id) => !kept.includes(id))];
  return order.current;
}

/** A frame where its card is. */
function FramePlace({ card }: { readonly card: PagedCard | undefined }) {
  const id = card?.id ?? "";
  const run = useLiving((state) => state.cards[id]?.run);
  const phase = useLiving((state) => state.cards[id]?.phase);
  const body = useBodies((state) => state.bodies[id]);
  const [x, y, z] = useStore(
    useShallow(({ nodeLookup }) => {
      const node = nodeLookup.get(id);
      return [node?.internals.positionAbsolute.x, node?.internals.positionAbsolute.y, node?.internals.z] as const;
    }),
  );
  if (card === undefined) return null;
  const shown = body !== undefined && x !== undefined && y !== undefined;
  const style = shown
    ? {
        transform: `translate(${x + body.x}px, ${y + body.y}px)`,
        width: body.width,
        height: body.height,
        zIndex: z ?? 0,
      }
    : {};
  return (
    <div className={shown ? "frame-place" : "frame-place frame-unplaced"} style={style}>
      <CardFrame
        key={`${run}:${card.address}`}
        card={id}
        title={card.title}
        package={card.package.package}
        address={card.address}
        hasTools={card.package.tools.length > 0}
      />
      {phase === "lost" || phase === "stuck" ? <FrameNote card={id} phase={phase} /> : null}
    </div>
  );
}

/** What is wrong with a card whose page is there all the same. */
function FrameNote({ card, phase }: { readonly card: string; readonly phase: "lost" | "stuck" }) {
  const text = useText();
  return (
    <p className="frame-note" role="status">
      {text(`cards.${phase}`)}
      {phase === "stuck" ? (
        <Button small onClick={() => startCard(card)}>
          {text("cards.reload")}
        </Button>
      ) : null}
    </p>
  );
}
