// What the server says about satellites; see crates/explore/src/sky.rs.

/** A place as the server names it. */
export interface Place {
  readonly text: string;
  readonly name?: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly people?: number;
  readonly country?: string;
}

/** A file of orbital elements. */
export interface GivenFile {
  readonly name: string;
  readonly text: string;
}

/** What is asked: satellites, two places, how long. */
export interface Question {
  orbit: string;
  from: string;
  to: string;
  hours?: number;
  slot?: number;
  pattern?: string;
  altitude_km?: number;
  shape?: string;
  mask?: number;
  handover?: string;
  isl?: boolean;
  file?: GivenFile;
}

/** How satellites move, and what goes with them. */
export interface Header {
  readonly kind: "shell" | "standing" | "sampled";
  readonly count: number;
  /** Half angles of the caps that satellites serve, degrees; one where all are the same. */
  readonly half: readonly number[];
  readonly isls: readonly (readonly [number, number, number])[];
  readonly duration_s: number;
  readonly ends: readonly [Place, Place];
  readonly what: string;
  readonly notes: readonly string[];
  readonly mask_deg: readonly number[];
  readonly is_linked: boolean;
  readonly rates_bps: readonly [number, number];
  readonly rates: readonly [string, string];
  readonly scenario: string;
  /** What time 0 is, seconds since 1970; null where the satellites have no calendar. */
  readonly start_unix_s: number | null;
  readonly day_s: number;
  readonly earth_km: number;
  // Of a shell.
  readonly per_plane?: number;
  readonly arguments?: readonly number[];
  readonly inclination?: number;
  readonly spacing?: number;
  readonly period_s?: number;
  readonly radius_km?: number | readonly number[];
  // Of satellites that stand.
  readonly places?: readonly (readonly [number, number])[];
  // Of a file.
  readonly names?: readonly string[];
}

/** A path and when it is taken; -1 and -2 are where the flow begins and ends. */
export interface Leg {
  readonly from_s: number;
  readonly to_s: number;
  readonly path: readonly number[] | null;
  /** Times in seconds and one-way delays in milliseconds, in turn. */
  readonly delay: readonly number[];
}

/** A change of satellite at one end, or at both. */
export interface Handover {
  readonly at_s: number;
  readonly ends: readonly number[];
  readonly satellite: number | null;
}

export interface Statistics {
  readonly delay_min_s: number | null;
  readonly delay_mean_s: number | null;
  readonly delay_max_s: number | null;
  readonly hops: readonly [number, number] | null;
  readonly availability: number;
  readonly handovers: number;
  readonly handovers_per_hour: number;
  readonly path_changes: number;
  readonly outages: number;
  readonly longest_outage_s: number;
}

export interface Part {
  readonly since_s: number;
  readonly until_s: number;
  readonly legs: readonly Leg[];
  readonly handovers: readonly Handover[];
  /** When (ms), which link, its ends, whether it is up. */
  readonly changes: readonly (readonly [number, number, number, number, number])[];
  readonly statistics: Statistics;
}

export interface Samples {
  readonly from_s: number;
  readonly step_s: number;
  readonly steps: number;
  readonly unit_km: number;
  readonly base64: string;
}

export interface Line {
  readonly sky?: Header;
  readonly part?: Part;
  readonly samples?: Samples;
  readonly done?: boolean;
}

/** A simulated download; curves are times in seconds and values in turn. */
export interface Download {
  readonly transport: string;
  readonly started_s: number;
  readonly ended_s: number | null;
  readonly until_s: number;
  readonly delivered_bytes: number;
  readonly goodput: string;
  readonly retransmissions: number;
  readonly timeouts: number;
  readonly outage_losses: number;
  readonly queue_drops: number;
  readonly received: readonly number[];
  readonly rate: readonly number[];
  readonly cwnd: readonly number[];
  readonly rtt: readonly number[];
  readonly lost: readonly number[];
}
