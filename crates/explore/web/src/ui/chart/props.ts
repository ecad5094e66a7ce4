// What a chart is drawn from.

/** What a mark, a level or a span stands for; each has a colour of the scheme. */
export type Tone = "accent" | "good" | "warn" | "bad" | "muted";

/** A value, or none where there is a gap. */
export type Values = readonly (number | null)[];

export interface Series {
  readonly label: string;
  readonly values: Values;
  /** Its own x, ascending; otherwise that of the chart. */
  readonly x?: readonly number[];
  /** Which of the colours `--c0` to `--c7`; the number of the series unless given. */
  readonly color?: number;
  /** Which of the dashes, 0 is solid. */
  readonly dash?: number;
  /** Width of the line in CSS pixels. */
  readonly width?: number;
  readonly kind?: "line" | "step" | "points";
  readonly axis?: "left" | "right";
  /** Lower and upper limit around it, such as of all runs. */
  readonly band?: { readonly low: Values; readonly high: Values };
  /** Drawn faintly, as what one compares with. */
  readonly isFaint?: boolean;
}

/** A vertical line at `at`, or with `y` a cross at that point. */
export interface Mark {
  readonly at: number;
  readonly y?: number;
  readonly label: string;
  readonly tone?: Tone;
  /** Index of the series whose colour it takes. */
  readonly series?: number;
}

/** A horizontal line. */
export interface Level {
  readonly y: number;
  readonly label: string;
  readonly tone?: Tone;
}

/** A shaded stretch of x, such as a phase or an outage. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly tone?: Tone;
}

export interface Axis {
  /** What it shows, with the unit: "time [s]". */
  readonly label: string;
  readonly isLog?: boolean;
  /** Limits that the data do not move. */
  readonly from?: number;
  readonly to?: number;
  readonly format?: (value: number) => string;
}

/** A range of x. */
export type Range = readonly [number, number];

/** What the owner of a chart can do with it. */
export interface ChartHandle {
  /** The picture as it is shown, with the colours of the scheme. */
  toPng(): Promise<Blob>;
  /** All numbers, a row for each x. */
  toCsv(): string;
  /** Shows that range of x; `null` shows all. */
  zoom(range: Range | null): void;
  /** Puts the cursor there. */
  cursor(x: number): void;
}

export interface ChartProps {
  /** What the chart shows, for people who cannot see it. */
  readonly label: string;
  /** More about it, such as what is striking. */
  readonly description?: string;
  readonly x: Axis & { readonly values?: readonly number[] };
  readonly y: Axis;
  readonly right?: Axis;
  readonly series: readonly Series[];
  readonly marks?: readonly Mark[];
  readonly levels?: readonly Level[];
  readonly spans?: readonly Span[];
  /** Charts of the same group share the cursor and the range of x. */
  readonly group?: string;
  /** Height in CSS pixels, without the legend. */
  readonly height?: number;
  /** False draws no legend, where another chart of the group has it. */
  readonly legend?: boolean;
  /** A click, or Enter at the cursor. */
  readonly onPick?: (x: number) => void;
  /** Where the cursor is; `null` when it leaves. */
  readonly onCursor?: (x: number | null) => void;
  readonly handle?: (chart: ChartHandle | null) => void;
}
