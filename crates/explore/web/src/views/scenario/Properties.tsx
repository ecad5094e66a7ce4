// The table that is chosen as a form: its keys as the language declares them. Each change is an
// edit of the text.
import { Button, Select, TextOnLeave } from "../../ui";
import type { ScenarioDocument } from "./document";
import { keyOf, kindIn, namesIn, type Language } from "./language";
import type { Key, Kind, Section } from "./types";

/** What all parts of the form have. */
interface Form {
  scenario: ScenarioDocument;
  language: Language;
}

interface PropertiesProps extends Form {
  path: readonly string[];
}

/** Kinds of values that are a line in the form. */
const LINES: readonly Kind["is"][] = [
  "text",
  "file",
  "name",
  "duration",
  "rate",
  "size",
  "ratio",
  "integer",
  "number",
  "words",
  "boolean",
  "kinds",
  "either",
];
/** Values that TOML writes without quotes where they are numbers. */
const NUMBERS: readonly Kind["is"][] = ["ratio", "integer", "number", "words", "boolean"];

export function Properties(form: PropertiesProps) {
  const { scenario, language, path } = form;
  const [group = "", name = ""] = path;
  const section = language.find([group, name], kindIn(scenario.places.value))?.sections[0];
  const rename = async (to: string) => {
    if (to === name || to === "") return;
    if (await scenario.edit({ edit: "rename", group, name, to })) scenario.chosen.value = [group, to];
  };
  const remove = async () => {
    if (await scenario.edit({ edit: "remove", group, name })) scenario.chosen.value = undefined;
  };
  return (
    <section class="scenario-form" aria-label={`${group} ${name}`}>
      <header class="row">
        <h2>
          {group} <span class="mono">{name}</span>
        </h2>
        <span class="spring" />
        <Button size="small" onClick={() => scenario.show([group, name])}>
          Show in the text
        </Button>
        <Button size="small" kind="danger" onClick={() => void remove()}>
          Remove
        </Button>
        <Button
          size="small"
          kind="quiet"
          icon="close"
          label="Close this form"
          onClick={() => (scenario.chosen.value = undefined)}
        />
      </header>
      <div class="scenario-fields">
        <TextOnLeave
          label="name"
          value={name}
          help={`The name of this ${group}; what refers to it changes, too.`}
          onValue={(to) => void rename(to)}
        />
        {section !== undefined && <Fields {...form} section={section} />}
      </div>
      {section !== undefined && <More {...form} section={section} />}
    </section>
  );
}

interface FieldsProps extends PropertiesProps {
  section: Section;
  /** The table in the form's table that the fields are of; their labels begin with it. */
  inside?: string;
}

/** Whether a key is shown at once: it is written, required, or in the example of its table. */
function isMain(scenario: ScenarioDocument, path: readonly string[], section: Section, key: Key): boolean {
  const isWritten = scenario.places.value.some(
    (entry) => entry.path.length > path.length && [...path, key.name].every((part, i) => part === entry.path[i]),
  );
  return isWritten || key.required || section.values[key.name] !== undefined || key.value.is === "kinds";
}

function Fields({ section, inside = "", ...form }: FieldsProps) {
  const { scenario, path } = form;
  const keys = section.keys.filter((key) => LINES.includes(key.value.is) && isMain(scenario, path, section, key));
  return (
    <>
      {keys.map((key) => (
        <Value key={key.name} {...form} path={[...path, key.name]} of={key} inside={inside} />
      ))}
    </>
  );
}

