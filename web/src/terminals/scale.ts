/** Pointers over a terminal that the board shows smaller or larger: xterm counts in its own pixels, not in the screen's. */

const KINDS = ["mousedown", "mousemove", "mouseup", "wheel", "click", "dblclick", "contextmenu"] as const;

/** Translate what the pointer does over `element`, and while a press there lasts; gives back how to stop that. */
export function followScale(element: HTMLElement): () => void {
  let pressed = false;
  const translate = (event: MouseEvent): void => {
    const inside = event.target instanceof Node && element.contains(event.target);
    if (event.type === "mousedown") pressed = inside;
    if (!inside && !pressed) return;
    if (event.type === "mouseup") window.setTimeout(() => (pressed = false));
    const screen = element.querySelector<HTMLElement>(".xterm-screen") ?? element;
    const place = screen.getBoundingClientRect();
    const scale = place.width / screen.offsetWidth;
    if (!Number.isFinite(scale) || scale <= 0 || Math.abs(scale - 1) < 0.001) return;
    const x = place.left + (event.clientX - place.left) / scale;
    const y = place.top + (event.clientY - place.top) / scale;
    Object.defineProperties(event, { clientX: { value: x }, clientY: { value: y } });
  };
  for (const kind of KINDS) window.addEventListener(kind, translate, { capture: true });
  return () => {
    for (const kind of KINDS) window.removeEventListener(kind, translate, { capture: true });
  };
}
