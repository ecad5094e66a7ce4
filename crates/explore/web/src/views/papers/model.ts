// What the server says of papers.

export interface Head {
  paper: string;
  title: string;
  authors: string[];
  year: number;
  citation: string;
  items: { slug: string; title: string; kind: "table" | "figure"; study: string; has_printed: boolean }[];
  /** Claims of the paper, and those of the reproduction. */
  claims: number;
  added_claims: number;
  /** How many of the paper's claims have each verdict on record. */
  on_record: { verdict: Verdict; count: number }[];
}

/** The runs that an item needs, those that were not run yet, and whether it has all. */
export interface Need {
  runs: number;
  missing: number;
  is_there: boolean;
  /** With fewer runs of a cell than the study asks for. */
  is_fewer: boolean;
}

export interface TableCell {
  row: string;
  column: string;
  ours: number | null;
  ci95: number | null;
  n: number;
  published: number | null;
  unit: string;
  decimals: number;
  relative_error: number | null;
  verdict: "ok" | "worse" | "reported" | "missing";
  /** Misses its tolerance, as is recorded of it. */
  known: boolean;
  /** The verdict is not the recorded one; so is that of every cell that was not run yet. */
  changed: boolean;
  note: string;
}

/** An error on record, and how far it may move, both as fractions. */
export interface Banded {
  value: number;
  band: number;
}

/** Errors on record in place of a tolerance. */
export interface Recorded {
  mean: Banded | null;
  worst: Banded | null;
  spread: Banded | null;
}

export interface ErrorSummary {
  column: string | null;
  cells: number;
  mean: number | null;
  median: number | null;
  worst: number | null;
  spread: number | null;
  mean_bar: number | null;
  spread_bar: number | null;
  worst_bar: number | null;
  recorded: Recorded | null;
  verdict: TableCell["verdict"];
  missed: string;
  /** The verdict is not the recorded one, or an error has left its band. */
  changed: boolean;
}

export interface PaperTable {
  study: string;
  table: {
    slug: string;
    title: string;
    row_axes: string[];
    rows: string[][];
    columns: string[][];
    transposed?: boolean;
    cells: TableCell[][];
    errors: ErrorSummary[];
  };
  /** Steps of the colour of each cell, negative below print; null without a difference. */
  shades: (number | null)[][];
  has_printed: boolean;
  unit: string | null;
  column_axes: string[];
  /** Axes whose points are readings of what the paper leaves open. */
  readings: string[];
  need: Need;
}

export interface PaperFigure {
  study: string;
  slug: string;
  title: string;
  svg: string | null;
  data: { x_label: string; y_label: string; categories: string[]; notes: string[]; curves: Curve[] } | null;
  need: Need;
}

export interface Curve {
  panel: string;
  label: string;
  points: { x: number; y: number; ci95: number | null; published: number | null }[];
}

/** `3 hold, 1 fails`: verdicts with how often each occurs. */
export function inWords(verdicts: readonly { verdict: Verdict; count: number }[]): string {
  const word = (verdict: Verdict, count: number) =>
    count === 1 ? verdict : verdict === "holds" ? "hold" : verdict === "fails" ? "fail" : verdict;
  const parts = verdicts
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${count} ${word(verdict, count)}`);
  return parts.join(", ");
}

export type Verdict = "holds" | "mostly" | "hardly" | "fails" | "open";

export interface PaperClaim {
  claim: {
    study: string;
    id: string;
    claim: string;
    verdict: Verdict;
    recorded: Verdict | null;
    evidence: string;
    reason: string;
    /** What the verdict rests on besides the source's words; may be empty. */
    basis: string;
    parts: { claim: string; verdict: Verdict; recorded: Verdict | null; evidence: string }[];
    readings: { reading: string; verdict: Verdict; parts: Verdict[] }[];
    regression: boolean;
  };
  need: Need;
  is_of_paper: boolean;
}

export interface Made {
  tables: PaperTable[];
  figures: PaperFigure[];
  claims: PaperClaim[];
  highlights: { what: string; result: string | null }[];
}

export interface Page extends Made {
  head: Head;
  /** Where the steps of the colour begin, as fractions. */
  shades: number[];
}

export interface ProgressLine {
  progress?: { study: string; done: number; total: number; share: number };
  made?: Made;
}

/** A page with what was run since put in its place. */
export function merged(page: Page, made: Made): Page {
  const tables = page.tables.map((table) => made.tables.find((one) => one.table.slug === table.table.slug) ?? table);
  const figures = page.figures.map((figure) => made.figures.find((one) => one.slug === figure.slug) ?? figure);
  const claims = page.claims.map((claim) => made.claims.find((one) => one.claim.id === claim.claim.id) ?? claim);
  return { ...page, tables, figures, claims };
}
