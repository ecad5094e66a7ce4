// What the menu "Share" offers of an answer: the server writes all of it, as the command does.
import { ask, file } from "../../lib/api";
import type { Shareable } from "../../lib/share";
import type { Shown } from "./run";

/** What is chosen of the answer. */
interface Part {
  readonly row: number | undefined;
  readonly size: number;
}

/** Of what is shown; the scenario is that of a row, the advised one unless another is chosen. */
export function sharing(shown: Shown, { row, size }: Part): Shareable {
  const body = (format: string) => ({
    options: Object.entries(shown.options),
    format,
    size,
    ...(row === undefined ? {} : { row }),
  });
  const text = (format: string) => async () => (await ask<{ text: string }>("/api/link/share", body(format))).text;
  const saved = (format: string) => () => file("/api/link/share", body(format));
  const written = (format: string) => async () => (await saved(format)()).text();
  return {
    command: text("command"),
    python: text("python"),
    scenario: text("scenario"),
    svg: written("svg"),
    png: saved("png"),
    csv: written("csv"),
    report: written("report"),
    name: "bentpipe-compare",
  };
}
