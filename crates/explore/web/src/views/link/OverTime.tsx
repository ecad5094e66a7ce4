// `over`: the link and the times of the transports by the time of the beginning.
import { Chart, type Series } from "../../ui/Chart";
import { nameOf } from "./Ranking";
import type { Shown } from "./run";

/** Curves, at most: more cannot be told apart. */
const CURVES = 4;

/** The rows that matter most: what is advised, what runs today, what was chosen. */
function chosen(shown: Shown, names: readonly string[], wanted: readonly (string | undefined)[]): string[] {
  const { begin, verdict } = shown;
  const name = (row: number | null | undefined) => {
    const facts = begin.rows.find((each) => each.row === row);
    return facts === undefined ? undefined : nameOf(facts);
  };
  const first = [...wanted, name(verdict?.pick_row), name(begin.baseline), ...(verdict?.order ?? []).map(name)];
  return [...new Set(first.filter((each) => each !== undefined))]
    .filter((each) => names.includes(each))
    .slice(0, CURVES);
}

export function OverTime({
  shown,
  selected,
  beside,
}: {
  shown: Shown;
  selected: string | undefined;
  beside: string | undefined;
}) {
  const day = shown.answer?.by_time;
  if (day === null || day === undefined || day.link.length < 2) return null;
  const hours = day.link.map((hour) => hour.begins_s / 3600);
  const names = day.rows.map(nameOf);
  const severalProxies = shown.begin.peps.length > 1;
  const times = chosen(shown, names, [selected, beside]).map((name, i): Series => {
    const row = day.rows[names.indexOf(name)];
    const [pep, transport] = [row?.pep ?? "", row?.transport ?? ""];
    return {
      label: severalProxies ? `${transport} (${pep})` : transport,
      values: row?.times_s ?? [],
      color: i,
      dash: i,
      kind: "line",
    };
  });
  const x = { label: "start time [h]", values: hours };
  const rtt = day.link.map((hour) => (hour.availability > 0 ? hour.rtt_ns / 1e6 : null));
  const rate = day.link.map((hour) => hour.rate_bps / 1e6);
  const link: Series[] = [{ label: "RTT [ms]", values: rtt, color: 5, kind: "step" }];
  const isRateMoving = rate.some((each) => each !== rate[0]);
  if (isRateMoving) link.push({ label: "rate [Mbit/s]", values: rate, color: 6, dash: 1, kind: "step", axis: "right" });
  const outages = day.link.flatMap((hour, i) => {
    if (hour.availability >= 1) return [];
    const from = hour.begins_s / 3600;
    return [
      { from, to: hours[i + 1] ?? from, label: hour.availability === 0 ? "no path" : "outages", tone: "bad" as const },
    ];
  });
  return (
    <section class="link-over" aria-label="By start time">
      <Chart
        label={`Time of a ${shown.begin.unit} by its start time`}
        x={x}
        y={{ label: "time [s]", from: 0 }}
        series={times}
        spans={outages}
        group="link-over"
        height={220}
      />
      <Chart
        label="The link over the same period"
        x={x}
        y={{ label: "RTT [ms]" }}
        {...(isRateMoving ? { right: { label: "rate [Mbit/s]", from: 0 } } : {})}
        series={link}
        spans={outages}
        group="link-over"
        height={150}
      />
    </section>
  );
}
