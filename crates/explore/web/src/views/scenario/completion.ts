// Completion: tables, keys and values at the cursor, from the declared language and from the
// names of the text.
import {
  snippetCompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import { ask } from "../../lib/api";
import { cursorAt, endOfWord, type Cursor } from "./cursor";
import { keyOf, kindIn, namesIn, type Found, type Language } from "./language";
import type { Entry, Key, Kind, Section } from "./types";

/** Tables that have a header of their own. */
const TABLES: readonly Kind["is"][] = ["table", "kinds", "named", "named-kinds", "either"];

/** Completes in a text whose last known entries are `places()`. */
export function completion(language: () => Language | undefined, places: () => readonly Entry[]) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const known = language();
    if (known === undefined) return null;
    const text = context.state.doc.toString();
    const cursor = cursorAt(text.slice(0, context.pos));
    if (cursor.where === "comment") return null;
    if (!context.explicit && cursor.typed === "" && cursor.quote === "" && cursor.where !== "header") return null;
    const entries = places();
    const find = (path: readonly string[]) => known.find(path, kindIn(entries));
    const from = cursor.from;
    if (cursor.where === "header")
      return { from, options: headers(known, find(cursor.table), cursor, entries), validFor: /^[\w+-]*$/ };
    const found = find(cursor.table);
    if (found === undefined) return null;
    if (cursor.where === "key") return { from, options: keys(known, found, cursor, entries), validFor: /^[\w+-]*$/ };
    const options = fitting(await values(known, found, cursor, entries), cursor.typed);
    if (options.length === 0) return null;
    // A quote that closes behind the cursor is replaced, too.
    const rest = text.slice(context.pos);
    const word =
      cursor.quote === "" ? endOfWord(text, context.pos) - context.pos : (/^[^"'\n]*/.exec(rest)?.[0].length ?? 0);
    const closes = cursor.quote !== "" && rest[word] === cursor.quote;
    return { from, to: context.pos + word + (closes ? 1 : 0), options, filter: false };
  };
}

/** The options that have what was typed in them, those that begin with it first. */
function fitting(options: readonly Completion[], typed: string): Completion[] {
  const wanted = typed.toLowerCase();
  const place = (option: Completion) => option.label.toLowerCase().replace(/^"/, "").indexOf(wanted);
  return options.filter((option) => place(option) >= 0).sort((a, b) => Math.sign(place(a)) - Math.sign(place(b)));
}

/** Words beside a completion: what it means, and what it may be. */
function about(key: Key): () => HTMLElement {
  return () => help([key.meaning, key.expected, key.presence]);
}

function help(lines: readonly string[]): HTMLElement {
  const box = document.createElement("div");
  for (const text of lines.filter((text) => text !== "")) {
    const line = document.createElement("p");
    line.textContent = text;
    box.append(line);
  }
  return box;
}

/** What may follow `[` or `[link.`. */
function headers(language: Language, found: Found | undefined, cursor: Cursor, places: readonly Entry[]): Completion[] {
  if (found === undefined) return [];
  if (found.isGroup) {
    const group = cursor.table[0] ?? "";
    const wanted = new Set(references(language, places, group));
    for (const name of namesIn(places, group)) wanted.delete(name);
    // Names that are used and not declared yet, then those that are there, for their tables.
    const missing = [...wanted].map(
      (name): Completion => ({
        label: name,
        type: "variable",
        detail: `a ${found.called} that is named and not there yet`,
        boost: 2,
      }),
    );
    return [
      ...missing,
      ...namesIn(places, group).map(
        (name): Completion => ({ label: name, type: "variable", detail: `a ${found.called} of this text` }),
      ),
    ];
  }
  const tables = found.sections.flatMap((section) => section.keys).filter((key) => TABLES.includes(key.value.is));
  return tables.map((key) => ({ label: key.name, type: "namespace", detail: key.meaning, info: about(key) }));
}

/** Names of one kind of thing that the text uses. */
function references(language: Language, places: readonly Entry[], group: string): string[] {
  const kindAt = kindIn(places);
  return places.flatMap((entry) => {
    if (entry.text === null || entry.path.length < 3) return [];
    const isItem = /^\d+$/.test(entry.path.at(-1) ?? "");
    const path = isItem ? entry.path.slice(0, -1) : entry.path;
    const key = keyOf(language.find(path.slice(0, -1), kindAt)?.sections ?? [], path.at(-1) ?? "");
    const of = key?.value.is === "nodes" ? "node" : key?.value.of;
    return of === group ? [entry.text.replace(/\[.*/, "")] : [];
  });
}

/** The keys of the table at the cursor that are not written yet. */
function keys(language: Language, found: Found, cursor: Cursor, places: readonly Entry[]): Completion[] {
  if (found.isGroup) return [];
  const depth = cursor.table.length;
  const isOurs = (entry: Entry) =>
    entry.path.length === depth + 1 && cursor.table.every((key, i) => key === entry.path[i]);
  const written = new Set(places.filter(isOurs).map((entry) => entry.path[depth] ?? ""));
  written.delete(cursor.typed);
  const all = new Map<string, Completion>();
  for (const section of found.sections) {
    for (const key of section.keys)
      if (!written.has(key.name) && !all.has(key.name)) all.set(key.name, ofKey(key, section));
  }
  const kinds = found.sections.flatMap((section) => (section.kind === null ? [] : [section.kind]));
  if (kinds.length > 0 && !written.has("kind")) {
    const info = () => help(found.sections.map((section) => `${section.kind ?? ""}: ${section.meaning}`));
    all.set("kind", {
      label: "kind",
      type: "property",
      detail: "required",
      info,
      boost: 3,
      apply: applyKey('kind = "', '"'),
    });
  }
  for (const parameter of parameters(language, found, cursor, places))
    if (!written.has(parameter.label)) all.set(parameter.label, parameter);
  return [...all.values()];
}

/** The parameters of the congestion control of a transport, which are keys of its table. */
function parameters(language: Language, found: Found, cursor: Cursor, places: readonly Entry[]): Completion[] {
  if (!found.sections.some((section) => section.open)) return [];
  const value = (key: string) =>
    places.find((entry) => entry.path.join("\0") === [...cursor.table, key].join("\0"))?.text;
  const control = value("congestion_control") ?? value("base") ?? cursor.table.at(-1) ?? "";
  return (language.answer.parameters[control] ?? []).map((one) => ({
    label: one.name,
    type: "property",
    detail: `parameter of ${control}`,
    info: () => help([one.meaning, one.expected, one.presence]),
    apply: `${one.name} = `,
  }));
}

function ofKey(key: Key, section: Section): Completion {
  const example = section.values[key.name];
  const words: Completion = {
    label: key.name,
    type: "property",
    detail: key.required ? "required" : key.presence,
    info: about(key),
    boost: key.required ? 2 : 0,
  };
  const { is } = key.value;
  if (is === "named" || is === "named-kinds") return { ...words, apply: `${key.name}.` };
  if (is === "name" || is === "words" || is === "names") return { ...words, apply: applyKey(`${key.name} = "`, '"') };
  if (is === "nodes") return { ...words, apply: applyKey(`${key.name} = ["`, '"]') };
  const value = key.default ?? example;
  if (value === undefined || value === null) return { ...words, apply: `${key.name} = ` };
  // The value is selected, to type another one over it.
  return snippetCompletion(`${key.name} = #{${value.replaceAll("}", "\\}")}}`, words);
}

/** Inserts text around the cursor, and completes there. */
function applyKey(before: string, after: string) {
  return (view: EditorView, _: Completion, from: number, to: number) => {
    view.dispatch({
      changes: { from, to, insert: before + after },
      selection: { anchor: from + before.length },
      userEvent: "input.complete",
    });
    startCompletion(view);
  };
}

/** What the value at the cursor may be. */
async function values(
  language: Language,
  found: Found,
  cursor: Cursor,
  places: readonly Entry[],
): Promise<Completion[]> {
  const name = cursor.key ?? "";
  if (name === "kind") {
    return found.sections.flatMap((section) =>
      section.kind === null ? [] : [quoted(section.kind, section.meaning, "enum")],
    );
  }
  const key = keyOf(found.sections, name);
  if (key === undefined) return [];
  if (name === "place" && key.value.is === "text") return cities(cursor);
  const section = found.sections.find((section) => section.keys.includes(key));
  return ofKind(language, key.value, key, section?.values[name], cursor, places);
}

function ofKind(
  language: Language,
  kind: Kind,
  key: Key,
  example: string | undefined,
  cursor: Cursor,
  places: readonly Entry[],
): Completion[] {
  switch (kind.is) {
    case "boolean":
      return ["true", "false"].map((word) => ({ label: word, type: "constant", info: about(key) }));
    case "words":
      return (kind.words ?? []).map((word) =>
        quoted(word, word === key.default?.replaceAll('"', "") ? "the default" : "", "enum"),
      );
    case "nodes":
      return namesIn(places, "node").map((node) => quoted(node, "a node of this text", "variable"));
    case "name":
    case "names": {
      const of = kind.of ?? "";
      const own = namesIn(places, of).map((one) => quoted(one, `a ${of} of this text`, "variable"));
      const built = (language.answer.names[of] ?? []).map((one) => quoted(one.name, one.about, "class"));
      return [...own, ...built];
    }
    case "kinds":
      return ofKinds(language.at(kind.path ?? ""), cursor);
    case "either":
      return [
        ...(kind.first === undefined ? [] : ofKind(language, kind.first, key, example, cursor, places)),
        ...ofKinds(language.at(kind.path ?? ""), cursor),
      ];
    default: {
      const given = [key.default, example].filter((value) => value !== null && value !== undefined);
      const isString = (value: string) => value.startsWith('"');
      return [...new Set(given)]
        .filter((value) => isString(value) || cursor.quote === "")
        .map((value) => ({
          label: value,
          type: "constant",
          detail: value === key.default ? "the default" : "for example",
          info: about(key),
        }));
    }
  }
}

/** Kinds of a table: the word alone where no key is required, else the table in braces. */
function ofKinds(sections: readonly Section[], cursor: Cursor): Completion[] {
  return sections.flatMap((section) => {
    const kind = section.kind ?? "";
    const required = section.keys.filter((key) => key.required);
    if (required.length === 0) return [quoted(kind, section.meaning, "enum")];
    if (cursor.quote !== "") return [];
    const inner = required.map(
      (key) => `, ${key.name} = #{${(section.values[key.name] ?? '""').replaceAll("}", "\\}")}}`,
    );
    const words: Completion = {
      label: kind,
      type: "enum",
      detail: section.meaning,
      info: () => help([section.meaning, section.example]),
    };
    return [snippetCompletion(`{ kind = "${kind}"${inner.join("")} }`, words)];
  });
}

/** A string; what is put there has its quotes. */
function quoted(text: string, detail: string, type: string): Completion {
  return { label: text, type, detail, apply: JSON.stringify(text) };
}

async function cities(cursor: Cursor): Promise<Completion[]> {
  const text = cursor.typed;
  if (text === "") return [];
  const { places } = await ask<{ places: { text: string; people: number }[] }>("/api/sky/places", { text });
  return places.map((place) =>
    quoted(place.text, place.people > 0 ? `${(place.people / 1e6).toFixed(1)} million` : "", "text"),
  );
}
