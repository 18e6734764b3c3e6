/** What was copied: kept by the page, and in the system's clipboard, so that it can be pasted in another window. */

import { type Clip, textOf } from "../board/clip.ts";

let last: Clip | undefined;

export function kept(): Clip | undefined {
  return last;
}

/** Keep it for `kept`, and give it to the system where that is allowed. */
export async function keep(clip: Clip): Promise<void> {
  last = clip;
  try {
    await navigator.clipboard.writeText(textOf(clip));
  } catch {
    // not allowed here, or not looked at: this page can paste it all the same
  }
}
