// The view of a scenario: its text and its picture side by side, its runs below.
import { effect, untracked } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ViewProps } from "../../app/views";
import { ask } from "../../lib/api";
import { address, change, type Params } from "../../lib/address";
import { greeted, hello } from "../../lib/hello";
import { svgToPng } from "../../lib/picture";
import { shellWord } from "../../lib/shell";
import { useShortcuts } from "../../lib/shortcuts";
import { shareable } from "../../lib/share";
import { Button, messageOf, Note, Progress, Segmented, Split, TextField, toast } from "../../ui";
import { ScenarioDocument } from "./document";
import { Editor } from "./editor";
import { examples, Files, readFile } from "./Files";
import { helpAt, type Help } from "./hover";
import { language, type Language } from "./language";
import { mark } from "./lint";
import { Picture } from "./Picture";
import { csvOf, Results } from "./Results";
import { Runs } from "./runs";
import { keep, kept, packed, unpacked } from "./store";

const KEYS = [
  { keys: ["Ctrl", "Enter"], does: "Run the scenario" },
  { keys: ["Ctrl", "Space"], does: "Complete at the cursor" },
  { keys: ["F1"], does: "Help about the word at the cursor" },
  { keys: ["F8"], does: "Next error" },
  { keys: ["Delete"], does: "Remove what has the focus in the picture" },
  { keys: ["Tab"], does: "Leave the editor" },
] as const;

/** How long the address waits for the end of typing. */
const ADDRESS_AFTER_MS = 500;

export default function Scenario(_: ViewProps) {
  const scenario = useMemo(() => new ScenarioDocument(), []);
  const runs = useMemo(() => new Runs(), []);
  const [known, setKnown] = useState<Language>();
  const [isNarrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches);
  useShortcuts(KEYS);
  useEffect(() => {
    language().then(setKnown, (error: unknown) => toast(String(error), "bad"));
    const unfollow = followAddress(scenario);
    runs.look().catch(() => undefined);
    const narrow = matchMedia("(max-width: 900px)");
    const turn = () => setNarrow(narrow.matches);
    narrow.addEventListener("change", turn);
    const stop = remember(scenario);
    const run = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void runs.start(scenario);
    };
    addEventListener("keydown", run, true);
    return () => {
      unfollow();
      stop();
      runs.stop();
      scenario.close();
      removeEventListener("keydown", run, true);
      narrow.removeEventListener("change", turn);
      shareable.value = undefined;
    };
  }, []);
  useEffect(() => effect(() => share(scenario, runs)), []);
  const editor = <Text scenario={scenario} known={known} />;
  const picture = <Picture scenario={scenario} language={known} />;
  return (
    <div class="view scenario">
      <h1 class="sr">Scenario</h1>
      <div class="scenario-bar row">
        <Files scenario={scenario} hasFolder={hello.value?.open !== null && hello.value?.open !== undefined} />
        <Button onClick={() => scenario.surface?.undo()}>Undo</Button>
        <Button onClick={() => scenario.surface?.redo()}>Redo</Button>
        <span class="spring" />
        <State scenario={scenario} />
      </div>
      {isNarrow ? (
        <div class="scenario-stack">
          {editor}
          {picture}
        </div>
      ) : (
        <Split
          name="scenario"
          label="text and picture"
          first={editor}
          second={picture}
          start={46}
          class="scenario-split"
        />
      )}
      <RunBar scenario={scenario} runs={runs} />
      <Results runs={runs} text={scenario.text.value} />
    </div>
  );
}

