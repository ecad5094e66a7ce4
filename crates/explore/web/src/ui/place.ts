// Where something that floats goes beside what it belongs to.

const GAP = 6;
const EDGE = 8;

/** Puts `floating` (position: fixed) below `anchor`, or above it where there is more room. */
export function placeBeside(floating: HTMLElement, anchor: Element, align: "start" | "end" = "start"): void {
  const a = anchor.getBoundingClientRect();
  const { width, height } = floating.getBoundingClientRect();
  const below = innerHeight - a.bottom;
  const isBelow = below >= height + GAP + EDGE || below >= a.top;
  const top = isBelow ? a.bottom + GAP : a.top - GAP - height;
  const left = align === "start" ? a.left : a.right - width;
  floating.style.top = `${clamp(top, EDGE, innerHeight - height - EDGE)}px`;
  floating.style.left = `${clamp(left, EDGE, innerWidth - width - EDGE)}px`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
