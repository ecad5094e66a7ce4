// What the view that is shown can be copied or saved as. A view sets it; the menu "Share"
// offers what is there.
import { signal } from "@preact/signals";

export interface Shareable {
  /** The same as a command line. */
  command?: string | (() => Promise<string>);
  /** The same as a scenario file. */
  scenario?: () => Promise<string>;
  /** The same as Python. */
  python?: string | (() => Promise<string>);
  /** The picture that is shown. */
  svg?: () => Promise<string>;
  png?: () => Promise<Blob>;
  /** The numbers that are shown. */
  csv?: () => Promise<string>;
  /** A report in one file of HTML. */
  report?: () => Promise<string>;
  /** Name of saved files, without an ending. */
  name: string;
}

export const shareable = signal<Shareable | undefined>(undefined);
