// What the server sends about a question, as `crates/explore/src/link.rs` describes it.
// Times are in seconds, shares are fractions; null where there is no number.

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
  readonly link: LinkFacts;
  readonly hosts: string;
  readonly traffic: string;
  /** What takes time: download, page, video. */
  readonly unit: string;
  readonly users: number;
  readonly users_shared: number;
  readonly beside: string | null;
  readonly background: string | null;
  readonly sizes_bytes: number[];
  /** The sizes in words. */
  readonly sizes: string[];
  readonly ideal_times_s: (number | null)[];
  readonly peps: { pep: string; about: string }[];
  /** The row that others are compared with. */
  readonly baseline: number;
  readonly rows: RowFacts[];
}

/** A transport behind a proxy. */
export interface RowFacts {
  readonly row: number;
  readonly pep: string;
  readonly transport: string;
  readonly about: string;
  readonly availability: string;
  /** It can be switched on today. */
  readonly deployable: boolean;
}

export interface LinkFacts {
  readonly rate_bps: number;
  readonly return_rate_bps: number;
  readonly rtt_ns: number;
  readonly packet_error_rate: number;
  readonly mean_burst_packets: number | null;
  readonly queue: string;
  readonly queue_bytes: number;
  readonly bdp_bytes: number;
  readonly server_rtt_ns: number | null;
  readonly course: Course | null;
}

/** How the link changes with time. */
export interface Course {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly notes: string[];
  readonly min_rtt_ns: number;
  readonly mean_rtt_ns: number;
  readonly max_rtt_ns: number;
  readonly path_changes_per_hour: number;
  readonly availability: number;
}

export interface Gain {
  readonly share: number;
  readonly ci95: number | null;
}

/** What users of the default lose beside a row. */
export interface Others {
  readonly time_lost_share: number;
  readonly ci95: number | null;
  readonly time_before_s: number;
  readonly time_beside_it_s: number;
  readonly runs: number;
  readonly effect: "hurts" | "may hurt" | "helps" | "none";
}

/** How a row stands at a size. */
export interface Standing {
  readonly row: number;
  readonly size: number;
  readonly mean_s: number | null;
  readonly ci95_s: number | null;
  readonly median_s: number | null;
  readonly min_s: number | null;
  readonly max_s: number | null;
  readonly runs: number;
  readonly unfinished: number;
  readonly gain: Gain | null;
  readonly others: Others | null;
  readonly resent_share: number;
  readonly p95_queueing_delay_s: number;
  readonly goodput_bps: number;
  readonly slow_s: number | null;
  /** As the command prints them. */
  readonly shown: { time: string | null; ci95: string | null; slow: string | null; others: string | null; gain: string | null };
  /** Of several activities, each. */
  readonly times?: { name: string; mean_s: number | null; ci95_s: number | null }[];
}

export interface Named {
  readonly pep: string;
  readonly transport: string;
}

export interface SwitchOn {
  readonly text: string;
  readonly commands: string[];
}

export interface Verdict {
  readonly pick: Named | null;
  readonly baseline: Named;
  readonly keep: boolean;
  readonly certainty: "exact" | "clear" | "open";
  /** Sentences; the first is the headline. */
  readonly text: string[];
  readonly switch_on: SwitchOn;
  readonly by_size: (Named & { size_bytes: number; gain: Gain })[];
  readonly rejected: (Named & { why: string })[];
  readonly headline: string;
  readonly pick_row: number | null;
  readonly baseline_row: number;
  /** Rows, each proxy's fastest first. */
  readonly order: number[];
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

/** The document of `bentpipe compare --json`, as far as the page reads it. */
export interface Answer {
  readonly verdict: Omit<Verdict, "headline" | "pick_row" | "baseline_row" | "order" | "is_final" | "table">;
  readonly rows: AnswerRow[];
  readonly by_time: ByTime | null;
  readonly comparable_only_with: string[];
  readonly seed: number;
  readonly runs: number;
}

export interface AnswerRow extends Named {
  readonly row: number;
  readonly about: string;
  readonly switch_on: SwitchOn;
  readonly gain: Gain | null;
}

/** The link and the times by the time of the beginning. */
export interface ByTime {
  readonly link: {
    begins_s: number;
    rate_bps: number;
    rtt_ns: number;
    path_changes: number;
    availability: number;
  }[];
  readonly rows: (Named & { median_s: number | null; worst_tenth_s: number | null; times_s: (number | null)[] })[];
}

/** A question by a name. */
export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly options: Record<string, string>;
}
