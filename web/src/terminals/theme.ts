/** The colours of terminals, as ui/tokens.css has them for the theme that is shown. */

import type { ITheme } from "@xterm/xterm";

const PLAIN = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

export function themeShown(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--terminal-${name}`).trim();
  const theme: Record<string, string> = {
    background: token("bg"),
    foreground: token("text"),
    cursor: token("text"),
    cursorAccent: token("bg"),
    selectionBackground: token("selection"),
  };
  for (const name of PLAIN) {
    theme[name] = token(name);
    theme[`bright${name[0]?.toUpperCase()}${name.slice(1)}`] = token(`bright-${name}`);
  }
  return theme;
}
