/** A terminal in the page: xterm.js on a stream of the host. It knows no React, and shows no words of ours. */

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useTheme } from "../app/theme.ts";
import { answerOnly } from "./answers.ts";
import { followScale } from "./scale.ts";
import { type Line, type TerminalState, TerminalStream } from "./stream.ts";
import { themeShown } from "./theme.ts";

const FONT_SIZE = 13;
const SCROLLBACK = 5_000;
const FIT_AFTER_MS = 120;

export interface ScreenEars {
  readonly onState: (state: TerminalState) => void;
  readonly onLine: (line: Line) => void;
  readonly onProblem: (message: string) => void;
  /** The user leaves it by the keyboard. */
  readonly onLeave: () => void;
}

interface ScreenOptions {
  readonly card: string;
  readonly label: string;
  readonly forReaders: boolean;
  /** Whether something reads what is typed, where the terminal does like this. */
  readonly takesKeys: (state: TerminalState) => boolean;
  readonly ears: ScreenEars;
}

export class TerminalScreen {
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly stream: TerminalStream;
  private readonly place: HTMLElement;
  private readonly cleanUp: (() => void)[] = [];
  private isLive = false;
  private answers = false;
  private readonly takesKeys: ScreenOptions["takesKeys"];
  private timer: number | undefined;
  private fitted = "";

  constructor(place: HTMLElement, options: ScreenOptions) {
    const { card, label, forReaders, takesKeys, ears } = options;
    this.place = place;
    this.takesKeys = takesKeys;
    this.terminal = new Terminal({
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: FONT_SIZE,
      lineHeight: 1.15,
      scrollback: SCROLLBACK,
      cursorBlink: false,
      minimumContrastRatio: 4.5,
      screenReaderMode: forReaders,
      macOptionIsMeta: true,
      theme: themeShown(),
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.open(place);
    this.terminal.textarea?.setAttribute("aria-label", label);
    answerOnly(this.terminal, () => this.answers && this.isLive);
    this.terminal.attachCustomKeyEventHandler((event) => this.takesKey(event, ears.onLeave));
    this.stream = new TerminalStream(card, {
      onBegin: () => {
        this.isLive = false;
        this.terminal.reset();
      },
      onBytes: (bytes) => this.terminal.write(bytes),
      onLive: () => this.terminal.write("", () => (this.isLive = true)),
      onState: (state) => this.onState(state, ears),
      onLine: ears.onLine,
      onProblem: ears.onProblem,
    });
    this.terminal.onData((text) => this.stream.type(text));
    this.terminal.onBinary((bytes) => this.stream.typeBytes(bytes));
    this.follow();
    this.refit();
    this.stream.open();
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Take the room that there is, and have the host's terminal that size. */
  refit(): void {
    const size = this.fit.proposeDimensions();
    if (size === undefined || Number.isNaN(size.cols) || Number.isNaN(size.rows)) return;
    this.fitted = `${size.cols} ${size.rows}`;
    this.terminal.resize(size.cols, size.rows);
    this.stream.resize(size.cols, size.rows);
  }

  close(): void {
    window.clearTimeout(this.timer);
    for (const clean of this.cleanUp) clean();
    this.stream.close();
    this.terminal.dispose();
  }

  private follow(): void {
    const observer = new ResizeObserver(() => this.refitSoon());
    observer.observe(this.place);
    const inFocus = (): void => this.onFocus();
    this.place.addEventListener("focusin", inFocus);
    const unfollowTheme = useTheme.subscribe(() => {
      this.terminal.options.theme = themeShown();
    });
    this.cleanUp.push(
      () => observer.disconnect(),
      () => this.place.removeEventListener("focusin", inFocus),
      unfollowTheme,
      followScale(this.place),
    );
  }

  private refitSoon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      const size = this.fit.proposeDimensions();
      if (size && `${size.cols} ${size.rows}` !== this.fitted) this.refit();
    }, FIT_AFTER_MS);
  }

  /** Who types is who says how large it is. */
  private onFocus(): void {
    if (`${this.terminal.cols} ${this.terminal.rows}` !== this.fitted) this.refit();
  }

  private onState(state: TerminalState, ears: ScreenEars): void {
    this.answers = state.answers;
    this.terminal.options.disableStdin = !this.takesKeys(state);
    if (state.columns !== this.terminal.cols || state.rows !== this.terminal.rows) {
      this.terminal.resize(state.columns, state.rows);
    }
    ears.onState(state);
  }

  private takesKey(event: KeyboardEvent, leave: () => void): boolean {
    if (event.key === "Escape" && event.shiftKey) {
      event.preventDefault();
      if (event.type === "keydown") leave();
      return false;
    }
    if (event.key.toLowerCase() === "c" && event.ctrlKey && event.shiftKey) {
      event.preventDefault();
      const selected = this.terminal.getSelection();
      if (event.type === "keydown" && selected) void navigator.clipboard.writeText(selected);
      return false;
    }
    // What pastes is left to the browser, which then gives us the text.
    return !(event.key.toLowerCase() === "v" && event.ctrlKey && event.shiftKey);
  }
}
