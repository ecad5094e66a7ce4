// The state of the page is in its address: `#/link?rate=10+Mbit/s&loss=1%25`. A view has
// parameters by name; what has its default is not in the address.
import { signal } from "@preact/signals";

export type Params = Readonly<Record<string, string>>;

export interface Address {
  readonly view: string;
  readonly params: Params;
}

function read(): Address {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path === "" ? "link" : path, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Where the page is. */
export const address = signal<Address>(read());
addEventListener("hashchange", () => (address.value = read()));

/** The address of a view with parameters, for links. */
export function href(view: string, params: Params = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
  return `#/${view}${query === "" ? "" : `?${query}`}`;
}

/** Goes there; with `replace`, the back button does not stop at where one was. */
export function go(view: string, params: Params = {}, replace = false): void {
  const to = href(view, params);
  if (to === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  address.value = read();
}

/** Changes parameters of the view that is shown; the empty string removes one. */
export function change(params: Params, replace = true): void {
  // A link may have been followed already whose event is still to come: that is not undone.
  const now = read();
  if (now.view !== address.value.view) return;
  go(now.view, { ...now.params, ...params }, replace);
}
