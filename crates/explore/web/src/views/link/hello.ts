// What the server says once: the options with their help, and questions by a name.
import { computed, signal } from "@preact/signals";
import { ask } from "../../lib/api";
import { hello } from "../../lib/hello";
import type { Preset } from "./types";

/** The options of `bentpipe compare` by name. */
export const options = computed(() => new Map(hello.value?.options.map((option) => [option.name, option])));

export const presets = signal<readonly Preset[]>([]);

/** Asks for the presets, unless they are there. */
export async function loadPresets(): Promise<void> {
  if (presets.value.length === 0) presets.value = (await ask<{ presets: Preset[] }>("/api/link/presets")).presets;
}
