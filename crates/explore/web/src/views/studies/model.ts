// What the server says of a study, and the question that the address asks of it.
import type { Params } from "../../lib/address";

/** A study below the folder that was opened: results, or a file that may be run. */
export interface Listed {
  study: string;
  kind: "results" | "file";
}

export interface Listing {
  folder: string;
  studies: Listed[];
  is_cut: boolean;
}

export interface StudyAxis {
  name: string;
  column: string;
  points: string[];
  /** The number of each point, in `unit`; null unless all points have one. */
  numbers: number[] | null;
  unit: string;
}

export interface Metric {
  name: string;
  unit: string;
  about: string;
}

/** A figure of the study's file, as a question of ours. */
export interface Preset {
  slug: string;
  title: string;
  x: string;
  series: string;
  facet: string;
  metric: string;
  log: string;
  filters: Filter[];
}

export interface Study {
  name: string;
  version: string;
  runs: number;
  files: number;
  axes: StudyAxis[];
  metrics: Metric[];
  is_folder: boolean;
  /** The files for programs that read Parquet: a path or a pattern. */
  path: string;
  figures: Preset[];
  /** The file of the study, below the folder that was opened; null if it is not there. */
  file: string | null;
}

export interface Filter {
  column: string;
  only?: string[];
  from?: number;
  to?: number;
}

/** How numbers are shown: multiplied by `factor`, with so many digits after the point. */
export interface Scale {
  unit: string;
  factor: number;
  decimals: number;
}

export interface Group {
  column: string;
  name: string;
  labels: string[];
  numbers: number[] | null;
  bounds: [number, number][] | null;
  unit: string;
  scale: Scale;
}

export interface Side {
  groups: Group[];
  places: number[][];
}

/** Value, lower and upper end of its interval, runs with a value, runs; null without runs. */
export type Cell = [number | null, number | null, number | null, number, number] | null;

export interface Pivot {
  rows: Side;
  columns: Side;
  cells: Cell[];
  selected: number;
  unit: string;
  scale: Scale;
  is_count: boolean;
}

export const STATISTICS = [
  { value: "mean", label: "mean, 95% interval" },
  { value: "median", label: "median, 95% interval" },
  { value: "p5", label: "5th percentile" },
  { value: "p10", label: "10th percentile" },
  { value: "p25", label: "lower quartile" },
  { value: "p75", label: "upper quartile" },
  { value: "p90", label: "90th percentile" },
  { value: "p95", label: "95th percentile" },
  { value: "p99", label: "99th percentile" },
  { value: "min", label: "smallest" },
  { value: "max", label: "largest" },
  { value: "sd", label: "standard deviation" },
  { value: "count", label: "runs with a value" },
  { value: "finished", label: "share of runs finished" },
];

/** What is asked: a table and a figure of the same runs. */
export interface Question {
  study: string;
  rows: string[];
  columns: string[];
  metric: string;
  statistic: string;
  filters: Filter[];
  /** Of one cell of the table: only the list of runs is about it. */
  cell: Filter[];
  x: string;
  series: string;
  facet: string;
  log: string;
}

/** A part of the address; one that somebody mistyped stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const list = (text: string): string[] =>
  text
    .split(",")
    .filter((part) => part !== "")
    .map(decoded);

/** Names as a parameter of the address. */
export function listed(names: readonly string[]): string {
  return names.map((name) => name.replace(/[%,]/g, encodeURIComponent)).join(",");
}

/** The text of a filter in the address: `cubic,hybla`, or `0.1..2`. */
export function filterText(filter: Filter): string {
  if (filter.only !== undefined)
    return filter.only.length === 0 ? "," : listed(filter.only.map((name) => (name === "" ? "%" : name)));
  return `${filter.from ?? ""}..${filter.to ?? ""}`;
}

function filterOf(study: Study, column: string, text: string): Filter | undefined {
  if (study.axes.some((axis) => axis.column === column) || column === "failure") {
    return {
      column,
      only: text
        .split(",")
        .filter((part) => part !== "")
        .map((part) => (part === "%25" ? "" : decoded(part))),
    };
  }
  const [from = "", to = ""] = text.split("..", 2);
  const filter: Filter = { column };
  if (from !== "" && Number.isFinite(Number(from))) filter.from = Number(from);
  if (to !== "" && Number.isFinite(Number(to))) filter.to = Number(to);
  return filter.from === undefined && filter.to === undefined ? undefined : filter;
}

/** The filters that parameters with this prefix are. */
function filtersOf(study: Study, params: Params, prefix: string): Filter[] {
  const found = Object.entries(params).filter(([name]) => name.startsWith(prefix));
  return found
    .map(([name, text]) => filterOf(study, name.slice(prefix.length), text))
    .filter((filter) => filter !== undefined);
}

