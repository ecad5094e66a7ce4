// The range of x that charts of one group show.
import { type Signal, signal } from "@preact/signals";
import type { Range } from "./props";

const groups = new Map<string, Signal<Range | null>>();

/** The range of a group; of a chart without one its own. */
export function rangeOf(group: string | undefined): Signal<Range | null> {
  if (group === undefined) return signal<Range | null>(null);
  let found = groups.get(group);
  if (found === undefined) {
    found = signal<Range | null>(null);
    groups.set(group, found);
  }
  return found;
}

/** A range `factor` times as wide around `at`, within what there is; `null` is all. */
export function around(range: Range, all: Range, at: number, factor: number): Range | null {
  const [low, high] = [at - (at - range[0]) * factor, at + (range[1] - at) * factor];
  const [from, to] = [Math.max(low, all[0]), Math.min(high, all[1])];
  if (from <= all[0] && to >= all[1]) return null;
  // No closer than a millionth: numbers have no more digits there.
  return to - from < (all[1] - all[0]) * 1e-6 ? range : [from, to];
}

/** A range moved by a share of its width, within what there is. */
export function moved(range: Range, all: Range, share: number): Range {
  const width = range[1] - range[0];
  const from = Math.min(Math.max(range[0] + share * width, all[0]), all[1] - width);
  return [from, from + width];
}