/** The rest of the keys, and the way back of a link. */
function More({ section, ...form }: FieldsProps) {
  const { scenario, language, path } = form;
  const rest = section.keys.filter((key) => LINES.includes(key.value.is) && !isMain(scenario, path, section, key));
  const tables = section.keys.filter((key) => key.value.is === "table");
  return (
    <>
      {tables.map((key) => {
        const inner = language.at(key.value.path ?? "")[0];
        if (inner === undefined) return null;
        const isOpen = scenario.entry([...path, key.name]) !== undefined;
        return (
          <details key={key.name} open={isOpen}>
            <summary title={key.meaning}>{key.name}</summary>
            <p class="muted small">{key.meaning}</p>
            <div class="scenario-fields">
              <Fields {...form} path={[...path, key.name]} section={inner} inside={key.name} />
            </div>
          </details>
        );
      })}
      {rest.length > 0 && (
        <details>
          <summary>More keys</summary>
          <div class="scenario-fields">
            {rest.map((key) => (
              <Value key={key.name} {...form} path={[...path, key.name]} of={key} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

interface ValueProps extends PropertiesProps {
  of: Key;
  inside?: string;
}

/** A value as TOML: a number or a word of TOML as it is, else a string. */
function toToml(kind: Kind, text: string): string {
  const isPlain = NUMBERS.includes(kind.is) && /^([+-]?[\d._]+([eE][+-]?\d+)?|true|false)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** What is wrong with the value at a path, or in it. */
function problemOf(scenario: ScenarioDocument, path: readonly string[]): string | undefined {
  const entry = scenario.entry(path);
  if (entry === undefined || scenario.isBehind.value) return undefined;
  const found = scenario.diagnostics.find(
    (one) => one.from !== null && one.from >= entry.value[0] && one.from <= entry.value[1] && entry.form !== "header",
  );
  return found === undefined
    ? undefined
    : [found.message, found.expected, ...found.help].filter((text) => text !== "").join("; ");
}

function Value({ of, inside = "", ...form }: ValueProps) {
  const { scenario, language, path } = form;
  const text = scenario.value(path) ?? "";
  const set = (value: string | null) => void scenario.edit({ edit: "set", path: [...path], value });
  const words = {
    label: `${inside} ${of.name}`.trim(),
    help: `${of.meaning}. Expected: ${of.expected}.`,
    error: problemOf(scenario, path),
    aside: text === "" && scenario.entry(path) === undefined ? of.presence : undefined,
  };
  const { is } = of.value;
  if (is === "kinds" || (is === "either" && scenario.value(path) === undefined && scenario.entry(path) !== undefined)) {
    return <Kinds {...form} of={of} words={words} inside={inside} />;
  }
  const options = optionsOf(language, scenario, of.value);
  if (options !== undefined && is !== "name") {
    const all = [
      { value: "", label: `(${of.presence})`, disabled: of.required },
      ...options.map((one) => ({ value: one, label: one })),
    ];
    if (text !== "" && !options.includes(text)) all.push({ value: text, label: text, disabled: false });
    return (
      <Select
        {...words}
        aside={undefined}
        value={text}
        options={all}
        onValue={(to) => set(to === "" ? null : toToml(of.value, to))}
      />
    );
  }
  return (
    <TextOnLeave
      {...words}
      value={text}
      aside={undefined}
      placeholder={of.presence}
      suggestions={options}
      onValue={(to) => {
        if (to === text) return;
        set(to === "" && !of.required ? null : toToml(is === "either" ? (of.value.first ?? of.value) : of.value, to));
      }}
    />
  );
}

function optionsOf(language: Language, scenario: ScenarioDocument, kind: Kind): string[] | undefined {
  if (kind.is === "boolean") return ["true", "false"];
  if (kind.is === "words") return kind.words ?? [];
  if (kind.is !== "name") return undefined;
  const of = kind.of ?? "";
  return [...namesIn(scenario.places.value, of), ...(language.answer.names[of] ?? []).map((one) => one.name)];
}

interface KindsProps extends ValueProps {
  words: { label: string; help: string; error: string | undefined; aside: string | undefined };
}

/** A table that is chosen by its kind, and its keys. */
function Kinds({ of, words, inside, ...form }: KindsProps) {
  const { scenario, language, path } = form;
  const sections = language.at(of.value.path ?? "");
  const isBare = scenario.value(path) !== undefined;
  const kind = scenario.value(path) ?? scenario.value([...path, "kind"]) ?? "";
  const section = sections.find((one) => one.kind === kind);
  const choose = (to: string) => {
    const next = sections.find((one) => one.kind === to);
    if (next === undefined) return void scenario.edit({ edit: "set", path: [...path], value: null });
    // Values of the same name stay; those that are required have the example's.
    const keys = next.keys.flatMap((key) => {
      const now = scenario.value([...path, key.name]);
      const value = now === undefined ? (key.required ? next.values[key.name] : undefined) : toToml(key.value, now);
      return value === undefined ? [] : [`${key.name} = ${value}`];
    });
    const value = keys.length === 0 ? JSON.stringify(to) : `{ kind = ${JSON.stringify(to)}, ${keys.join(", ")} }`;
    void scenario.edit({ edit: "set", path: [...path], value });
  };
  const options = [
    { value: "", label: `(${of.presence})`, disabled: of.required },
    ...sections.map((one) => ({ value: one.kind ?? "", label: one.kind ?? "" })),
  ];
  if (kind !== "" && section === undefined) options.push({ value: kind, label: kind });
  const inner = section?.keys.filter((key) => LINES.includes(key.value.is) && (key.required || !isBare)) ?? [];
  return (
    <>
      <Select {...words} aside={undefined} note={section?.meaning} value={kind} options={options} onValue={choose} />
      {section !== undefined &&
        inner.map((key) => (
          <Value key={key.name} {...form} path={[...path, key.name]} of={key} inside={inside ?? ""} />
        ))}
    </>
  );
}

/** The first name that is free: `node`, `node2`, ... */
export function freeName(taken: readonly string[], base: string): string {
  if (!taken.includes(base)) return base;
  for (let number = 2; ; number++) if (!taken.includes(`${base}${number}`)) return `${base}${number}`;
}

/** The keys that a new table has: what its declaration requires or shows in its example. */
export function keysOf(language: Language, group: string, given: Record<string, string>): [string, string][] {
  const section = language.find([group, ""], () => undefined)?.sections[0];
  const keys = Object.entries({ ...(section?.values ?? {}), ...given });
  const known = keys.filter(([name]) => keyOf(section === undefined ? [] : [section], name) !== undefined);
  // As declared: what a table is about comes first.
  const place = (name: string) => section?.keys.findIndex((key) => key.name === name) ?? 0;
  return group === "link"
    ? known.sort(([a], [b]) => Number(b in given) - Number(a in given))
    : known.sort(([a], [b]) => place(a) - place(b));
}
