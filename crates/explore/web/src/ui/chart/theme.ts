// What a chart takes of the style sheet for its canvas.
import { colours } from "../../lib/colours";
import type { Tone } from "./props";

export interface Theme {
  readonly series: readonly string[];
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly tones: Readonly<Record<Tone, string>>;
  readonly font: string;
}

/** The colours of the scheme, and the font at an element. */
export function theme(at: Element): Theme {
  const all = colours();
  return {
    series: [all.c0, all.c1, all.c2, all.c3, all.c4, all.c5, all.c6, all.c7],
    text: all.text,
    muted: all.muted,
    line: all.line,
    surface: all.surface,
    tones: { accent: all.accent, good: all.good, warn: all.warn, bad: all.bad, muted: all.muted },
    font: `12px ${getComputedStyle(at).fontFamily}`,
  };
}
