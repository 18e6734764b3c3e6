/** One look at a terminal of the host: bytes both ways over a WebSocket, opened again by itself when it breaks. */

export interface TerminalState {
  readonly status: string;
  readonly exit_code: number | null;
  readonly columns: number;
  readonly rows: number;
  /** Whether this reader answers what programs ask of the terminal. */
  readonly answers: boolean;
}

export type Line = "connecting" | "open" | "lost" | "gone";

export interface StreamEars {
  /** The stream begins anew: what was shown is told again. */
  readonly onBegin: () => void;
  readonly onBytes: (bytes: Uint8Array) => void;
  /** All that was printed before has been told. */
  readonly onLive: () => void;
  readonly onState: (state: TerminalState) => void;
  readonly onLine: (line: Line) => void;
  readonly onProblem: (message: string) => void;
}

type Told =
  | ({ readonly type: "state" } & TerminalState)
  | { readonly type: "live" }
  | { readonly type: "reset" }
  | { readonly type: "error"; readonly message: string };

const AGAIN_MS = [500, 1_000, 2_000, 5_000];
/** The host takes 64 KiB at once; a character may have four bytes. */
const TYPED_AT_ONCE = 8 * 1024;
const REMOVED = 1000;

export class TerminalStream {
  private readonly card: string;
  private readonly ears: StreamEars;
  private socket: WebSocket | undefined;
  private timer: number | undefined;
  private failures = 0;
  private size: { readonly columns: number; readonly rows: number } | undefined;

  constructor(card: string, ears: StreamEars) {
    this.card = card;
    this.ears = ears;
  }

  open(): void {
    this.ears.onLine(this.failures > 0 ? "lost" : "connecting");
    const url = new URL(`/api/v1/terminals/${encodeURIComponent(this.card)}/stream`, window.location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.onOpen(socket);
    socket.onmessage = (event) => {
      if (this.socket === socket) this.onMessage(event.data as ArrayBuffer | string);
    };
    socket.onclose = (event) => this.onClose(socket, event);
  }

  close(): void {
    window.clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = undefined;
    socket?.close();
  }

  /** Type; what is typed while the line is lost is lost too. */
  type(text: string): void {
    const socket = this.socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    const encoder = new TextEncoder();
    const letters = Array.from(text);
    for (let at = 0; at < letters.length; at += TYPED_AT_ONCE) {
      socket.send(encoder.encode(letters.slice(at, at + TYPED_AT_ONCE).join("")));
    }
  }

  /** The same with bytes, one to each character. */
  typeBytes(text: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
    }
  }

  resize(columns: number, rows: number): void {
    this.size = { columns, rows };
    this.sendSize();
  }

  private sendSize(): void {
    if (this.size && this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ type: "resize", ...this.size }));
    }
  }

  private onOpen(socket: WebSocket): void {
    if (this.socket !== socket) return;
    this.failures = 0;
    this.ears.onBegin();
    this.ears.onLine("open");
    this.sendSize();
  }

  private onMessage(data: ArrayBuffer | string): void {
    if (typeof data !== "string") {
      this.ears.onBytes(new Uint8Array(data));
      return;
    }
    const told = JSON.parse(data) as Told;
    if (told.type === "state") this.ears.onState(told);
    else if (told.type === "live") this.ears.onLive();
    else if (told.type === "error") this.ears.onProblem(told.message);
  }

  private onClose(socket: WebSocket, event: CloseEvent): void {
    if (this.socket !== socket) return;
    this.socket = undefined;
    if (event.code === REMOVED) {
      this.ears.onLine("gone");
      return;
    }
    this.ears.onLine("lost");
    const wait = AGAIN_MS[Math.min(this.failures, AGAIN_MS.length - 1)];
    this.failures += 1;
    this.timer = window.setTimeout(() => this.open(), wait);
  }
}
