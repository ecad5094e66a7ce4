// Command lines.

/** A word of a command line, quoted where the shell needs it. */
export function shellWord(word: string): string {
  return /^[\w.,:/@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
