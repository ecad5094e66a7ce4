// Delay, hops and rate against time, with handovers and outages; the line of the time goes
// with the globe, and a click or a drag goes to a time.
import { effect, signal, untracked } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { colours, faded } from "../../lib/colours";
import { isDark } from "../../lib/scheme";
import { lastAt } from "../../lib/search";
import { Segmented } from "../../ui";
import type { Sky } from "./model";
import { clock, goTo, isPlaying, sky, time, version } from "./store";

/** Seconds that the charts show; 0 is all. */
const span = signal<"0" | "21600" | "3600" | "600">("0");
/** From where to where the charts go. */
const range = signal<readonly [number, number]>([0, 1]);

const LEFT = 52;
const RIGHT = 8;

/** Keeps the time that is shown within the charts. */
function useRange(): void {
  useEffect(
    () =>
      effect(() => {
        void version.value;
        const all = sky.value?.header.duration_s ?? 1;
        const wide = Number(span.value);
        const at = time.value;
        if (wide === 0 || wide >= all) {
          if (range.peek()[0] !== 0 || range.peek()[1] !== all) range.value = [0, all];
          return;
        }
        const [from, to] = range.peek();
        if (Math.abs(to - from - wide) < 1e-6 && at >= from && at <= to && to <= all) return;
        const start = Math.max(0, Math.min(all - wide, at - wide / 3));
        range.value = [start, start + wide];
      }),
    [],
  );
}

interface Kind {
  label: string;
  unit: string;
  height: number;
  /** Pieces of the line: times and values in turn. */
  pieces: (current: Sky, from: number, to: number) => readonly (readonly number[])[];
  isStep?: boolean;
  fromZero?: boolean;
  describe: (current: Sky) => string;
  digits: (span: number) => number;
}

/** The legs that overlap a range. */
function legsIn(current: Sky, from: number, to: number) {
  const first = Math.max(
    0,
    lastAt(current.legs.length, (i) => current.legs[i]?.from_s ?? 0, from),
  );
  const last = lastAt(current.legs.length, (i) => current.legs[i]?.from_s ?? 0, to);
  return current.legs.slice(first, last + 1);
}

const DELAY: Kind = {
  label: "One-way delay",
  unit: "ms",
  height: 120,
  pieces: (current, from, to) => legsIn(current, from, to).flatMap((leg) => (leg.path === null ? [] : [leg.delay])),
  describe: (current) => {
    const found = current.statistics;
    if (found?.delay_min_s == null || found.delay_max_s === null || found.delay_mean_s === null) return "no path";
    const ms = (s: number) => (s * 1e3).toFixed(2);
    return `from ${ms(found.delay_min_s)} to ${ms(found.delay_max_s)} ms, mean ${ms(found.delay_mean_s)} ms`;
  },
  digits: (wide) => (wide > 8 ? 0 : wide > 0.8 ? 1 : 2),
};

const HOPS: Kind = {
  label: "Hops",
  unit: "",
  height: 70,
  isStep: true,
  fromZero: true,
  pieces: (current, from, to) =>
    legsIn(current, from, to).flatMap((leg) =>
      leg.path === null ? [] : [[leg.from_s, leg.path.length - 1, leg.to_s, leg.path.length - 1]],
    ),
  describe: (current) => {
    const hops = current.statistics?.hops;
    return hops == null ? "no path" : `from ${hops[0]} to ${hops[1]}`;
  },
  digits: () => 0,
};

const RATE: Kind = {
  label: "Rate of the path",
  unit: "Mbit/s",
  height: 64,
  isStep: true,
  fromZero: true,
  pieces: (current, from, to) => {
    const rate = current.header.rates_bps[0] / 1e6;
    return [
      legsIn(current, from, to).flatMap((leg) =>
        leg.path === null ? [leg.from_s, 0, leg.to_s, 0] : [leg.from_s, rate, leg.to_s, rate],
      ),
    ];
  },
  describe: (current) =>
    `${current.header.rates[0]} while there is a path, nothing in ${current.statistics?.outages ?? 0} outages`,
  digits: (wide) => (wide < 5 ? 1 : 0),
};

export function Strips() {
  useRange();
  void version.value;
  const current = sky.value;
  if (current === undefined) return null;
  const all = current.header.duration_s;
  const isBroken = (current.statistics?.outages ?? 0) > 0;
  const spans = [
    { value: "0", label: "All" },
    { value: "21600", label: "6 h" },
    { value: "3600", label: "1 h" },
    { value: "600", label: "10 min" },
  ] as const;
  return (
    <section class="sky-strips" aria-label="Over time">
      <div class="row row-between">
        <h2>Over time</h2>
        <Segmented
          label="Time range of the charts"
          hideLabel
          value={span.value}
          options={spans.filter((one) => Number(one.value) < all)}
          onValue={(value) => (span.value = value)}
        />
      </div>
      <Strip kind={DELAY} isLast={false} />
      <Strip kind={HOPS} isLast={!isBroken} />
      {isBroken && <Strip kind={RATE} isLast />}
      <p class="muted small">
        Ticks at the top are handovers{isBroken ? "; shaded bars are outages" : ""}. Click or drag to go to a time.
      </p>
    </section>
  );
}

