// Whether the server is there. A request that got no answer sets this to "gone"; from then
// on the page asks each second until the server is back.
import { signal } from "@preact/signals";

export type ServerState = "there" | "gone" | "refuses";

/** `refuses`: a server answers, but this page has no token for it. */
export const server = signal<ServerState>("there");

/** Counts the returns of the server: an effect on this asks again for what was lost. */
export const returns = signal(0);

/** How often a page that is shown asks whether the server is there. */
const HEARTBEAT_MS = 5000;
const EACH_MS = 1000;
let timer = 0;

/** What names this tab to the server, which limits the work of each. */
export const TAB = crypto.randomUUID();

/** Asks the server: a JSON object is posted, `undefined` gets. */
export function request(path: string, body: unknown, init: RequestInit): Promise<Response> {
  const named: Record<string, string> = { "x-tab": TAB };
  if (body === undefined) return fetch(path, { ...init, headers: named });
  const headers = { ...named, "content-type": "application/json" };
  return fetch(path, { ...init, method: "POST", headers, body: JSON.stringify(body) });
}

async function beat(): Promise<void> {
  if (document.hidden || timer !== 0) return;
  try {
    const response = await request("/api/alive", undefined, {});
    if (response.status === 401) lost();
  } catch {
    lost();
  }
}
setInterval(() => void beat(), HEARTBEAT_MS);
addEventListener("visibilitychange", () => void beat());

/** Called where a request failed for want of an answer. */
export function lost(): void {
  if (timer !== 0) return;
  server.value = "gone";
  timer = window.setInterval(() => void look(), EACH_MS);
}

/** Asks now; true if the server is back. */
export async function look(): Promise<boolean> {
  try {
    const response = await request("/api/alive", undefined, {});
    if (response.status === 401) {
      server.value = "refuses";
      return false;
    }
    if (!response.ok) return false;
  } catch {
    server.value = "gone";
    return false;
  }
  // Of several answers on the way at the same time, the first is the return.
  if (timer === 0) return true;
  clearInterval(timer);
  timer = 0;
  server.value = "there";
  returns.value += 1;
  return true;
}