/** The editor, what is wrong below it, and help about the word at the cursor. */
function Text({ scenario, known }: { scenario: ScenarioDocument; known: Language | undefined }) {
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef(known);
  latest.current = known;
  const [help, setHelp] = useState<Help>();
  useEffect(() => {
    if (parent.current === null) return undefined;
    const editor = new Editor({
      parent: parent.current,
      text: scenario.text.peek(),
      language: () => latest.current,
      places: () => scenario.places.peek(),
      onText: (text) => scenario.changed(text),
      onCursor: (at) => {
        setHelp(undefined);
        choose(scenario, at);
      },
      onHelp: (at) => {
        if (latest.current !== undefined)
          setHelp(helpAt(latest.current, scenario.places.peek(), scenario.text.peek(), at));
      },
    });
    scenario.surface = editor;
    const stop = effect(() => {
      const current = scenario.current.value;
      if (current !== undefined && current.text === editor.view.state.doc.toString()) mark(editor.view, current);
    });
    return () => {
      stop();
      scenario.surface = undefined;
      editor.close();
    };
  }, []);
  return (
    <div class="scenario-text">
      <div class="scenario-editor" ref={parent} />
      {help !== undefined && (
        <div class="scenario-f1" role="status">
          <strong>{help.title}</strong>
          {help.lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      )}
      <Problems scenario={scenario} />
    </div>
  );
}

/** Chooses in the picture what the cursor is in. */
function choose(scenario: ScenarioDocument, at: number): void {
  const current = scenario.current.peek();
  if (current === undefined || scenario.isBehind.peek()) return;
  const inside = scenario.places.peek().filter((entry) => {
    const range = entry.body ?? (entry.path.length === 2 && entry.form === "inline" ? entry.value : null);
    return entry.path.length === 2 && range !== null && current.at(range[0]) <= at && at <= current.at(range[1]);
  });
  const found = inside.at(-1)?.path;
  if (found !== undefined) scenario.chosen.value = found;
}

/** Everything that is wrong, as buttons that go to the place. */
function Problems({ scenario }: { scenario: ScenarioDocument }) {
  const { current, failure } = scenario;
  const found = current.value;
  if (failure.value !== undefined) {
    return (
      <div class="scenario-problems" role="alert">
        <Note kind="bad">{failure.value}</Note>
      </div>
    );
  }
  if (found === undefined || found.checked.diagnostics.length === 0) return null;
  return (
    <ol class="scenario-problems" aria-label="What is wrong">
      {found.checked.diagnostics.map((one, i) => (
        <li key={i}>
          <button
            type="button"
            class="scenario-problem"
            onClick={() => {
              if (one.from === null || one.to === null) return;
              scenario.surface?.select(found.at(one.from), found.at(one.to));
              scenario.surface?.focus();
            }}
          >
            <span class="scenario-where">{one.line === null ? "file" : `${one.line}:${one.column ?? 1}`}</span>
            <span>
              <strong>{one.message}</strong>
              {one.expected !== "" && <span class="scenario-expected"> {one.expected}</span>}
              {one.help.map((help) => (
                <span key={help} class="scenario-help-line">
                  {help}
                </span>
              ))}
            </span>
          </button>
        </li>
      ))}
      {found.checked.more > 0 && <li class="muted">and {found.checked.more} more</li>}
    </ol>
  );
}

function State({ scenario }: { scenario: ScenarioDocument }) {
  const checked = scenario.current.value?.checked;
  const count = (checked?.diagnostics.length ?? 0) + (checked?.more ?? 0);
  const [word, kind] =
    checked === undefined
      ? ["checking", "muted"]
      : checked.pending
        ? ["computing routes and satellite paths", "muted"]
        : checked.valid
          ? ["valid", "good"]
          : [count === 1 ? "1 error" : `${count} errors`, "bad"];
  return (
    <span class={`scenario-state ${kind ?? ""}`} role="status">
      {word}
    </span>
  );
}

function RunBar({ scenario, runs }: { scenario: ScenarioDocument; runs: Runs }) {
  const progress = runs.progress.value;
  const isValid = scenario.current.value?.checked.valid === true;
  const seed = scenario.facts.value?.seed;
  return (
    <div class="scenario-runbar">
      {progress === undefined ? (
        <Button kind="primary" disabled={!isValid} onClick={() => void runs.start(scenario)} keys="Control+Enter">
          Run
        </Button>
      ) : (
        <Button onClick={() => runs.stop()}>Stop</Button>
      )}
      <TextField
        label="Seed"
        inline
        value={runs.seed.value}
        placeholder={String(seed ?? 1)}
        inputMode="numeric"
        onValue={(to) => (runs.seed.value = to.replace(/\D/g, ""))}
      />
      <TextField
        label="Runs"
        inline
        value={runs.count.value}
        inputMode="numeric"
        onValue={(to) => (runs.count.value = to.replace(/\D/g, ""))}
      />
      <Segmented
        label="On"
        value={runs.on.value}
        options={[
          { value: "sim", label: "Simulator" },
          { value: "both", label: "Simulator and this machine", disabled: runs.lacking.value !== null },
        ]}
        help={`The same scenario in the simulator and, in real time, on the TCP of this machine over an emulated link.${typeof runs.lacking.value === "string" ? ` Unavailable here: ${runs.lacking.value}.` : ""}`}
        onValue={(to) => (runs.on.value = to)}
      />
      {typeof runs.lacking.value === "string" && (
        <p class="muted small scenario-lacking">On this machine: {runs.lacking.value}</p>
      )}
      {progress !== undefined && (
        <span class="scenario-progress">
          <Progress done={progress.done} label="Simulated time" />
          <span class="muted small">{progress.text}</span>
        </span>
      )}
    </div>
  );
}

/** What of the address names a text. */
const textIn = (params: Params) => JSON.stringify(["text", "file", "example"].map((name) => params[name] ?? ""));
const NO_TEXT = textIn({});

/** What this view read from the address, or wrote there, last. */
let named = NO_TEXT;

/** How many addresses were followed: what was to be written before one is not put in its place. */
let followed = 0;

/** Loads the text that the address names: now, and when another one is entered or a link is followed. */
function followAddress(scenario: ScenarioDocument): () => void {
  named = textIn(address.peek().params);
  void load(scenario);
  return effect(() => {
    const { view, params } = address.value;
    const now = textIn(params);
    if (view !== "scenario" || now === named || now === NO_TEXT) return;
    named = now;
    followed++;
    untracked(() => void load(scenario));
  });
}

/** Takes the text from the address, the file that was opened, the last visit, or an example. */
async function load(scenario: ScenarioDocument): Promise<void> {
  const { params } = address.peek();
  const failed = (error: unknown) => toast(messageOf(error), "bad");
  // What was asked for since, or typed, is not replaced by a late answer.
  const asked = named;
  const text = params["text"] === undefined ? undefined : await unpacked(params["text"]);
  if (named !== asked) return;
  if (text !== undefined) return scenario.open(text, { kind: "own", name: params["name"] ?? "scenario", text });
  const own = kept();
  const isNamed = params["file"] !== undefined || params["example"] !== undefined;
  // Without a name the file that the command was given is meant, which the server says.
  const opened = isNamed ? undefined : (await greeted()).open;
  if (named !== asked) return;
  const file = params["file"] ?? (opened?.kind === "scenario" ? opened.path : undefined);
  if (file !== undefined && file !== "") {
    try {
      const text = await readFile(file);
      if (named !== asked) return;
      // What was typed on top of the same file is not lost.
      const isOurs = own?.kind === "file" && own.name === file && own.original === text;
      scenario.open(text, { kind: "file", name: file, text });
      if (isOurs && own.text !== text) scenario.surface?.setText(own.text);
      return;
    } catch (error) {
      failed(error);
    }
  }
  if (own !== undefined && params["example"] === undefined)
    return scenario.open(own.text, {
      kind: own.kind === "file" ? "own" : own.kind,
      name: own.name,
      text: own.original,
    });
  try {
    const all = await examples();
    if (named !== asked) return;
    const wanted = all.find((example) => example.name === (params["example"] ?? "geo")) ?? all[0];
    if (wanted !== undefined) scenario.open(wanted.text, { kind: "example", name: wanted.name, text: wanted.text });
  } catch (error) {
    failed(error);
  }
}

/** Keeps the text in the address and in this browser. */
function remember(scenario: ScenarioDocument): () => void {
  let timer = 0;
  const stop = effect(() => {
    const text = scenario.text.value;
    const origin = scenario.origin.value;
    clearTimeout(timer);
    if (text === "" && origin.text === "") return;
    const since = followed;
    timer = window.setTimeout(() => {
      if (followed !== since) return;
      keep({ text, name: origin.name, kind: origin.kind, original: origin.text });
      void put(text === origin.text, text, origin.kind, origin.name);
    }, ADDRESS_AFTER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

async function put(isUnedited: boolean, text: string, kind: string, name: string): Promise<void> {
  const none = { text: "", name: "", file: "", example: "" };
  const since = followed;
  const word = isUnedited && kind !== "own" ? undefined : await packed(text);
  if (followed !== since || address.peek().view !== "scenario") return;
  const now: Params = isUnedited && kind !== "own" ? { [kind]: name } : word !== undefined ? { text: word, name } : {};
  named = textIn(now);
  change({ ...none, ...now });
}

/** What can be copied and saved. */
function share(scenario: ScenarioDocument, runs: Runs): void {
  const base = scenario.name;
  const file = scenario.path ?? `${base}.toml`;
  const seed = runs.seed.value === "" ? "" : ` --seed ${runs.seed.value}`;
  const path = scenario.path;
  const picture = async () =>
    (await ask<{ svg: string }>("/api/scenario/map", { text: scenario.text.value, path, name: scenario.name })).svg;
  const result = runs.result.value;
  const spread = runs.spread.value;
  shareable.value = {
    name: base,
    command: `bentpipe run ${shellWord(file)}${seed}`,
    scenario: () => Promise.resolve(scenario.text.value),
    python: python(scenario.text.value, runs.seed.value),
    svg: picture,
    png: async () => svgToPng(await picture()),
    ...(result === undefined
      ? {}
      : {
          csv: () =>
            Promise.resolve(
              csvOf([
                ...result.blocks.flatMap(({ table }) => (table === null ? [] : [table])),
                ...(spread === undefined ? [] : [spread]),
              ]),
            ),
        }),
  };
}

/** The same as a Python program. */
function python(text: string, seed: string): string {
  const quotes = text.includes("'''") ? JSON.stringify(text) : `r'''\n${text}'''`;
  return `import bentpipe\n\nscenario = bentpipe.Scenario(${quotes})\noutcome = bentpipe.run(scenario${seed === "" ? "" : `, seed=${seed}`})\nprint(outcome)\n`;
}
