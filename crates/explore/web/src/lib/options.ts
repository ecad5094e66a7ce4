// The options of `bentpipe compare`. Generated from their declaration by a test of
// crates/present, with BENTPIPE_GENERATE=write.

export type OptionName =
  | "rate"
  | "rtt"
  | "orbit"
  | "from"
  | "to"
  | "capture"
  | "trace"
  | "over"
  | "slot"
  | "loss"
  | "jitter"
  | "fade"
  | "modcod"
  | "margin"
  | "coding"
  | "queue"
  | "return-rate"
  | "users"
  | "terminals"
  | "traffic"
  | "size"
  | "page-objects"
  | "dns"
  | "stagger"
  | "beside"
  | "background"
  | "transport"
  | "hosts"
  | "pep"
  | "server-rtt"
  | "runs"
  | "time"
  | "robust"
  | "seed";

export type OptionKind =
  | "rate"
  | "time"
  | "orbit"
  | "place"
  | "file"
  | "number"
  | "loss"
  | "text"
  | "choice"
  | "length"
  | "count"
  | "size"
  | "flag"
  | "transport"
  | "load";

export type OptionGroup =
  | "link"
  | "users"
  | "comparison";

/** What the server says of an option (`bentpipe_present::question::fields`). */
export interface OptionHelp {
  readonly name: OptionName;
  /** What it is, with the default at its end. */ readonly help: string;
  /** What a value is called. */ readonly value: string;
  /** It takes several values, with commas between them. */ readonly several: boolean;
  readonly kind: OptionKind;
  readonly group: OptionGroup;
  /** Where a slider begins and ends, in bit/s, seconds, bytes, shares or numbers. */ readonly slider: readonly [from: number, to: number] | null;
  /** The value without the option, where it is fixed. */ readonly default: string | null;
  /** The values to choose from. */ readonly choices: readonly { readonly value: string; readonly about: string }[];
}
