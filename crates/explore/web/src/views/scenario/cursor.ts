// Where in TOML the cursor is: in which table, at which key, in a value. The text before the
// cursor is read, however wrong what follows is.

export interface Cursor {
  where: "header" | "key" | "value" | "comment";
  /** The table that the key belongs to; of a header the keys before the one at the cursor. */
  table: string[];
  /** Of a value its key. */
  key?: string;
  /** Where the word at the cursor begins. */
  from: number;
  /** The word up to the cursor, without a quote. */
  typed: string;
  /** The quote that the word began with. */
  quote: string;
  /** True in an array. */
  isItem: boolean;
}

/** The end of the text before the cursor. */
class End extends Error {
  constructor(readonly cursor: Cursor) {
    super();
  }
}

class Reader {
  at = 0;
  table: string[] = [];

  constructor(readonly text: string) {}

  read(): Cursor {
    try {
      for (;;) this.statement();
    } catch (end) {
      if (end instanceof End) return end.cursor;
      throw end;
    }
  }

  get isEnd(): boolean {
    return this.at >= this.text.length;
  }

  get char(): string {
    return this.text[this.at] ?? "";
  }

  end(cursor: Omit<Cursor, "typed" | "quote" | "isItem"> & Partial<Cursor>): never {
    const quote = cursor.quote ?? "";
    throw new End({ typed: this.text.slice(cursor.from + quote.length), isItem: false, ...cursor, quote });
  }

  /** Blanks, and with `lines` line breaks and comments. */
  blanks(lines: boolean): void {
    for (;;) {
      if (/[ \t\r]/.test(this.char) || (lines && this.char === "\n")) this.at++;
      else if (lines && this.char === "#") this.comment();
      else return;
      if (this.isEnd) return;
    }
  }

  comment(): void {
    while (!this.isEnd && this.char !== "\n") this.at++;
    if (this.isEnd) this.end({ where: "comment", table: this.table, from: this.at });
  }

  statement(): void {
    this.blanks(true);
    if (this.char === "[") return this.header();
    this.entry(this.table, false);
    // What follows a value on its line is a comment, or wrong.
    while (!this.isEnd && this.char !== "\n") {
      if (this.char === "#") this.comment();
      else this.at++;
    }
    if (this.isEnd) this.end({ where: "comment", table: this.table, from: this.at });
  }

  header(): void {
    this.at++;
    if (this.char === "[") this.at++;
    const keys: string[] = [];
    for (;;) {
      this.blanks(false);
      const from = this.at;
      const { word, quote, isOpen } = this.word();
      if (this.isEnd && (isOpen || quote === "")) this.end({ where: "header", table: keys, from, quote });
      keys.push(word);
      this.blanks(false);
      if (this.isEnd) this.end({ where: "comment", table: keys, from: this.at });
      if (this.char !== ".") break;
      this.at++;
    }
    while (!this.isEnd && this.char !== "\n") this.at++;
    this.table = keys;
    if (this.isEnd) this.end({ where: "comment", table: keys, from: this.at });
  }

  /** A key or a name, perhaps in quotes. */
  word(): { word: string; quote: string; isOpen: boolean } {
    const quote = this.char === '"' || this.char === "'" ? this.char : "";
    if (quote === "") {
      const start = this.at;
      while (!this.isEnd && /[^\s.=\]\[,{}#"']/.test(this.char)) this.at++;
      return { word: this.text.slice(start, this.at), quote, isOpen: this.isEnd };
    }
    const start = ++this.at;
    while (!this.isEnd && this.char !== quote && this.char !== "\n")
      this.at += this.char === "\\" && quote === '"' ? 2 : 1;
    this.at = Math.min(this.at, this.text.length);
    const word = this.text.slice(start, this.at);
    const isOpen = this.isEnd;
    if (this.char === quote) this.at++;
    return { word, quote, isOpen };
  }

  /** `key = value`; true if there was one. */
  entry(table: string[], inBraces: boolean): boolean {
    const path = [...table];
    for (;;) {
      this.blanks(inBraces);
      const from = this.at;
      const { word, quote, isOpen } = this.word();
      if (this.isEnd && (isOpen || quote === "")) this.end({ where: "key", table: path, from, quote });
      if (word === "" && quote === "") return false;
      path.push(word);
      this.blanks(false);
      if (this.isEnd) this.end({ where: "comment", table: path, from: this.at });
      if (this.char !== ".") break;
      this.at++;
    }
    if (this.char !== "=") return false;
    this.at++;
    this.value(path, false);
    return true;
  }

  value(path: string[], isItem: boolean): void {
    this.blanks(isItem);
    const from = this.at;
    const at = { where: "value" as const, table: path.slice(0, -1), key: path.at(-1) ?? "", from, isItem };
    if (this.isEnd) this.end(at);
    if (this.char === "[") return this.array(path);
    if (this.char === "{") return this.braces(path);
    const triple = ['"""', "'''"].find((quotes) => this.text.startsWith(quotes, this.at));
    if (triple !== undefined) {
      const close = this.text.indexOf(triple, this.at + 3);
      this.at = close < 0 ? this.text.length : close + 3;
      if (close < 0) this.end({ where: "comment", table: path, from: this.at });
      return;
    }
    if (this.char === '"' || this.char === "'") {
      const { quote, isOpen } = this.word();
      if (isOpen) this.end({ ...at, quote });
      return;
    }
    while (!this.isEnd && /[^,\]}\n#]/.test(this.char)) this.at++;
    if (this.isEnd) this.end(at);
  }

  array(path: string[]): void {
    this.at++;
    for (;;) {
      this.blanks(true);
      if (this.char === "]") break;
      const before = this.at;
      this.value(path, true);
      this.blanks(true);
      if (this.char === ",") this.at++;
      else if (this.char !== "]" && this.at === before) break;
      else if (this.char !== "]" && !this.isEnd) break;
    }
    if (this.char === "]") this.at++;
  }

  braces(path: string[]): void {
    this.at++;
    for (;;) {
      this.blanks(true);
      if (this.char === "}") break;
      if (!this.entry(path, true)) break;
      this.blanks(true);
      if (this.char !== ",") break;
      this.at++;
    }
    if (this.char === "}") this.at++;
  }
}

/** Where the end of `text` is. */
export function cursorAt(text: string): Cursor {
  return new Reader(text).read();
}

/** The end of the word that position `at` of `text` is in. */
export function endOfWord(text: string, at: number): number {
  const found = /^[\p{L}\p{N}_+-]*/u.exec(text.slice(at));
  return at + (found?.[0].length ?? 0);
}
