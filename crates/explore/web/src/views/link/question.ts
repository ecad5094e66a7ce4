// What is asked: the options of `bentpipe compare` that differ from their defaults. They
// are in the address; while a slider moves, the draft is ahead of it, so that the back
// button returns to where a movement began and not to each step of it.
import { computed, effect, signal } from "@preact/signals";
import { address, go, type Params } from "../../lib/address";
import type { OptionName } from "../../lib/options";

/** Texts of options. An address may have others, which the server refuses. */
export type Changes = Partial<Record<OptionName, string>>;

/** Parameters of the view alone begin so. */
const isOption = (name: string) => !name.startsWith("_");

function options(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([name, value]) => isOption(name) && value !== ""));
}

/** The same for the same options, whatever their order. */
export function key(question: Params): string {
  return JSON.stringify(Object.entries(question).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The options as they stand in the fields. */
export const draft = signal<Params>(options(address.value.params));

/** The options as the server takes them. */
export const asked = computed(() =>
  Object.entries(draft.value).map(([name, value]): [string, string] => [name, value]),
);

// The back button, a link, a preset.
effect(() => {
  const { view, params } = address.value;
  if (view !== "link") return;
  const now = options(params);
  if (key(now) !== key(draft.peek())) draft.value = now;
});

/** What was typed goes into the address when nothing was typed for so long. */
const IDLE_MS = 1200;
let idle: ReturnType<typeof setTimeout> | undefined;

/** Changes options; the empty string means the default. They are in the address at once or later. */
export function set(changes: Changes, isDone: boolean): void {
  const next = options({ ...draft.value, ...changes });
  if (key(next) !== key(draft.value)) {
    performance.mark("link:change");
    draft.value = next;
  }
  clearTimeout(idle);
  if (isDone) commit();
  else idle = setTimeout(commit, IDLE_MS);
}

/** Writes the draft to the address, as a new place in the history. */
function commit(): void {
  clearTimeout(idle);
  const { view, params } = address.value;
  if (view !== "link" || key(options(params)) === key(draft.value)) return;
  const rest = Object.fromEntries(Object.entries(params).filter(([name]) => !isOption(name)));
  go("link", { ...draft.value, ...rest });
}

/** Asks something else altogether. */
export function replace(question: Params): void {
  performance.mark("link:change");
  draft.value = options(question);
  commit();
}
