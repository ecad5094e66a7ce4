// Positions: the server counts bytes of UTF-8, the editor UTF-16 code units.

/** Turns bytes of a text into positions of the editor. */
export function positions(text: string): (byte: number) => number {
  // Nearly all scenarios are ASCII, where both are the same.
  if (/^[\x00-\x7f]*$/.test(text)) return (byte) => Math.min(byte, text.length);
  const starts: number[] = [];
  let byte = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0;
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) starts[byte + i] = at;
    byte += bytes;
    at += code < 0x10000 ? 1 : 2;
  }
  return (wanted) => starts[wanted] ?? text.length;
}
