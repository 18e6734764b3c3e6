/** Keeps frames from taking pointers while something is dragged, moved or zoomed on the board: it would get stuck there. */

import { type RefObject, useEffect } from "react";

const WHEEL_MS = 250;

export function useShield(layer: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let [isPressed, isSpace, isRolling] = [false, false, false];
    let rolling: number | undefined;
    const show = (): void => {
      const element = layer.current;
      if (element) element.dataset.shielded = String(isPressed || isSpace || isRolling);
    };
    const press = (pressed: boolean) => (): void => {
      isPressed = pressed;
      show();
    };
    const roll = (): void => {
      isRolling = true;
      window.clearTimeout(rolling);
      rolling = window.setTimeout(() => {
        isRolling = false;
        show();
      }, WHEEL_MS);
      show();
    };
    const key =
      (pressed: boolean) =>
      (event: Event): void => {
        if ((event as KeyboardEvent).code === "Space") isSpace = pressed;
        show();
      };
    const leave = (): void => {
      isSpace = false;
      show();
    };
    const heard: readonly (readonly [string, (event: Event) => void])[] = [
      ["pointerdown", press(true)],
      ["pointerup", press(false)],
      ["pointercancel", press(false)],
      ["wheel", roll],
      ["keydown", key(true)],
      ["keyup", key(false)],
      ["blur", leave],
    ];
    for (const [type, listener] of heard) window.addEventListener(type, listener, { capture: true, passive: true });
    return () => {
      window.clearTimeout(rolling);
      for (const [type, listener] of heard) window.removeEventListener(type, listener, { capture: true });
    };
  }, [layer]);
}
