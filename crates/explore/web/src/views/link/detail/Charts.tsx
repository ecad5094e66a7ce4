// The curves of one run, or of two with the same axes: window, rate, queue, RTT, received.
// All share the cursor and the range of time.
import { Chart, type ChartHandle, type Level, type Mark, type Series, type Span, type Tone } from "../../../ui/Chart";
import { lastAt } from "../../../lib/search";
import type { Band, Banded, Cause, Curve, Limits, Run } from "./types";
import { CAUSES, counted, seconds, titleOf } from "./words";

/** A run with the band of its setting. */
export interface Shown {
  readonly run: Run;
  readonly band: Band | null | undefined;
}

/** Charts of this group are zoomed together. */
export const GROUP = "link-detail";

const TONES: Readonly<Record<Cause, Tone>> = {
  queue_full: "bad",
  aqm: "accent",
  channel: "warn",
  outage: "muted",
  no_route: "muted",
};

/** Shades that follow each other differ. */
const SHADES: readonly Tone[] = ["accent", "muted"];

const time = (label: string, end: number) => ({
  label,
  from: 0,
  to: end,
  format: (t: number) => String(Math.round(t * 1000) / 1000),
});

/** The value of a line at a time, held since the last point. */
function valueAt(run: Run, curve: Curve, t: number): number {
  const { t: times, v } = run.series[curve];
  return (
    v[
      Math.max(
        0,
        lastAt(times.length, (i) => times[i] ?? Infinity, t),
      )
    ] ?? 0
  );
}

function spans(run: Run): Span[] {
  return run.phases.map((phase, i) => ({
    from: phase.from,
    to: phase.to,
    label: phase.title,
    tone: SHADES[i % 2] ?? "muted",
  }));
}

/** Losses at the height of a curve, and timeouts as lines. */
function marks(shown: readonly Shown[], curve: Curve): Mark[] {
  const all = shown.flatMap(({ run }) => {
    const of = shown.length > 1 ? `${titleOf(run.row)}: ` : "";
    const losses = run.losses.map((loss) => ({
      at: loss.t,
      y: valueAt(run, curve, loss.t),
      label: `${of}${counted(loss.count, "segment")} lost ${CAUSES[loss.cause]}`,
      tone: TONES[loss.cause],
    }));
    const timeouts = run.timeouts.map((timeout) => ({ at: timeout.t, label: `${of}timeout`, tone: "bad" as const }));
    return [...losses, ...timeouts];
  });
  return all.toSorted((a, b) => a.at - b.at);
}

export function Charts({
  shown,
  isWide,
  handles,
}: {
  shown: readonly Shown[];
  isWide: boolean;
  handles?: (chart: ChartHandle | null) => void;
}) {
  const first = shown[0]?.run;
  if (first === undefined) return null;
  const end = Math.max(...shown.map(({ run }) => run.end_s));
  const name = (run: Run) => titleOf(run.row);
  const lines = (curve: Banded, label: string, kind: "line" | "step"): Series[] =>
    shown.flatMap(({ run, band }, i) => {
      const line: Series = {
        label: shown.length > 1 ? `${name(run)}: ${label}` : label,
        x: run.series[curve].t,
        values: run.series[curve].v,
        color: i,
        dash: i,
        kind,
        width: 1.6,
      };
      return band === null || band === undefined
        ? [line]
        : [bandOf(band, band[curve], i, isWide, shown.length > 1 ? `${name(run)}: ` : ""), line];
    });
  const more = (curve: "ssthresh" | "flight", label: string, color: number, dash: number): Series[] =>
    shown.length > 1 || first.series[curve].t.length === 0
      ? []
      : [{ label, x: first.series[curve].t, values: first.series[curve].v, color, dash, kind: "step", width: 1 }];
  const { link } = first;
  const has = (curve: Curve) => shown.some(({ run }) => run.series[curve].t.length > 0);
  const levels = {
    cwnd: [{ y: link.bdp_segments, label: "BDP", tone: "muted" }],
    rate: [{ y: link.rate_bps / 1e6, label: "link rate", tone: "muted" }],
    queue: [{ y: link.queue_packets, label: "full", tone: "muted" }],
    rtt: [{ y: link.rtt_s, label: "propagation", tone: "muted" }],
  } satisfies Record<string, Level[]>;
  const phases = shown.length === 1 ? spans(first) : [];
  // What the charts below the window have in common; spans have their words above.
  const shared = {
    group: GROUP,
    height: 150,
    x: time("time [s]", end),
    spans: phases.map((span) => ({ ...span, label: "" })),
  };
  return (
    <div class="detail-charts">
      {has("cwnd") && (
        <Chart
          {...shared}
          label="Congestion window"
          description={losses(shown)}
          height={210}
          y={{ label: "segments" }}
          series={[
            ...lines("cwnd", "cwnd", "step"),
            ...more("ssthresh", "ssthresh", 7, 2),
            ...more("flight", "in flight", 2, 1),
          ]}
          marks={marks(shown, "cwnd")}
          levels={levels.cwnd}
          spans={phases}
          {...(handles === undefined ? {} : { handle: handles })}
        />
      )}
      <Chart
        {...shared}
        label="Rate of delivery in order, over two RTTs"
        description="A repaired loss releases at once what waited behind it, which may exceed the rate of the link"
        y={{ label: "Mbit/s" }}
        series={lines("rate", "rate", "step")}
        levels={levels.rate}
      />
      {has("queue") && (
        <Chart
          {...shared}
          label="Queue before the link"
          y={{ label: "packets" }}
          series={lines("queue", "waiting", "step")}
          marks={marks(shown, "queue").filter((mark) => mark.y !== undefined)}
          levels={levels.queue}
        />
      )}
      {has("rtt") && (
        <Chart
          {...shared}
          label="Round-trip time"
          y={{ label: "s", format: (v) => String(Math.round(v * 1000) / 1000) }}
          series={lines("rtt", "RTT", "step")}
          levels={levels.rtt}
        />
      )}
      <Chart {...shared} label="Received in order" y={{ label: "MB" }} series={lines("received", "received", "step")} />
    </div>
  );
}

function bandOf(band: Band, limits: Limits, color: number, isWide: boolean, of: string): Series {
  const [low, high] = isWide ? [limits.least, limits.most] : [limits.low, limits.high];
  return {
    label: `${of}median of ${band.runs} runs, band ${isWide ? "of all" : "10% to 90%"}`,
    x: band.t,
    values: limits.median,
    band: { low, high },
    color,
    dash: 3,
    width: 1,
    isFaint: true,
  };
}

/** What is lost, in words. */
export function losses(shown: readonly Shown[]): string {
  const of = ({ run }: Shown) => {
    const sums = new Map<Cause, number>();
    for (const loss of run.losses) sums.set(loss.cause, (sums.get(loss.cause) ?? 0) + loss.count);
    const parts = [...sums].map(([cause, n]) => `${counted(n, "segment")} lost ${CAUSES[cause]}`);
    const timeouts = run.timeouts.reduce((sum, timeout) => sum + timeout.count, 0);
    if (timeouts > 0) parts.push(counted(timeouts, "timeout"));
    const what = parts.length === 0 ? "nothing lost" : parts.join(", ");
    // Of pages and videos there are many times, or none.
    const time = run.time_s === null ? "not finished" : seconds(run.time_s);
    return `${titleOf(run.row)}: ${what}${run.activity === "download" ? `, ${time}` : ""}`;
  };
  return shown.map(of).join("; ");
}
