// What the server sends about a question, as `crates/explore/src/link/lines.rs` describes
// it. Times are in seconds, shares are fractions; null where there is no number.
import type { AnswerRecord, LinkRecord, RowFacts, RowRecord, Standing, VerdictRecord } from "./records";

export type { RowFacts, Standing, SwitchOn } from "./records";

/** One line of the stream. */
export type Line =
  | { begin: Begin }
  | { rows: Standing[]; progress: [done: number, total: number] }
  | { verdict: Verdict }
  | { answer: Answer; id: string; done: true };

/** What is compared, before any run. */
export interface Begin {
  /** Names the question. */
  readonly id: string;
  /** The question in words. */
  readonly question: string;
  /** The same in lines, with what is to be known of the link. */
  readonly text: string[];
  readonly link: LinkRecord;
  readonly hosts: string;
  readonly traffic: string;
  /** What takes time: download, page, video. */
  readonly unit: string;
  readonly users: number;
  readonly users_shared: number;
  readonly beside: string | null;
  readonly background: string | null;
  /** Time over which starts are spread. */
  readonly stagger_s: number;
  readonly sizes_bytes: number[];
  /** The sizes in words. */
  readonly sizes: string[];
  readonly ideal_times_s: (number | null)[];
  readonly peps: { pep: string; about: string }[];
  /** The row that others are compared with. */
  readonly baseline: number;
  readonly rows: RowFacts[];
}

/** The verdict of `bentpipe compare --json`, and more. */
export interface Verdict extends VerdictRecord {
  readonly headline: string;
  readonly pick_row: number | null;
  readonly baseline_row: number;
  /** Rows, each proxy's fastest first. */
  readonly order: readonly number[];
  readonly is_final: boolean;
  readonly table: Table;
}

/** A table as the command prints it. */
export interface Table {
  readonly columns: string[];
  readonly rows: { row: number; cells: string[] }[];
  /** What the columns mean. */
  readonly words: string;
}

/** The document of `bentpipe compare --json`, each row with its index. */
export interface Answer extends AnswerRecord {
  readonly rows: readonly (RowRecord & { readonly row: number })[];
}

/** A question by a name. */
export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly options: Record<string, string>;
}
