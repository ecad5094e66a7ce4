// Where a text is kept: in the address while it is short, else in this browser.

const KEY = "bentpipe.scenario";
/** Characters of an address that can still be sent in a message. */
const MOST_IN_ADDRESS = 1800;

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const made = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(made).arrayBuffer());
}

/** The text, compressed, for the address; undefined where it is too long. */
export async function packed(text: string): Promise<string | undefined> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const word = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return word.length > MOST_IN_ADDRESS ? undefined : word;
}

/** The text of an address; undefined where it is damaged. */
export async function unpacked(word: string): Promise<string | undefined> {
  try {
    const binary = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(
      await through(bytes, new DecompressionStream("deflate-raw")),
    );
  } catch {
    return undefined;
  }
}

export interface Kept {
  text: string;
  name: string;
  kind: "file" | "example" | "own";
  /** The text before it was edited. */
  original: string;
}

/** Keeps a text in this browser, for the next visit. */
export function keep(kept: Kept): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A full or forbidden store loses nothing but the next visit's text.
  }
}

/** The text that was kept. */
export function kept(): Kept | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Kept> | null;
    if (typeof found?.text !== "string" || typeof found.name !== "string") return undefined;
    return { text: found.text, name: found.name, kind: found.kind ?? "own", original: found.original ?? "" };
  } catch {
    return undefined;
  }
}
