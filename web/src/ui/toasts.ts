/** Short messages at the corner of the page: what was done, or what went wrong; errors stay until they are closed. */

import { create } from "zustand";

export interface Toast {
  readonly id: number;
  readonly tone: "ok" | "bad" | "info";
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

interface ToastState {
  readonly toasts: readonly Toast[];
  readonly close: (id: number) => void;
}

const SHOWN_MS = 6_000;
const MOST = 4;
let last = 0;

export const useToasts = create<ToastState>()((set) => ({
  toasts: [],
  close: (id) => set((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) })),
}));

export function showToast(toast: Omit<Toast, "id">): void {
  last += 1;
  const id = last;
  useToasts.setState((state) => ({ toasts: [...state.toasts, { ...toast, id }].slice(-MOST) }));
  if (toast.tone !== "bad") window.setTimeout(() => useToasts.getState().close(id), SHOWN_MS);
}
