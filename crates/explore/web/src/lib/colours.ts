// The colours of the style sheet for code that draws on canvas.
import { isDark } from "./scheme";

const NAMES = [
  "bg",
  "surface",
  "raised",
  "sunken",
  "line",
  "edge",
  "text",
  "muted",
  "accent",
  "accent-text",
  "accent-soft",
  "good",
  "good-soft",
  "warn",
  "warn-soft",
  "bad",
  "bad-soft",
  "focus",
  "c0",
  "c1",
  "c2",
  "c3",
  "c4",
  "c5",
  "c6",
  "c7",
] as const;

export type ColourName = (typeof NAMES)[number];
export type Colours = Readonly<Record<ColourName, string>>;

const known = new Map<boolean, Colours>();

/** The colours as `rgb(…)`. Read in an effect or a component, it redraws with the scheme. */
export function colours(): Colours {
  const dark = isDark.value;
  const had = known.get(dark);
  if (had !== undefined) return had;
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const found: Partial<Record<ColourName, string>> = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  const all = found as Colours;
  known.set(dark, all);
  return all;
}

/** Dashes that tell series apart without colour, in pixels of a line; the first is solid. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 3, 2, 3],
  [5, 5],
  [14, 4],
  [2, 6],
  [8, 3, 2, 3, 2, 3],
];

/** `colour` as `rgb(…)` with `alpha` from 0 to 1. */
export function faded(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.*)\)$/, (_, inner: string) => `rgb(${inner.replaceAll(",", " ")} / ${alpha})`);
}
