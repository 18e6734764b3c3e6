/** Keys written as text, such as "mod+shift+z": whether an event has them, and how they are shown; it runs nothing. */

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

const SHOWN: Readonly<Record<string, string>> = {
  mod: isMac ? "⌘" : "Ctrl",
  shift: isMac ? "⇧" : "Shift",
  alt: isMac ? "⌥" : "Alt",
  delete: isMac ? "⌫" : "Del",
  escape: "Esc",
  enter: "Enter",
};

/** Whether a key was pressed with exactly these others. "mod" is Command on a Mac, else Control. */
export function hasKeys(event: KeyboardEvent, keys: string): boolean {
  const parts = partsOf(keys);
  const key = parts.at(-1) ?? "";
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const other = isMac ? event.ctrlKey : event.metaKey;
  if (other || mod !== parts.includes("mod") || event.altKey !== parts.includes("alt")) return false;
  const isLetter = /^[a-z]$/.test(key) || key.length > 1;
  if (isLetter && event.shiftKey !== parts.includes("shift")) return false; // signs may need Shift to be typed at all
  return keyOf(event) === key;
}

export function shownKeys(keys: string): string {
  return partsOf(keys)
    .map((part) => SHOWN[part] ?? part.toUpperCase())
    .join(isMac ? "" : "+");
}

/** Whether keys pressed there are text, or belong to what stands there. */
export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[data-keys='own']")) return true;
  return target.matches("input, textarea, select, iframe");
}

function partsOf(keys: string): readonly string[] {
  return keys === "+" ? ["+"] : keys.split("+");
}

function keyOf(event: KeyboardEvent): string {
  return event.key === "Backspace" ? "delete" : event.key.toLowerCase();
}
