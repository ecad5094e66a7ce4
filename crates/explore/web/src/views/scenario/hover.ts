// Help where the pointer rests, and at the cursor with F1: what a table, a key or a value means.
import { hoverTooltip, type EditorView, type Tooltip } from "@codemirror/view";
import { cursorAt, endOfWord } from "./cursor";
import { keyOf, kindIn, type Language } from "./language";
import type { Entry } from "./types";

/** Help about the word at a position. */
export interface Help {
  from: number;
  to: number;
  title: string;
  lines: string[];
  example: string;
}

/** What the word at `pos` of `text` means. */
export function helpAt(language: Language, places: readonly Entry[], text: string, pos: number): Help | undefined {
  let to = endOfWord(text, pos);
  let cursor = cursorAt(text.slice(0, to));
  if (cursor.where === "comment") return undefined;
  if (cursor.where === "value" && cursor.quote !== "") {
    to = pos + (/^[^"'\n]*/.exec(text.slice(pos))?.[0].length ?? 0);
    cursor = cursorAt(text.slice(0, to));
  }
  const { from, typed, table } = cursor;
  if (typed === "" || pos < from) return undefined;
  const kindAt = kindIn(places);
  const at = { from, to };
  if (cursor.where === "header") {
    const found = language.find([...table, typed], kindAt);
    const section = found?.sections[0];
    if (found === undefined || section === undefined) return undefined;
    if (found.isGroup) return { ...at, title: `[${section.path}]`, lines: [section.meaning], example: section.example };
    const kind = section.kind === null ? "" : ` kind = "${section.kind}"`;
    return {
      ...at,
      title: `[${section.path}]${found.sections.length === 1 ? kind : ""}`,
      lines: [section.meaning],
      example: section.example,
    };
  }
  const sections = language.find(table, kindAt)?.sections ?? [];
  const name = cursor.where === "key" ? typed : (cursor.key ?? "");
  const key = keyOf(sections, name);
  if (name === "kind") {
    const chosen = sections.filter((section) => cursor.where === "key" || section.kind === typed);
    return chosen.length === 0
      ? undefined
      : {
          ...at,
          title: name,
          lines: chosen.map((section) => `${section.kind ?? ""}: ${section.meaning}`),
          example: "",
        };
  }
  if (key === undefined) return parameter(language, places, [...table], name, at);
  const lines = [key.meaning, `expected: ${key.expected}`, key.presence];
  if (cursor.where === "key") return { ...at, title: key.name, lines, example: "" };
  const of = key.value.is === "nodes" ? "node" : (key.value.of ?? "");
  const known = (language.answer.names[of] ?? []).find((one) => one.name === typed);
  if (known !== undefined) return { ...at, title: `${of} ${known.name}`, lines: [known.about, ...lines], example: "" };
  const chosen =
    key.value.path === undefined ? undefined : language.at(key.value.path).find((section) => section.kind === typed);
  if (chosen !== undefined)
    return { ...at, title: `${key.name} "${typed}"`, lines: [chosen.meaning, ...lines], example: chosen.example };
  return { ...at, title: key.name, lines, example: "" };
}

/** A parameter of the congestion control of a transport. */
function parameter(
  language: Language,
  places: readonly Entry[],
  table: string[],
  name: string,
  at: { from: number; to: number },
): Help | undefined {
  const value = (key: string) => places.find((entry) => entry.path.join("\0") === [...table, key].join("\0"))?.text;
  const control = value("congestion_control") ?? value("base") ?? table.at(-1) ?? "";
  const found = (language.answer.parameters[control] ?? []).find((one) => one.name === name);
  if (found === undefined) return undefined;
  return {
    ...at,
    title: `${name} of ${control}`,
    lines: [found.meaning, `expected: ${found.expected}`, found.presence],
    example: "",
  };
}

function element(help: Help): HTMLElement {
  const box = document.createElement("div");
  box.className = "scenario-help";
  const add = (tag: string, text: string, name = "") => {
    if (text === "") return;
    const made = document.createElement(tag);
    made.textContent = text;
    if (name !== "") made.className = name;
    box.append(made);
  };
  add("strong", help.title);
  for (const line of help.lines) add("p", line);
  add("pre", help.example);
  return box;
}

/** Shows the help in the editor. */
export function hover(language: () => Language | undefined, places: () => readonly Entry[]) {
  return hoverTooltip(
    (view: EditorView, pos: number): Tooltip | null => {
      const known = language();
      if (known === undefined) return null;
      const help = helpAt(known, places(), view.state.doc.toString(), pos);
      if (help === undefined) return null;
      return { pos: help.from, end: help.to, above: true, create: () => ({ dom: element(help) }) };
    },
    { hoverTime: 250 },
  );
}
