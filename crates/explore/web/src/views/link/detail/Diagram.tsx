// A time-sequence diagram of a few round trips: what is sent, lost, sent again and
// acknowledged, by the place in the stream against time.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Packets, Step } from "./types";

const HEIGHT = 320;
const LEFT = 64;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 34;

export interface DiagramProps {
  readonly packets: Packets;
  readonly from: number;
  readonly to: number;
  /** Index of the step that is shown in words. */
  readonly at: number;
  readonly onPick: (index: number) => void;
}

/** Round numbers between two others, about `count` of them. */
function ticks(from: number, to: number, count: number): number[] {
  const raw = (to - from) / count;
  if (!(raw > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((digit) => digit * power >= raw) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(to / step + 1e-9) - first + 1) }, (_, i) => (first + i) * step);
}

/**
 * The lines of what has been acknowledged, and of the last segment that the congestion
 * window lets go: what has been sent, and the room that is left beside what is in flight.
 * (What SACK reports is not in flight, so that this may lie far beyond the acknowledged
 * place and the window.)
 */
function edges(packets: Packets, from: number, to: number): { ack: [number, number][]; window: [number, number][] } {
  const mss = packets.mss_bytes;
  let ack = packets.acknowledged_before / mss;
  let sent = packets.sent_before / mss;
  const room = (step: { cwnd: number; flight: number } | undefined) =>
    step === undefined ? 0 : Math.max(0, Math.floor(step.cwnd) - step.flight);
  let edge = sent;
  const lines = { ack: [[from, ack]] as [number, number][], window: [[from, edge]] as [number, number][] };
  for (const step of packets.steps) {
    const next = step.kind === "acknowledged" ? step.ack / mss : ack;
    if (next !== ack) lines.ack.push([step.t, ack], [step.t, next]);
    ack = next;
    if (step.kind === "sent") sent = Math.max(sent, (step.seq + step.bytes) / mss);
    const limit = sent + room(step);
    if (limit !== edge) lines.window.push([step.t, edge], [step.t, limit]);
    edge = limit;
  }
  lines.ack.push([to, ack]);
  lines.window.push([to, edge]);
  return lines;
}

/** The place of a step in the stream, segments; undefined of what has none. */
export function placeOf(step: Step, mss: number): number | undefined {
  switch (step.kind) {
    case "acknowledged":
    case "repeated":
    case "acknowledges":
    case "lost_ack":
    case "timeout":
      return step.ack / mss;
    case "control":
    case "control_arrived":
    case "probe":
      return step.seq / mss;
    default:
      return (step.seq + step.bytes / 2) / mss;
  }
}

