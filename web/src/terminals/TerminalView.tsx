/** Puts a terminal's screen into the page; it comes in a chunk of its own, with xterm.js. */

import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "react";
import { type ScreenEars, TerminalScreen } from "./screen.ts";
import type { TerminalState } from "./stream.ts";

interface TerminalViewProps {
  readonly card: string;
  readonly label: string;
  readonly forReaders: boolean;
  readonly takesKeys: (state: TerminalState) => boolean;
  readonly ears: ScreenEars;
  /** Takes the screen while it is there. */
  readonly onScreen: (screen: TerminalScreen | undefined) => void;
}

export function TerminalView({ card, label, forReaders, takesKeys, ears, onScreen }: TerminalViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const heard = useRef({ ears, takesKeys, onScreen });
  heard.current = { ears, takesKeys, onScreen };
  useEffect(() => {
    if (place.current === null) return undefined;
    const screen = new TerminalScreen(place.current, {
      card,
      label,
      forReaders,
      takesKeys: (state) => heard.current.takesKeys(state),
      ears: {
        onState: (state) => heard.current.ears.onState(state),
        onLine: (line) => heard.current.ears.onLine(line),
        onProblem: (message) => heard.current.ears.onProblem(message),
        onLeave: () => heard.current.ears.onLeave(),
      },
    });
    heard.current.onScreen(screen);
    return () => {
      heard.current.onScreen(undefined);
      screen.close();
    };
  }, [card, label, forReaders]);
  return <div ref={place} className="terminal-view" />;
}
