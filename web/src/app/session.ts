/** This browser's session with the host. The cookie that it hangs on is not for scripts to see. */

import { messageOf } from "../api/client.ts";
import { showToast } from "../ui/toasts.ts";

export async function signOut(): Promise<void> {
  try {
    await fetch("/api/v1/browser/sign-out", { method: "POST", credentials: "same-origin" });
    window.location.assign("/sign-in");
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}