/** The question without parameters: the last axis across, the others with few points down. */
export function defaults(study: Study): Question {
  const axes = study.axes.filter((axis) => axis.points.length > 1);
  const all = axes.length > 0 ? axes : study.axes;
  const across = [...all].reverse().find((axis) => axis.numbers === null) ?? all[all.length - 1];
  const down = all.filter((axis) => axis !== across).slice(-2);
  const x = [...all].reverse().find((axis) => axis.numbers !== null && axis !== across) ?? down[0] ?? across;
  const series = across === x ? undefined : across;
  const known = (name: string) => study.metrics.some((metric) => metric.name === name);
  const metric = ["transfer_time_s", "goodput_bps"].find(known) ?? study.metrics[0]?.name ?? "";
  return {
    study: "",
    rows: down.map((axis) => axis.column),
    columns: across === undefined ? [] : [across.column],
    metric,
    statistic: "mean",
    filters: [],
    cell: [],
    x: x?.column ?? "",
    series: series?.column ?? "",
    facet: "",
    log: "",
  };
}

/** What the address asks. `none` is an axis that is deliberately not there. */
export function questionOf(study: Study, params: Params): Question {
  const usual = defaults(study);
  const known = (name: string) =>
    study.axes.some((axis) => axis.column === name) || study.metrics.some((metric) => metric.name === name);
  const one = (name: string | undefined, otherwise: string) =>
    name === "none" ? "" : name !== undefined && known(name) ? name : otherwise;
  const several = (text: string | undefined, otherwise: string[]) =>
    text === undefined ? otherwise : text === "none" ? [] : list(text).filter(known);
  const facet = one(params["facet"], usual.facet);
  let x = one(params["x"], usual.x);
  const filters = filtersOf(study, params, "f.");
  const isOne = (column: string) => filters.some((filter) => filter.column === column && filter.only?.length === 1);
  // An axis has one place in a figure.
  if ((x === facet || isOne(x)) && params["x"] === undefined) {
    const free = study.axes.filter(
      ({ column, points }) => column !== facet && column !== usual.series && !isOne(column) && points.length > 1,
    );
    x = (free.find(({ numbers }) => numbers !== null) ?? free[0])?.column ?? x;
  }
  const series = one(params["series"], usual.series);
  return {
    study: params["study"] ?? "",
    rows: several(params["rows"], usual.rows),
    columns: several(params["columns"], usual.columns),
    metric: study.metrics.some((metric) => metric.name === params["metric"]) ? (params["metric"] ?? "") : usual.metric,
    statistic: STATISTICS.some(({ value }) => value === params["statistic"])
      ? (params["statistic"] ?? "")
      : usual.statistic,
    filters,
    cell: filtersOf(study, params, "c."),
    x,
    series: series === x || series === facet ? "" : series,
    facet: facet === x ? "" : facet,
    log: params["log"] ?? "",
  };
}

/** The filters with one changed; undefined takes it away. */
function withFilter(filters: readonly Filter[], column: string, filter: Filter | undefined): Filter[] {
  const others = filters.filter((known) => known.column !== column);
  return filter === undefined ? others : [...others, filter];
}

/** Two sets of filters as one that holds both. */
export function both(filters: readonly Filter[], more: readonly Filter[]): Filter[] {
  let all = [...filters];
  for (const filter of more) {
    const known = all.find(({ column }) => column === filter.column);
    if (known === undefined) {
      all.push(filter);
    } else if (filter.only !== undefined) {
      const only = known.only?.filter((name) => filter.only?.includes(name)) ?? filter.only;
      all = withFilter(all, filter.column, { column: filter.column, only });
    } else {
      const joined: Filter = { column: filter.column };
      const from = Math.max(known.from ?? -Infinity, filter.from ?? -Infinity);
      const to = Math.min(known.to ?? Infinity, filter.to ?? Infinity);
      if (from > -Infinity) joined.from = from;
      if (to < Infinity) joined.to = to;
      all = withFilter(all, filter.column, joined);
    }
  }
  return all;
}

/** A number as the table shows it. */
export function shown(value: number | null | undefined, scale: Scale): string {
  return value === null || value === undefined ? "" : (value * scale.factor).toFixed(scale.decimals);
}

/** `120 runs`, `1 run`. */
export function runsText(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "run" : "runs"}`;
}

/** The name of a column for people: of an axis its name, else the column. */
export function nameOf(study: Study, column: string): string {
  return study.axes.find((axis) => axis.column === column)?.name ?? column;
}

/** The labels of a place on a side. */
export function labelsOf(side: Side, place: number): string[] {
  return (side.places[place] ?? []).map((code, i) => side.groups[i]?.labels[code] ?? "");
}

/** The filters that select the runs of a place. */
export function filtersOfPlace(side: Side, place: number): Filter[] {
  return (side.places[place] ?? []).flatMap((code, i): Filter[] => {
    const group = side.groups[i];
    if (group === undefined) return [];
    const bounds = group.bounds?.[code];
    if (bounds !== undefined) return [{ column: group.column, from: bounds[0], to: bounds[1] }];
    return [{ column: group.column, only: [group.labels[code] ?? ""] }];
  });
}

/** A metric in words, without the unit at the end of its column: `transfer time`. */
export function wordsOf(metric: string): string {
  return metric.replace(/_(s|ns|bps|bytes|segments|ratio|bdp|packets)$/, "").replaceAll("_", " ");
}
