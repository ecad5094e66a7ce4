// The numbers of a chart as one table: x, then a column for each series.
import uPlot from "uplot";
import { csvField } from "../../lib/csv";
import type { ChartProps, Series } from "./props";

/** Columns of uPlot with the places of bands in them. */
export interface Table {
  readonly columns: uPlot.AlignedData;
  /** For each series the column of its values. */
  readonly at: readonly number[];
  /** For each series with a band the columns of its limits. */
  readonly bands: readonly (readonly [number, number] | undefined)[];
}

/** Columns of a series: its values, then the limits of its band. */
function columns(series: Series): (number | null)[][] {
  const all = [[...series.values]];
  if (series.band !== undefined) all.push([...series.band.low], [...series.band.high]);
  return all;
}

/** Joins the series at the union of their x; what a series lacks there is no gap. */
export function table(props: ChartProps): Table {
  const common = props.x.values ?? [];
  const ends = [props.x.from, props.x.to].filter((end) => end !== undefined);
  const at: number[] = [];
  const bands: ([number, number] | undefined)[] = [];
  let next = 1;
  for (const series of props.series) {
    at.push(next);
    bands.push(series.band === undefined ? undefined : [next + 1, next + 2]);
    next += series.band === undefined ? 1 : 3;
  }
  if (props.series.every((series) => series.x === undefined)) {
    return { columns: [[...common], ...props.series.flatMap(columns)], at, bands };
  }
  const parts = props.series.map((series): uPlot.AlignedData => [[...(series.x ?? common)], ...columns(series)]);
  // What the chart shows of x besides, so that all of a group show the same.
  return { columns: uPlot.join([[[...common, ...ends].toSorted((a, b) => a - b)], ...parts]), at, bands };
}

/** The headings of the columns. */
export function headings(props: ChartProps): string[] {
  const of = (series: Series) =>
    series.band === undefined ? [series.label] : [series.label, `${series.label}, low`, `${series.label}, high`];
  return [props.x.label, ...props.series.flatMap(of)];
}

/** All numbers as CSV. */
export function csv(props: ChartProps): string {
  const { columns } = table(props);
  const lines = [headings(props).map(csvField).join(",")];
  columns[0].forEach((_, row) => lines.push(columns.map((column) => column[row] ?? "").join(",")));
  return `${lines.join("\r\n")}\r\n`;
}
