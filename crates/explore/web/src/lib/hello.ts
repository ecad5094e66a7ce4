// What the page knows of its server: the first answer, asked for once.
import { effect, signal } from "@preact/signals";
import { ask } from "./api";
import type { OptionHelp } from "./options";

/** A file or folder that was opened (`Files::document` of the server). */
export interface Opened {
  /** The folder, as a whole path. */
  folder: string;
  /** The file in it; empty for the folder itself. */
  path: string;
  kind: "scenario" | "study" | "results" | "folder";
}

export interface Hello {
  version: string;
  options: OptionHelp[];
  /** What the command was asked to open: a folder, or `path` in it. */
  open: Opened | null;
  /** What starts the server again as it is now. */
  command: string;
}

/** The answer, when it is there. */
export const hello = signal<Hello | undefined>(undefined);

/** The answer as soon as it is there. */
export function greeted(): Promise<Hello> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (hello.value === undefined) return;
      resolve(hello.value);
      queueMicrotask(() => stop());
    });
  });
}

/** Asks; the page does this when it begins and when the server is back. */
export async function greet(): Promise<void> {
  hello.value = await ask<Hello>("/api/hello");
}
