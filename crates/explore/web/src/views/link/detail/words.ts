// Words and numbers of the panel.
import type { Cause } from "./types";

/** Why packets are lost, behind a number. */
export const CAUSES: Readonly<Record<Cause, string>> = {
  queue_full: "at the full queue",
  aqm: "by active queue management",
  channel: "by errors of the channel",
  outage: "in an outage",
  no_route: "without a route",
};

/** A time with its unit, three digits. */
export function seconds(x: number): string {
  if (x === 0) return "0 s";
  return Math.abs(x) < 1 ? `${digits(x * 1e3)} ms` : `${digits(x)} s`;
}

/** Three digits that count. */
export function digits(x: number): string {
  const size = Math.abs(x);
  if (size >= 99.95) return Math.round(x).toLocaleString("en-GB");
  if (size >= 9.995) return x.toFixed(1);
  return x.toFixed(size >= 0.0995 || x === 0 ? 2 : 3);
}

/** A number of things. */
export function counted(n: number, one: string): string {
  return n === 1 ? `1 ${one}` : `${n.toLocaleString("en-GB")} ${one}s`;
}

/** A row by its name in sentences. */
export function titleOf(row: { pep: string; transport: string }): string {
  return row.pep === "none" ? row.transport : `${row.transport}, proxy ${row.pep}`;
}
