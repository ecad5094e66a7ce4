// What the server sends about one run, as `crates/explore/src/curves/` describes it. Times
// are in seconds of the run; null where there is no number.

export interface Line {
  readonly t: readonly number[];
  readonly v: readonly (number | null)[];
}

export type Curve = "received" | "rate" | "cwnd" | "ssthresh" | "flight" | "rtt" | "queue";
export type Banded = "received" | "rate" | "cwnd" | "rtt" | "queue";
export type Cause = "queue_full" | "aqm" | "channel" | "outage" | "no_route";

export interface Count {
  readonly t: number;
  readonly count: number;
}

export interface Phase {
  readonly title: string;
  readonly from: number;
  readonly to: number;
}

export interface Act extends Phase {
  readonly text: readonly string[];
}

export interface Run {
  readonly row: RowName;
  readonly name: string;
  /** The transport that sends over the link: a proxy's behind a split-connection proxy. */
  readonly sender: string;
  readonly size: number;
  readonly seed: number;
  readonly user: number;
  /** What the user does. */
  readonly activity: "download" | "web" | "video" | "upload" | "call";
  readonly users: number;
  readonly runs: number;
  readonly started_s: number;
  readonly ended_s: number | null;
  readonly end_s: number;
  readonly time_s: number | null;
  readonly mean_s: number | null;
  readonly median_s: number | null;
  readonly ideal_s: number | null;
  readonly link: {
    readonly rate_bps: number;
    readonly rtt_s: number;
    readonly bdp_segments: number;
    readonly queue_packets: number;
    readonly mss_bytes: number;
  };
  readonly series: Readonly<Record<Curve, Line>>;
  readonly losses: readonly (Count & { readonly cause: Cause })[];
  readonly resent: readonly Count[];
  readonly timeouts: readonly Count[];
  readonly lost_acks: readonly Count[];
  readonly phases: readonly Phase[];
  readonly acts: readonly Act[];
  readonly summary: readonly string[];
  /** Where the time went; empty of a computed bound. */
  readonly spent: readonly { readonly name: string; readonly title: string; readonly time_s: number }[];
  readonly seeds: readonly { readonly seed: number; readonly time_s: number | null }[];
}

export interface Limits {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  readonly least: readonly (number | null)[];
  readonly most: readonly (number | null)[];
  readonly median: readonly (number | null)[];
}

/** What the other runs of the same setting did. */
export type Band = Readonly<Record<Banded, Limits>> & { readonly runs: number; readonly t: readonly number[] };

export type Answer = { readonly run: Run } | { readonly band: Band | null } | { readonly done: true };

/** A row of the ranking. */
export interface RowName {
  readonly pep: string;
  readonly transport: string;
}

/** Which run is asked for. */
export interface Asked {
  readonly options: readonly (readonly [string, string])[];
  readonly row: RowName;
  readonly size: number;
  readonly user?: number;
  readonly seed?: number;
}

export type StepKind =
  | "sent"
  | "resent"
  | "probe"
  | "control"
  | "control_arrived"
  | "received"
  | "ahead"
  | "duplicate"
  | "acknowledges"
  | "acknowledged"
  | "repeated"
  | "lost"
  | "lost_ack"
  | "timeout";

/** What happened to one packet or timer. */
export interface Step {
  readonly t: number;
  readonly kind: StepKind;
  /** Offsets in the stream, bytes. */
  readonly seq: number;
  readonly bytes: number;
  readonly ack: number;
  readonly sack: readonly (readonly [number, number])[];
  readonly window: number;
  /** Of the sender after the instant, segments. */
  readonly cwnd: number;
  readonly flight: number;
  readonly phase: string;
  readonly cause?: Cause;
  readonly title: string;
  readonly text: string;
}

export interface Packets {
  readonly mss_bytes: number;
  readonly rtt_s: number;
  readonly acknowledged_before: number;
  readonly sent_before: number;
  /** Where the steps end, if there were too many. */
  readonly cut_at: number | null;
  /** The nearest losses, retransmissions and timeouts before and after the steps. */
  readonly previous_loss_s: number | null;
  readonly next_loss_s: number | null;
  readonly steps: readonly Step[];
}
