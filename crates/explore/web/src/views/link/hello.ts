// What the server says once: the options with their help, and questions by a name.
import { computed, signal } from "@preact/signals";
import { ask } from "../../lib/api";
import { hello } from "../../lib/hello";
import type { OptionName } from "../../lib/options";
import type { Preset } from "./types";

/** The options of `bentpipe compare` by name. */
export const options = computed(() => new Map(hello.value?.options.map((option) => [option.name, option])));

/** The help of an option, which the page may call something else. */
export function helpOf(name: OptionName): string | undefined {
  const help = options.value.get(name)?.help;
  return help === undefined ? undefined : `--${name}: ${help}`;
}

export const presets = signal<readonly Preset[]>([]);

/** Asks for the presets, unless they are there. */
export async function loadPresets(): Promise<void> {
  if (presets.value.length === 0) presets.value = (await ask<{ presets: Preset[] }>("/api/link/presets")).presets;
}
