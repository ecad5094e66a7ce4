// A download over the satellites: what arrives when, with the handovers on the curve; the
// globe goes with the cursor.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, type Params } from "../../lib/address";
import { stream } from "../../lib/api";
import { announce, Button, messageOf, Note, Table, TextField, type Column } from "../../ui";
import { Chart, type Mark, type Series, type Span } from "../../ui/Chart";
import type { Sky } from "./model";
import { clock, fieldOf, goTo, isPlaying, sky, time } from "./store";
import type { Download, Question } from "./types";

interface Line {
  readonly run?: Download;
  readonly done?: boolean;
}

/** What lasts a minute or some over each. */
const SIZES: Readonly<Record<string, string>> = { starlink: "1 GB", geo: "60 MB", walker: "150 MB", file: "150 MB" };
const WITH = "cubic, bbr";
/** As many handovers and losses as can be told apart. */
const MOST_MARKS = 60;

export function DownloadPanel({ params, question }: { params: Params; question: Question }) {
  const [runs, setRuns] = useState<readonly Download[]>([]);
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const going = useRef<AbortController | undefined>(undefined);
  const standard = SIZES[question.orbit] ?? "30 MB";
  const size = params["_size"] ?? standard;
  const names = params["_with"] ?? WITH;
  const asked = JSON.stringify(question);
  useEffect(() => {
    // A download over other satellites is another one.
    setRuns([]);
    setError(undefined);
    return () => going.current?.abort();
  }, [asked]);

  const run = () => {
    going.current?.abort();
    const controller = new AbortController();
    going.current = controller;
    setRuns([]);
    setError(undefined);
    setRunning(true);
    const transports = names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const wanted = { sky: question, transports, size, start_s: time.peek() };
    let done: readonly Download[] = [];
    const take = (line: Line) => {
      if (line.run === undefined) return;
      done = [...done, line.run];
      setRuns(done);
    };
    stream<Line>("/api/sky/download", wanted, take, controller.signal)
      .then(() => announce(done.map(sentence).join(" ")))
      .catch((problem: unknown) => {
        if (!controller.signal.aborted) setError(problem);
      })
      .finally(() => {
        if (going.current === controller) setRunning(false);
      });
  };
  const field = fieldOf(error);
  const wrong = (name: string) => (field === name ? messageOf(error) : undefined);
  return (
    <section class="sky-download" aria-label="A download over these satellites">
      <h2>A download over these satellites</h2>
      <form
        class="sky-run"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <TextField
          label="Transports"
          value={names}
          error={wrong("transports")}
          help="Up to four, separated by commas, such as cubic, bbr, hybla; one curve each. `bentpipe transports` lists them."
          onValue={(value) => change({ _with: value === WITH ? "" : value })}
        />
        <TextField
          label="Size"
          value={size}
          error={wrong("size")}
          help="Size of the download, such as 30 MB."
          onValue={(value) => change({ _size: value === standard ? "" : value })}
        />
        <Button kind="primary" icon="play" disabled={isRunning} onClick={run}>
          {isRunning ? "Downloading …" : "Start a download at this time"}
        </Button>
      </form>
      {error !== undefined && field === undefined && <Note kind="bad">{messageOf(error)}</Note>}
      {runs.length > 0 && sky.value !== undefined && <Curves runs={runs} current={sky.value} />}
    </section>
  );
}

function seconds(run: Download): string {
  return run.ended_s === null ? "not finished" : `${(run.ended_s - run.started_s).toFixed(2)} s`;
}

function sentence(run: Download): string {
  return run.ended_s === null ? `${run.transport} did not finish.` : `${run.transport}: ${seconds(run)}.`;
}

/** A column of numbers. */
const counted = (label: string, of: (run: Download) => number): Column<Download> => ({
  key: label,
  label,
  numeric: true,
  cell: (run) => String(of(run)),
  sort: of,
});

const COLUMNS: readonly Column<Download>[] = [
  { key: "transport", label: "Transport", cell: (run) => run.transport },
  { key: "time", label: "Time", numeric: true, cell: seconds, sort: (run) => run.until_s - run.started_s },
  { key: "goodput", label: "Goodput", numeric: true, cell: (run) => run.goodput },
  counted("Retransmissions", (run) => run.retransmissions),
  counted("Timeouts", (run) => run.timeouts),
  counted("Dropped by queues", (run) => run.queue_drops),
  counted("Lost in outages", (run) => run.outage_losses),
];

