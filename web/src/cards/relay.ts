/**
 * Carries what one card and the host say between the frame's port and the host's WebSocket, and connects again when that
 * is lost. What a card says is others' words: it is read as far as the way needs, and held to the size of a message.
 */

import { MAX_MESSAGE_BYTES, PONG_EVENT, REPLACED } from "../../../packages/card-sdk/src/protocol.ts";

const LINK = "/api/v1/cards/link";
const POLICY = 1008;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
const PING_MS = 5_000;
const MOST_UNANSWERED = 3;
const MOST_HELD = 64;
/** The id of `host.ready` at another connection, which no card uses for a request of its own. */
const AGAIN = 0;

/** Who hears how the connection does. */
export interface RelayListener {
  /** The host takes the card. */
  onReady(): void;
  /** The host is away; it is tried again. */
  onLost(): void;
  /** Another window speaks for the card now. */
  onReplaced(): void;
  /** The host does not want the card, and says why. */
  onRefused(why: string): void;
  /** How many calls the card is working on. */
  onCalls(count: number): void;
  /** The card has stopped to answer its page, or does so again. */
  onStuck(isStuck: boolean): void;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly event?: unknown;
  readonly data?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

type Asked = Message & { readonly id: number; readonly method: string };

export class CardRelay {
  private readonly port: MessagePort;
  private readonly address: string;
  private readonly card: string;
  private readonly listener: RelayListener;
  private readonly asked = new Set<number>();
  private readonly calls = new Set<string>();
  private held: Asked[] = [];
  private first: Asked | undefined;
  private socket: WebSocket | undefined;
  private isReady = false;
  private isClosed = false;
  private pause = FIRST_PAUSE_MS;
  private again: number | undefined;
  private readonly pinging: number;
  private unanswered = 0;
  private hasPonged = false;

  constructor(port: MessagePort, about: { readonly package: string; readonly card: string }, listener: RelayListener) {
    this.port = port;
    this.card = about.card;
    this.listener = listener;
    const address = new URL(LINK, window.location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("package", about.package);
    this.address = address.href;
    port.onmessage = ({ data }) => this.fromCard(data as Message | null);
    this.pinging = window.setInterval(() => this.ping(), PING_MS);
  }

  /** End it; the listener hears nothing more. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    window.clearInterval(this.pinging);
    window.clearTimeout(this.again);
    this.port.close();
    this.socket?.close();
  }

  private fromCard(message: Message | null): void {
    if (this.isClosed || typeof message !== "object" || message === null) return;
    if (message.event === PONG_EVENT) this.onPong();
    if (typeof message.id !== "number" || typeof message.method !== "string") return;
    const asked = message as Asked;
    if (asked.method === "host.ready" && this.first === undefined) {
      // Which copy it is for is not the card's to say.
      this.first = { ...asked, params: { ...(asked.params as object | undefined), instance: this.card } };
      this.connect();
    } else if (this.isReady) this.send(asked);
    else if (this.held.length < MOST_HELD) this.held.push(asked);
    else this.refuse(asked.id, "rate_limited", "too much waits for the host; wait until it has answered");
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.onopen = () => this.first && this.send(this.first);
    socket.onmessage = ({ data }) => this.fromHost(JSON.parse(String(data)) as Message);
    socket.onclose = ({ code, reason }) => {
      if (!this.isClosed) this.onClosed(code, reason);
    };
  }

  private send(message: Asked): void {
    const text = textOf(message);
    if (text === undefined) {
      const words = `a message is JSON of at most ${MAX_MESSAGE_BYTES} bytes`;
      this.refuse(message.id, "payload_too_large", words);
      return;
    }
    this.asked.add(message.id);
    if (message.method === "tools.respond") this.endCall((message.params as { callId?: unknown } | undefined)?.callId);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  private fromHost(message: Message): void {
    if (this.isClosed) return;
    if (message.event === "tools.call") this.beginCall((message.data as { callId: string }).callId);
    if (message.event === "tools.cancel") this.endCall((message.data as { callId: string }).callId);
    if (typeof message.id === "number") {
      this.asked.delete(message.id);
      if (message.id === this.first?.id) {
        this.onAnswered(message);
        if (message.id === AGAIN) return;
      }
    }
    this.port.postMessage(message);
  }

  /** The host has answered `host.ready`; at another connection the card is told what may have changed meanwhile. */
  private onAnswered(message: Message): void {
    if (message.error) return; // the host closes the connection next, and says why
    this.isReady = true;
    this.pause = FIRST_PAUSE_MS;
    this.listener.onReady();
    if (message.id === AGAIN) {
      const { cards, settings } = message.result as { readonly cards: unknown; readonly settings?: readonly unknown[] };
      for (const data of settings ?? []) this.port.postMessage({ event: "settings.changed", data });
      this.port.postMessage({ event: "cards.changed", data: { cards } });
    }
    for (const held of this.held.splice(0)) this.send(held);
  }

  private onClosed(code: number, reason: string): void {
    this.socket = undefined;
    this.letGo(reason || "the connection to the host was lost");
    if (code === REPLACED || code === POLICY) {
      this.close();
      if (code === REPLACED) this.listener.onReplaced();
      else this.listener.onRefused(reason);
      return;
    }
    if (this.isReady && this.first) this.first = { ...this.first, id: AGAIN };
    this.isReady = false;
    this.listener.onLost();
    this.again = window.setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE_MS);
  }

  /** The card must not wait for what nobody will answer, nor work for whom nobody will tell. */
  private letGo(why: string): void {
    for (const id of this.asked) if (id !== this.first?.id) this.refuse(id, "unavailable", why);
    for (const callId of this.calls) {
      this.port.postMessage({ event: "tools.cancel", data: { callId, code: "unloaded", reason: why } });
    }
    this.asked.clear();
    this.calls.clear();
    this.listener.onCalls(0);
  }

  private refuse(id: number, code: string, message: string): void {
    this.port.postMessage({ id, error: { code, message } });
  }

  private beginCall(callId: string): void {
    this.calls.add(callId);
    this.listener.onCalls(this.calls.size);
  }

  private endCall(callId: unknown): void {
    if (typeof callId === "string" && this.calls.delete(callId)) this.listener.onCalls(this.calls.size);
  }

  private ping(): void {
    if (this.hasPonged && this.unanswered === MOST_UNANSWERED) this.listener.onStuck(true);
    this.unanswered += 1;
    this.port.postMessage({ event: "host.ping", data: {} });
  }

  private onPong(): void {
    if (this.unanswered > MOST_UNANSWERED) this.listener.onStuck(false);
    this.hasPonged = true;
    this.unanswered = 0;
  }
}

/** A message as the host takes it; `undefined` where it is too large, or nothing that JSON can say. */
function textOf(message: Asked): string | undefined {
  try {
    const text = JSON.stringify(message);
    if (text.length > MAX_MESSAGE_BYTES) return undefined;
    return text.length * 3 <= MAX_MESSAGE_BYTES || new TextEncoder().encode(text).length <= MAX_MESSAGE_BYTES
      ? text
      : undefined;
  } catch {
    return undefined; // it goes in a circle, or has what JSON has not
  }
}
