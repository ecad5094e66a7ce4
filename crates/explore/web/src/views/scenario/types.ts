// What the server answers about a scenario (crates/explore/src/scenario).

/** Bytes of the text, or, where a name says so, positions of the editor. */
export type Range = readonly [number, number];

export interface Diagnostic {
  message: string;
  expected: string;
  help: string[];
  line: number | null;
  column: number | null;
  from: number | null;
  to: number | null;
  topic: string | null;
  /** What to put at the place instead. */
  fix: string | null;
  related: { line: number; column: number; from: number; to: number; label: string } | null;
}

export type Form = "header" | "inline" | "implicit" | "list" | "value";

/** A table or a value of the text. */
export interface Entry {
  path: string[];
  form: Form;
  key: Range;
  value: Range;
  /** Of a table with a header: to the end of its last line. */
  body: Range | null;
  /** A single value, without quotes. */
  text: string | null;
}

export interface DrawnNode {
  group: "node" | "constellation";
  name: string;
  title: string;
  lines: string[];
  is_sky: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DrawnLink {
  ends: [number, number];
  names: string[];
  lines: string[];
  is_bent: boolean;
}

export interface DrawnFlow {
  name: string;
  way: number[];
}

export interface Drawing {
  width: number;
  height: number;
  nodes: DrawnNode[];
  links: DrawnLink[];
  flows: DrawnFlow[];
  left_out: number;
}

/** What `bentpipe check --json` prints, as far as the page shows it. */
export interface Facts {
  name: string;
  nodes: string[];
  links: { name: string; rate_bps: number; one_way_delay_ns: number; queue: string; channel: string; more: string }[];
  flows: {
    name: string;
    transport: string | null;
    application: string;
    bottleneck_bps: number;
    round_trip_s: number;
    bdp_bytes: number;
    ideal_transfer_time_s: number | null;
    forward: string[];
    reverse: string[];
  }[];
  duration_ns: number;
  seed: number;
}

export interface Checked {
  valid: boolean;
  pending: boolean;
  diagnostics: Diagnostic[];
  more: number;
  places: Entry[] | null;
  drawing: Drawing | null;
  facts: Facts | null;
}

/** What a value may be. */
export interface Kind {
  is:
    | "text"
    | "file"
    | "name"
    | "names"
    | "nodes"
    | "duration"
    | "rate"
    | "size"
    | "ratio"
    | "integer"
    | "number"
    | "words"
    | "boolean"
    | "table"
    | "tables"
    | "named"
    | "kinds"
    | "named-kinds"
    | "either";
  of?: string;
  words?: string[];
  path?: string;
  first?: Kind;
}

export interface Key {
  name: string;
  meaning: string;
  expected: string;
  presence: string;
  required: boolean;
  default: string | null;
  value: Kind;
}

export interface Section {
  path: string;
  kind: string | null;
  called: string;
  named: boolean;
  open: boolean;
  topic: string;
  meaning: string;
  example: string;
  /** The keys of the example, in their order, as TOML. */
  values: Record<string, string>;
  keys: Key[];
}

export interface Named {
  name: string;
  about: string;
}

export interface Parameter {
  name: string;
  meaning: string;
  expected: string;
  presence: string;
}

export interface LanguageAnswer {
  /** Values are pairs of a key and its TOML. */
  sections: (Omit<Section, "values"> & { values: [string, string][] })[];
  names: Record<string, Named[]>;
  parameters: Record<string, Parameter[]>;
  quantities: { what: string; how: string }[];
}

export type Edit =
  | { edit: "set"; path: string[]; value: string | null }
  | { edit: "add"; group: string; name: string; keys: [string, string][] }
  | { edit: "rename"; group: string; name: string; to: string }
  | { edit: "remove"; group: string; name: string };

export interface Splice {
  from: number;
  to: number;
  insert: string;
}

export interface TableAnswer {
  title: string;
  note: string;
  columns: { heading: string; number: boolean }[];
  rows: { text: string; tone: string }[][];
}

export interface Points {
  at_s: number[];
  value: number[];
}

export interface Curve {
  flow: string;
  rate: Points;
  cwnd: Points;
  rtt: Points;
  flight: Points;
}

export interface Result {
  seed: number;
  ended_s: number;
  blocks: Block[];
  curves: Curve[];
  flows: { name: string; delivered_bytes: number; goodput_bps: number; time_s: number | null; finished: boolean }[];
}

export interface RunLine {
  progress?: { run: number; runs: number; at_s: number; end_s: number; what?: string };
  result?: Result;
  spread?: TableAnswer | null;
  measured?: Measured;
  done?: boolean;
}

/** The same scenario on this machine's own TCP. */
export interface Measured {
  blocks: Block[];
}

/** A table with the text before it; the last block may be a text alone. */
export interface Block {
  text: string;
  table: TableAnswer | null;
}
