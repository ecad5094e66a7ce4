// What the menu "Share" offers of an answer: the server writes all of it, as the command does.
import type { Params } from "../../lib/address";
import type { Shareable } from "../../lib/share";
import type { Shown } from "./run";

interface Part {
  readonly row: number | undefined;
  readonly size: number;
}

/** Asks for a file, or for `{"text"}`. */
async function file(question: Params, format: string, part: Part): Promise<Response> {
  const body = { options: Object.entries(question), format, size: part.size, ...(part.row === undefined ? {} : { row: part.row }) };
  const response = await fetch("/api/link/share", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  if (response.ok) return response;
  const answer = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  throw new Error(answer?.error?.message ?? `status ${response.status}`);
}

const text = async (question: Params, format: string, part: Part) =>
  ((await (await file(question, format, part)).json()) as { text: string }).text;

/** Of what is shown; the scenario is that of a row, the advised one unless another is chosen. */
export function sharing(shown: Shown, part: Part): Shareable {
  const { options, begin } = shown;
  const as = (format: string) => () => text(options, format, part);
  const save = (format: string) => async () => (await file(options, format, part)).text();
  return {
    ...(begin.command === undefined ? {} : { command: begin.command }),
    python: as("python"),
    scenario: as("scenario"),
    svg: save("svg"),
    png: async () => (await file(options, "png", part)).blob(),
    csv: save("csv"),
    report: save("report"),
    name: "bentpipe-compare",
  };
}
