// Delay and handovers as a table of text.
import { csvField } from "../../lib/csv";
import type { Sky } from "./model";

/** A row for each point of the delay and each handover. */
export function csv(current: Sky): string {
  const rows: [number, string][] = [];
  for (const leg of current.legs) {
    const path = leg.path?.map((stop) => current.nameOf(stop)).join(" ") ?? "";
    if (leg.path === null) rows.push([leg.from_s, `${leg.from_s},outage,,,,`]);
    for (let i = 0; i + 1 < leg.delay.length; i += 2) {
      rows.push([
        leg.delay[i] ?? 0,
        `${leg.delay[i]},delay,${leg.delay[i + 1]},${(leg.path?.length ?? 1) - 1},${csvField(path)},`,
      ]);
    }
  }
  for (const { at_s, ends, satellite } of current.handovers) {
    const whose = ends.map((end) => current.nameOf(end === 0 ? -1 : -2)).join(" and ");
    const to = satellite === null ? "none" : current.nameOf(satellite);
    rows.push([at_s, `${at_s},handover,,,${csvField(to)},${csvField(whose)}`]);
  }
  rows.sort((a, b) => a[0] - b[0]);
  return `time_s,what,one_way_delay_ms,hops,satellites,terminal\n${rows.map(([, row]) => row).join("\n")}\n`;
}
