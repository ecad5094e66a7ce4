// Words about what just happened. `toast` shows them, `announce` is for screen readers only.
import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  text: string;
  kind: "plain" | "good" | "bad";
}

export const toasts = signal<readonly Toast[]>([]);
export const announced = signal("");

const STAYS_MS = 5000;
let count = 0;

/** Shows words for some seconds; those about a failure stay until they are closed. */
export function toast(text: string, kind: Toast["kind"] = "plain"): void {
  const id = ++count;
  toasts.value = [...toasts.value.slice(-3), { id, text, kind }];
  if (kind !== "bad") setTimeout(() => closeToast(id), STAYS_MS);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/**
 * Has screen readers say `text` when they are free: the result after a change, not each step
 * to it. The same words twice in a row are said once.
 */
export function announce(text: string): void {
  announced.value = text;
}
