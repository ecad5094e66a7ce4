// The language of scenarios, as the server's declaration of it says; nothing is repeated here.
import { ask } from "../../lib/api";
import type { Entry, Key, LanguageAnswer, Section } from "./types";

/** A place of the language: the tables that may stand there. */
export interface Found {
  sections: readonly Section[];
  /** True where any name may follow, as after `link`. */
  isGroup: boolean;
  /** What messages call one of the tables: `link`. */
  called: string;
}

export class Language {
  readonly #byPath = new Map<string, Section[]>();

  constructor(readonly answer: LanguageAnswer) {
    for (const given of answer.sections) {
      const section: Section = { ...given, values: Object.fromEntries(given.values) };
      const same = this.#byPath.get(section.path);
      if (same === undefined) this.#byPath.set(section.path, [section]);
      else same.push(section);
    }
  }

  /** The tables declared at a path such as `link.NAME.channel`. */
  at(path: string): readonly Section[] {
    return this.#byPath.get(path) ?? [];
  }

  /** The groups of tables with names: `node`, `link`, ... */
  get groups(): readonly Key[] {
    return (this.at("")[0]?.keys ?? []).filter((key) => key.value.is === "named" || key.value.is === "named-kinds");
  }

  /**
   * What may stand at a path of a text, such as `["link", "satellite", "channel"]`; where a
   * table's `kind` is written, by `kindAt`, only the keys of that kind.
   */
  find(path: readonly string[], kindAt: (path: readonly string[]) => string | undefined): Found | undefined {
    let found: Found = { sections: this.at(""), isGroup: false, called: "" };
    for (let i = 0; i < path.length; i++) {
      const name = path[i] ?? "";
      if (found.isGroup) {
        found = { ...found, isGroup: false };
      } else {
        const key = keyOf(found.sections, name);
        const below = key?.value.path === undefined ? [] : this.at(key.value.path);
        if (key === undefined || below.length === 0) return undefined;
        found = { sections: below, isGroup: key.value.is === "named" || key.value.is === "named-kinds", called: name };
      }
      const kind = kindAt(path.slice(0, i + 1));
      const chosen = found.sections.filter((section) => section.kind === kind);
      if (kind !== undefined && chosen.length > 0) found = { ...found, sections: chosen };
    }
    return found;
  }
}

/** The key of that name in one of several tables. */
export function keyOf(sections: readonly Section[], name: string): Key | undefined {
  for (const section of sections) {
    const key = section.keys.find((key) => key.name === name);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** Tells the `kind` of a table of a text from its entries. */
export function kindIn(places: readonly Entry[]): (path: readonly string[]) => string | undefined {
  const kinds = new Map<string, string>();
  for (const entry of places) {
    const isKind = entry.path.at(-1) === "kind" && entry.text !== null;
    if (isKind) kinds.set(entry.path.slice(0, -1).join("\0"), entry.text ?? "");
    // `channel = "uniform"` stands for a table of that kind.
    else if (entry.text !== null) kinds.set(entry.path.join("\0"), entry.text);
  }
  return (path) => kinds.get(path.join("\0"));
}

/** Names of one kind of thing in a text: `node`, `link`, `transport`. */
export function namesIn(places: readonly Entry[], group: string): string[] {
  const names = places.filter((entry) => entry.path.length === 2 && entry.path[0] === group);
  return [...new Set(names.map((entry) => entry.path[1] ?? ""))];
}

let asked: Promise<Language> | undefined;

/** The language; asked for once. */
export function language(): Promise<Language> {
  asked ??= ask<LanguageAnswer>("/api/scenario/language").then((answer) => new Language(answer));
  asked.catch(() => (asked = undefined));
  return asked;
}