/** A curve, from the start of the download on. */
function series(run: Download, curve: readonly number[], scale: number, index: number): Series {
  const x: number[] = [];
  const values: number[] = [];
  for (let i = 0; i + 1 < curve.length; i += 2) {
    const at = Math.max(0, (curve[i] ?? 0) - run.started_s);
    // Points of the same millisecond are one.
    if (x.length > 0 && at <= (x[x.length - 1] ?? 0)) continue;
    x.push(at);
    values.push((curve[i + 1] ?? 0) * scale);
  }
  return { label: run.transport, x, values, color: index, dash: index };
}

function Curves({ runs, current }: { runs: readonly Download[]; current: Sky }) {
  const start = runs[0]?.started_s ?? 0;
  const until = Math.max(...runs.map((run) => run.until_s));
  const handovers = current.handovers.filter((one) => one.at_s > start && one.at_s < until);
  const marks: Mark[] = handovers.slice(0, MOST_MARKS).map((one) => {
    const whose = one.ends.map((end) => current.nameOf(end === 0 ? -1 : -2)).join(", ");
    const to = one.satellite === null ? "no satellite" : current.nameOf(one.satellite);
    return { at: one.at_s - start, label: `${whose}: ${to}`, tone: "warn" };
  });
  const changes = current.legs.filter((leg) => leg.path !== null && leg.from_s > start && leg.from_s < until);
  const others = changes.filter((leg) => !handovers.some((one) => one.at_s === leg.from_s)).slice(0, MOST_MARKS);
  marks.push(...others.map((leg): Mark => ({ at: leg.from_s - start, label: "path change", tone: "muted" })));
  const spans: Span[] = current.legs
    .filter((leg) => leg.path === null && leg.to_s > start && leg.from_s < until)
    .map((leg) => ({
      from: Math.max(0, leg.from_s - start),
      to: Math.min(until, leg.to_s) - start,
      label: "no path",
      tone: "bad",
    }));
  const lost = (run: Download, i: number): Mark[] => {
    const times = run.lost.filter((_, k) => k % 2 === 0).slice(0, MOST_MARKS);
    return times.map((at) => ({ at: at - start, y: cwndAt(run, at), label: "retransmission", tone: "bad", series: i }));
  };
  const shared = {
    x: { label: "Time since the start [s]", from: 0, to: until - start },
    group: "sky-download",
    marks,
    spans,
    height: 150,
    legend: false,
    onCursor: (x: number | null) => {
      if (x === null) return;
      isPlaying.value = false;
      goTo(start + x);
    },
  };
  const all = (of: (run: Download) => readonly number[], scale: number) =>
    runs.map((run, i) => series(run, of(run), scale, i));
  return (
    <div class="stack">
      <Table caption="Downloads" hideCaption columns={COLUMNS} rows={runs} rowKey={(run) => run.transport} />
      <p class="muted small">
        Starts at {clock(start)}.{" "}
        {handovers.length === 0
          ? "No handover"
          : handovers.length === 1
            ? "One handover"
            : `${handovers.length} handovers`}{" "}
        until the last one ends{handovers.length > MOST_MARKS ? `; the first ${MOST_MARKS} are marked` : ""}
        {others.length === 0
          ? ""
          : `; the satellites between change ${others.length === 1 ? "once" : `${others.length} times`}`}
        . The rate counts bytes delivered in order, so that a repaired loss shows as a peak. The globe follows the
        cursor of the charts.
      </p>
      <Chart
        {...shared}
        label="Received in order"
        y={{ label: "received [MB]", from: 0 }}
        series={all((run) => run.received, 1e-6)}
        height={190}
        legend
      />
      <Chart {...shared} label="Rate" y={{ label: "rate [Mbit/s]", from: 0 }} series={all((run) => run.rate, 1e-6)} />
      <Chart
        {...shared}
        label="Congestion window"
        y={{ label: "cwnd [segments]", from: 0 }}
        series={all((run) => run.cwnd, 1).map((one) => ({ ...one, kind: "step" as const }))}
        marks={[...marks, ...runs.flatMap(lost)]}
      />
      <Chart {...shared} label="Round-trip time" y={{ label: "RTT [ms]" }} series={all((run) => run.rtt, 1)} />
    </div>
  );
}

/** The congestion window at a time. */
function cwndAt(run: Download, at: number): number {
  let found = 0;
  for (let i = 0; i + 1 < run.cwnd.length && (run.cwnd[i] ?? 0) <= at; i += 2) found = run.cwnd[i + 1] ?? 0;
  return found;
}
