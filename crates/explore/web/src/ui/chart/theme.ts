// The colours of the scheme for a canvas, which takes no custom properties.
import { signal } from "@preact/signals";
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

/** Counts up when the scheme changes. */
export const scheme = signal(0);

const changed = () => {
  scheme.value += 1;
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
matchMedia("(prefers-contrast: more)").addEventListener("change", changed);
new MutationObserver(changed).observe(document.documentElement, { attributes: true });

/** The colours at an element. The browser resolves `light-dark()` and `color-mix()`. */
export function theme(at: HTMLElement): Theme {
  const probe = document.createElement("span");
  at.append(probe);
  const color = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found: Theme = {
    series: Array.from({ length: 8 }, (_, i) => color(`c${i}`)),
    text: color("text"),
    muted: color("muted"),
    line: color("line"),
    surface: color("surface"),
    tones: { accent: color("accent"), good: color("good"), warn: color("warn"), bad: color("bad"), muted: color("muted") },
    font: `12px ${getComputedStyle(at).fontFamily}`,
  };
  probe.remove();
  return found;
}

/** A colour with an opacity. */
export function faint(color: string, opacity: number): string {
  return `color-mix(in srgb, ${color} ${opacity * 100}%, transparent)`;
}
