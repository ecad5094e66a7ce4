// Keys of the view that is shown, for the dialog "?"; the view handles them itself.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Shortcut {
  /** As printed on the keys: `←`, `Space`. */
  keys: readonly string[];
  does: string;
}

export const viewShortcuts = signal<readonly Shortcut[]>([]);

/** Lists keys while the view is shown. `keys` is a constant. */
export function useShortcuts(keys: readonly Shortcut[]): void {
  useEffect(() => {
    viewShortcuts.value = keys;
    return () => {
      viewShortcuts.value = [];
    };
  }, [keys]);
}
