// What holds at the time that is shown, and over all of it.
import { useComputed } from "@preact/signals";
import type { Sky } from "./model";
import { clock, sky, time, version } from "./store";

/** `27.31 ms`. */
export function millis(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : `${value.toFixed(2)} ms`;
}

interface Now {
  delay: string;
  hops: string;
  so: string;
  over: string;
  next: string;
}

/** What holds at a time, in words. */
function nowOf(current: Sky, at: number): Now {
  const leg = current.legAt(at);
  const path = leg?.path;
  const next = current.handoverFrom(at, 1);
  const names = path?.map((stop) => current.nameOf(stop)) ?? [];
  return {
    delay: path === null || path === undefined ? "no path" : millis(current.delayOf(leg, at)),
    hops: path === null || path === undefined ? "–" : String(path.length - 1),
    so: String(current.handoversAt(at)),
    over: path === null || path === undefined ? "There is no path at this time." : names.join(" – "),
    next:
      next === undefined
        ? "none"
        : `${clock(next.at_s)} (${next.ends.map((end) => current.nameOf(end === 0 ? -1 : -2)).join(", ")})`,
  };
}

export function FactsNow() {
  const now = useComputed(() => {
    void version.value;
    const current = sky.value;
    return current === undefined ? undefined : nowOf(current, time.value);
  });
  const part = (of: keyof Now) => <Live of={() => now.value?.[of] ?? ""} />;
  return (
    <section class="sky-facts" aria-label="At this time">
      <dl>
        <div>
          <dt>One-way delay</dt>
          <dd data-fact="delay">{part("delay")}</dd>
        </div>
        <div>
          <dt>Hops</dt>
          <dd data-fact="hops">{part("hops")}</dd>
        </div>
        <div>
          <dt>Handovers so far</dt>
          <dd data-fact="handovers">{part("so")}</dd>
        </div>
        <div>
          <dt>Next handover</dt>
          <dd data-fact="next">{part("next")}</dd>
        </div>
      </dl>
      <p class="sky-over" data-fact="path">
        {part("over")}
      </p>
    </section>
  );
}

/** Text that changes without its surroundings. */
function Live({ of }: { of: () => string }) {
  const text = useComputed(of);
  return <>{text}</>;
}

export function Statistics() {
  void version.value;
  const current = sky.value;
  const found = current?.statistics;
  if (current === undefined || found === undefined) return null;
  const { header } = current;
  const ms = (seconds: number | null) => millis(seconds === null ? null : seconds * 1e3);
  const hops =
    found.hops === null
      ? "–"
      : found.hops[0] === found.hops[1]
        ? String(found.hops[0])
        : `${found.hops[0]} to ${found.hops[1]}`;
  const rows: readonly (readonly [string, string])[] = [
    ["One-way delay, minimum", ms(found.delay_min_s)],
    ["One-way delay, mean", ms(found.delay_mean_s)],
    ["One-way delay, maximum", ms(found.delay_max_s)],
    ["Hops", hops],
    [
      "Availability",
      `${(Math.abs(found.availability) * 100).toFixed(found.availability > 0.999 && found.availability < 1 ? 3 : 1)}%`,
    ],
    ["Handovers", `${found.handovers}, ${found.handovers_per_hour.toFixed(1)} per hour`],
    ["Path changes", String(found.path_changes)],
    ["Outages", found.outages === 0 ? "none" : `${found.outages}, the longest ${found.longest_outage_s.toFixed(0)} s`],
    ["Rate", `${header.rates[0]} down, ${header.rates[1]} up`],
  ];
  return (
    <section class="sky-stats" aria-label="Statistics">
      <h2>
        {header.what}, {clock(current.until)}
        {current.isDone ? "" : " so far"}
      </h2>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="muted small">
        Propagation delay only, without queueing and transmission.{" "}
        {header.start_unix_s === null
          ? "The night side is drawn as if time 0 were midnight UTC at an equinox."
          : `Time 0 is ${new Date(header.start_unix_s * 1000).toISOString().slice(0, 19)}Z.`}
      </p>
    </section>
  );
}