function Strip({ kind, isLast }: { kind: Kind; isLast: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    let frame = 0;
    const draw = () => {
      frame = 0;
      const current = sky.peek();
      if (current !== undefined) paint(element, kind, current, range.peek(), isLast);
      place();
    };
    const ask = () => {
      if (frame === 0) frame = requestAnimationFrame(draw);
    };
    const place = () => {
      if (line.current === null) return;
      const [from, to] = range.peek();
      const share = (time.peek() - from) / (to - from);
      line.current.hidden = share < 0 || share > 1;
      line.current.style.transform = `translateX(${LEFT + share * (element.clientWidth - LEFT - RIGHT)}px)`;
    };
    const stops = [
      effect(() => {
        void [sky.value, version.value, range.value, isDark.value];
        untracked(ask);
      }),
      effect(() => {
        void time.value;
        untracked(place);
      }),
    ];
    const watch = new ResizeObserver(ask);
    watch.observe(element);
    return () => {
      for (const stop of stops) stop();
      watch.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [kind, isLast]);
  const scrub = (event: PointerEvent) => {
    const element = canvas.current;
    if (element === null || (event.type === "pointermove" && event.buttons !== 1)) return;
    if (event.type === "pointerdown") element.setPointerCapture(event.pointerId);
    const [from, to] = range.peek();
    isPlaying.value = false;
    goTo(from + ((event.offsetX - LEFT) / (element.clientWidth - LEFT - RIGHT)) * (to - from));
  };
  const current = sky.value;
  const height = kind.height + (isLast ? 18 : 0);
  return (
    <div class="sky-strip" style={{ height: `${height}px` }}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${kind.label} over time: ${current === undefined ? "" : kind.describe(current)}`}
        onPointerDown={scrub}
        onPointerMove={scrub}
      />
      <span ref={line} class="sky-line" aria-hidden="true" />
    </div>
  );
}

/** Steps of an axis that people read: 1, 2 or 5 times a power of ten. */
function nice(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((one) => one * power).find((step) => step >= rough) ?? rough;
}

const TIMES = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200];

function paint(
  canvas: HTMLCanvasElement,
  kind: Kind,
  current: Sky,
  [from, to]: readonly [number, number],
  isLast: boolean,
): void {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.max(1, Math.round(w * ratio));
  canvas.height = Math.max(1, Math.round(h * ratio));
  const g = canvas.getContext("2d");
  if (g === null) return;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const all = colours();
  const bottom = h - (isLast ? 20 : 4);
  const top = 18;
  const x = (at: number) => LEFT + ((at - from) / (to - from)) * (w - LEFT - RIGHT);
  const pieces = kind.pieces(current, from, to);
  const values = pieces.flatMap((piece) => piece.filter((_, i) => i % 2 === 1));
  let low = values.reduce((least, value) => Math.min(least, value), Infinity);
  let high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  if (kind.fromZero === true) low = 0;
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
  if (high - low < 0.02) [low, high] = [low - 1, high + 1];
  const step = nice((high - low) / 3);
  low = Math.floor(low / step) * step;
  high = Math.ceil(high / step) * step;
  const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;
  g.font = `${11 * scale}px ${getComputedStyle(canvas).fontFamily}`;
  g.lineWidth = 1;
  g.strokeStyle = all.line;
  g.fillStyle = all.muted;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (let value = low; value <= high + step / 2; value += step) {
    const at = Math.round(y(value)) + 0.5;
    g.beginPath();
    g.moveTo(LEFT, at);
    g.lineTo(w - RIGHT, at);
    g.stroke();
    g.fillText(value.toFixed(kind.digits(high - low)), LEFT - 6, at);
  }
  g.textAlign = "left";
  g.fillText(`${kind.label}${kind.unit === "" ? "" : ` [${kind.unit}]`}`, LEFT, 7);
  // Outages, then the line, then handovers.
  g.fillStyle = faded(all.bad, 0.28);
  for (const leg of legsIn(current, from, to)) {
    if (leg.path !== null) continue;
    const left = Math.max(LEFT, x(leg.from_s));
    g.fillRect(left, top, Math.max(1.5, Math.min(w - RIGHT, x(leg.to_s)) - left), bottom - top);
  }
  g.save();
  g.beginPath();
  g.rect(LEFT, 0, w - LEFT - RIGHT, bottom + 2);
  g.clip();
  g.beginPath();
  let end: readonly [number, number] | undefined;
  for (const piece of pieces) {
    for (let i = 0; i + 1 < piece.length; i += 2) {
      const [px, py] = [x(piece[i] ?? 0), y(piece[i + 1] ?? 0)];
      // A leg that follows at once is joined by a vertical line.
      if (i === 0 && (end === undefined || Math.abs(end[0] - px) > 0.5)) g.moveTo(px, py);
      else g.lineTo(px, py);
      end = [px, py];
    }
  }
  g.strokeStyle = kind.isStep === true ? all.c2 : all.c0;
  g.lineWidth = 1.4;
  g.lineJoin = "round";
  g.stroke();
  g.beginPath();
  for (const { at_s } of current.handovers) {
    if (at_s < from || at_s > to) continue;
    const at = Math.round(x(at_s)) + 0.5;
    g.moveTo(at, top - 5);
    g.lineTo(at, top);
  }
  g.strokeStyle = all.c1;
  g.lineWidth = 1;
  g.stroke();
  g.restore();
  if (!isLast) return;
  g.fillStyle = all.muted;
  g.textAlign = "center";
  g.textBaseline = "alphabetic";
  const wanted = ((to - from) / (w - LEFT - RIGHT)) * 70;
  const every = TIMES.find((one) => one >= wanted) ?? 43_200;
  for (let at = Math.ceil(from / every) * every; at <= to; at += every) {
    g.fillText(clock(at).slice(0, 5), Math.min(w - RIGHT - 14, x(at)), h - 4);
  }
}
