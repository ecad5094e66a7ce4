// The sliders: which texts they put into their fields, and where they stand for what the
// server read. Only the server reads text; a slider writes round values.
import type { Params } from "../../lib/address";
import type { OptionKind, OptionName } from "../../lib/options";
import type { Begin } from "./types";

export interface SliderField {
  readonly name: OptionName;
  readonly label: string;
  readonly zero?: boolean;
  /** The text of a number, unless it is that of the kind of the option. */
  readonly write?: (value: number) => string;
  /** What the server read, in the same unit; undefined if nothing. */
  readonly read: (begin: Begin) => number | undefined;
}

type Units = readonly (readonly [size: number, name: string])[];

/** Two digits that mean something, with the largest unit that leaves one before the point. */
const withUnit = (units: Units) => (value: number) => {
  const [size, name] = units.find(([size]) => value >= size * 0.999) ?? units[units.length - 1] ?? [1, ""];
  return `${Number((value / size).toPrecision(2))} ${name}`;
};

/** The text of a number, by the kind of the option. */
const WRITE: Partial<Record<OptionKind, (value: number) => string>> = {
  rate: withUnit([
    [1e9, "Gbit/s"],
    [1e6, "Mbit/s"],
    [1e3, "kbit/s"],
  ]),
  time: withUnit([
    [1, "s"],
    [1e-3, "ms"],
  ]),
  size: withUnit([
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ]),
  length: (value) => `${value} BDP`,
  count: (value) => String(Math.round(value)),
  loss: (value) => `${Number((value * 100).toPrecision(2))}%`,
};

/** The text of a number in a field; empty until the server has said what the option takes. */
export function written(field: SliderField, kind: OptionKind | undefined, value: number): string {
  const write = field.write ?? (kind && WRITE[kind]);
  return write === undefined ? "" : write(value);
}

export const RATE: SliderField = {
  name: "rate",
  label: "Rate",
  read: ({ link }) => link.rate_bps,
};
export const RETURN_RATE: SliderField = {
  name: "return-rate",
  label: "Return rate",
  read: ({ link }) => link.return_rate_bps,
};
export const RTT: SliderField = {
  name: "rtt",
  label: "RTT",
  read: ({ link }) => link.rtt_ns / 1e9,
};
export const QUEUE: SliderField = {
  name: "queue",
  label: "Queue",
  read: ({ link }) => link.queue_bytes / link.bdp_bytes,
};
export const USERS: SliderField = {
  name: "users",
  label: "Users",
  read: ({ users }) => users,
};
export const SIZE: SliderField = {
  name: "size",
  label: "Size",
  read: ({ sizes_bytes }) => sizes_bytes[sizes_bytes.length - 1],
};
export const SERVER_RTT: SliderField = {
  name: "server-rtt",
  label: "Server to gateway",
  read: ({ link }) => (link.server_rtt_ns === null ? undefined : link.server_rtt_ns / 1e9),
};
/** What the channel loses; the text has the bursts as well. */
export const LOSS: SliderField = {
  name: "loss",
  label: "Loss",
  zero: true,
  read: ({ link }) => link.packet_error_rate,
};
export const BURST: SliderField = {
  name: "loss",
  label: "Burst",
  write: (value) => (value <= 1 ? "" : `${value} packets`),
  read: ({ link }) => link.mean_burst_packets ?? 1,
};

const BURSTS = " in bursts of ";

/** The two parts of the text of a loss. */
export function split(text: string): [share: string, burst: string] {
  const [share = "", burst = ""] = text.split(BURSTS, 2);
  return [share, burst];
}

export function join(share: string, burst: string): string {
  return burst === "" || share === "" ? share : share + BURSTS + burst;
}

/** What the server read of an option, if it read the text that is there now. */
export function reading(
  begun: { options: Params; begin: Begin } | null,
  name: string,
  text: string,
  read: (begin: Begin) => number | undefined,
): number | undefined {
  return begun !== null && (begun.options[name] ?? "") === text ? read(begun.begin) : undefined;
}