export function Diagram({ packets, from, to, at, onPick }: DiagramProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, resize] = useState(640);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => resize(Math.max(260, element.clientWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const mss = packets.mss_bytes;
  const { ack, window } = edges(packets, from, to);
  const places = packets.steps.map((step) => placeOf(step, mss) ?? 0);
  const data = packets.steps.flatMap((step, i) => (step.bytes > 0 ? [places[i] ?? 0] : []));
  const all = [...data, ...ack.map(([, y]) => y)];
  const low = Math.min(...all, Infinity);
  const high = Math.max(...all, -Infinity);
  const room = Math.max(1, (high - low) * 0.06);
  const [y0, y1] = Number.isFinite(low) ? [Math.max(0, low - room), high + room] : [0, 1];
  const x = (t: number) => LEFT + ((t - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (segments: number) => HEIGHT - BOTTOM - ((segments - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const n = (value: number) => value.toFixed(1);
  const path = (points: readonly (readonly [number, number])[]) =>
    points.map(([t, s], i) => `${i === 0 ? "M" : "L"}${n(x(t))} ${n(y(s))}`).join("");
  const shapes: Record<string, string> = {};
  const add = (kind: string, shape: string) => (shapes[kind] = (shapes[kind] ?? "") + shape);
  packets.steps.forEach((step, i) => {
    const [px, py] = [x(step.t), y(places[i] ?? 0)];
    const tall = Math.max(3, ((step.bytes / mss) * (HEIGHT - TOP - BOTTOM)) / (y1 - y0));
    if (step.kind === "sent") add("sent", `M${n(px)} ${n(py - tall / 2)}V${n(py + tall / 2)}`);
    else if (step.kind === "resent")
      add("resent", `M${n(px - 4)} ${n(py + 4)}L${n(px)} ${n(py - 4)}L${n(px + 4)} ${n(py + 4)}Z`);
    else if (step.kind === "lost")
      add(
        "lost",
        `M${n(px - 4)} ${n(py - 4)}L${n(px + 4)} ${n(py + 4)}M${n(px - 4)} ${n(py + 4)}L${n(px + 4)} ${n(py - 4)}`,
      );
    else if (step.kind === "received" || step.kind === "ahead") add("received", `M${n(px - 1)} ${n(py)}h2`);
    else if (step.kind === "duplicate") add("duplicate", `M${n(px - 3)} ${n(py)}h6`);
    else if (step.kind === "timeout") add("timeout", `M${n(px)} ${TOP}V${HEIGHT - BOTTOM}`);
  });
  const current = packets.steps[at];
  const currentPlace = places[at] ?? 0;
  const pick = (event: MouseEvent) => {
    const bounds = box.current?.getBoundingClientRect();
    if (bounds === undefined) return;
    const [mx, my] = [event.clientX - bounds.left, event.clientY - bounds.top];
    let best = -1;
    let distance = Infinity;
    packets.steps.forEach((step, i) => {
      const d = (x(step.t) - mx) ** 2 + (y(places[i] ?? 0) - my) ** 2;
      if (d < distance) [best, distance] = [i, d];
    });
    if (best >= 0) onPick(best);
  };
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.max(1e-6, (to - from) / 5)))));
  return (
    <div ref={box} class="detail-diagram" onClick={pick}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Time-sequence diagram, ${packets.steps.length} steps; the buttons below step through them`}
      >
        {ticks(from, to, Math.max(2, width / 130)).map((t) => (
          <g key={`x${t}`} class="detail-tick">
            <line x1={x(t)} x2={x(t)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text x={x(t)} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
              {t.toFixed(digits)}
            </text>
          </g>
        ))}
        {ticks(y0, y1, 5).map((s) => (
          <g key={`y${s}`} class="detail-tick">
            <line x1={LEFT} x2={width - RIGHT} y1={y(s)} y2={y(s)} />
            <text x={LEFT - 6} y={y(s) + 4} text-anchor="end">
              {s.toLocaleString("en-GB")}
            </text>
          </g>
        ))}
        <text class="detail-axis" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 4} text-anchor="middle">
          time [s]
        </text>
        <text class="detail-axis" x={-(HEIGHT - BOTTOM + TOP) / 2} y={12} text-anchor="middle" transform="rotate(-90)">
          segment of the stream
        </text>
        <clipPath id="detail-clip">
          <rect x={LEFT} y={TOP} width={width - LEFT - RIGHT} height={HEIGHT - TOP - BOTTOM} />
        </clipPath>
        <g clip-path="url(#detail-clip)">
          <path class="detail-window" d={path(window)} />
          <path class="detail-ack" d={path(ack)} />
          {Object.entries(shapes).map(([kind, shape]) => (
            <path key={kind} class={`detail-${kind}`} d={shape} />
          ))}
          {current !== undefined && (
            <>
              <line class="detail-now" x1={x(current.t)} x2={x(current.t)} y1={TOP} y2={HEIGHT - BOTTOM} />
              <circle class="detail-ring" cx={x(current.t)} cy={y(currentPlace)} r={7} />
            </>
          )}
        </g>
      </svg>
    </div>
  );
}
