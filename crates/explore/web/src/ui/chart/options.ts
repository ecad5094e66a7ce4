// What uPlot is given: scales, axes, lines, and what is drawn beneath and above them.
import uPlot from "uplot";
import { DASHES, faded as faint } from "../../lib/colours";
import type { Axis, ChartProps, Range, Tone } from "./props";
import type { Table } from "./table";
import type { Theme } from "./theme";

/** Of a number on an axis or in a legend: three digits that mean something. */
export function plain(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return size >= 100 ? Math.round(value).toLocaleString("en-GB") : value.toFixed(digits);
}

/** Levels are in sight unless they would press the lines together. */
const REACH = 2;

/** Room above the highest value, as a part of the height; more where names stand there. */
const ROOM = 0.05;
const ROOM_FOR_NAMES = 0.14;

function scale(axis: Axis, levels: readonly number[] = [], room = ROOM): uPlot.Scale {
  if (axis.isLog === true) return { distr: 3 };
  return {
    range: (_, low, most): uPlot.Range.MinMax => {
      const high = Math.max(most, ...levels.filter((level) => level <= REACH * most));
      const [from, to] = [axis.from ?? Math.min(low, 0), axis.to ?? high];
      // A scale has an extent, also of equal values or none.
      if (!Number.isFinite(from) || !Number.isFinite(to) || from >= to) return [from || 0, (from || 0) + 1];
      return [from, axis.to === undefined ? to + room * (to - from) : to];
    },
  };
}

function axis(of: Axis, theme: Theme, more: uPlot.Axis): uPlot.Axis {
  const made: uPlot.Axis = {
    label: of.label,
    labelSize: 18,
    labelGap: 2,
    labelFont: theme.font,
    font: theme.font,
    stroke: theme.muted,
    gap: 4,
    grid: { stroke: faint(theme.line, 0.6), width: 1 },
    ticks: { stroke: theme.line, width: 1, size: 4 },
    ...more,
  };
  const { format } = of;
  if (format !== undefined) made.values = (_, splits) => splits.map((value) => (value === null ? "" : format(value)));
  return made;
}

/** A colour for what stands for something. */
const tone = (theme: Theme, of: Tone | undefined) => theme.tones[of ?? "muted"];

/** Shaded stretches, beneath the lines. */
function spans(u: uPlot, props: ChartProps, theme: Theme): void {
  const { left, top, width, height } = u.bbox;
  const ratio = devicePixelRatio;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  u.ctx.font = theme.font.replace("12px", `${11 * ratio}px`);
  // uPlot leaves the alignment of its axes.
  u.ctx.textAlign = "left";
  u.ctx.textBaseline = "top";
  for (const span of props.spans ?? []) {
    const [from, to] = [u.valToPos(span.from, "x", true), u.valToPos(span.to, "x", true)];
    u.ctx.fillStyle = faint(tone(theme, span.tone), 0.12);
    u.ctx.fillRect(from, top, Math.max(1, to - from), height);
    u.ctx.fillStyle = theme.muted;
    const start = Math.max(from, left) + 4 * ratio;
    if (u.ctx.measureText(span.label).width < Math.min(to, left + width) - start)
      u.ctx.fillText(span.label, start, top + 3 * ratio);
  }
  u.ctx.restore();
}

/** Marks and levels, above the lines. */
function marks(u: uPlot, props: ChartProps, theme: Theme): void {
  const { left, top, width, height } = u.bbox;
  const ratio = devicePixelRatio;
  const { ctx } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.font = theme.font.replace("12px", `${11 * ratio}px`);
  ctx.lineWidth = ratio;
  for (const level of props.levels ?? []) {
    const y = Math.round(u.valToPos(level.y, "y", true)) + 0.5;
    ctx.strokeStyle = ctx.fillStyle = tone(theme, level.tone);
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
    ctx.textAlign = "right";
    const isHigh = y - 16 * ratio < top;
    ctx.textBaseline = isHigh ? "top" : "bottom";
    ctx.fillText(level.label, left + width - 4 * ratio, y + (isHigh ? 2 : -2) * ratio);
  }
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  let free = -Infinity;
  // Below the names of the stretches, which have the first line.
  const line = (props.spans ?? []).some((span) => span.label !== "") ? 17 : 3;
  for (const mark of props.marks ?? []) {
    const x = Math.round(u.valToPos(mark.at, "x", true)) + 0.5;
    if (x < left - 8 || x > left + width + 8) continue;
    const color =
      mark.series === undefined
        ? tone(theme, mark.tone)
        : theme.series[(props.series[mark.series]?.color ?? mark.series) % 8];
    ctx.strokeStyle = ctx.fillStyle = color ?? theme.muted;
    ctx.setLineDash([]);
    ctx.beginPath();
    if (mark.y === undefined) {
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
      if (x > free) {
        ctx.fillText(mark.label, x + 4 * ratio, top + line * ratio);
        free = x + ctx.measureText(mark.label).width + 10 * ratio;
      }
    } else {
      const [y, size] = [u.valToPos(mark.y, "y", true), 3.5 * ratio];
      ctx.lineWidth = 1.6 * ratio;
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x - size, y + size);
      ctx.lineTo(x + size, y - size);
      ctx.stroke();
    }
  }
  ctx.restore();
}

/** The lines, and the limits of their bands, which have no line. */
function lines(props: ChartProps, theme: Theme): uPlot.Series[] {
  const all: uPlot.Series[] = [{ label: props.x.label }];
  const { stepped } = uPlot.paths;
  props.series.forEach((series, i) => {
    const full = theme.series[(series.color ?? i) % theme.series.length] ?? theme.text;
    const stroke = series.isFaint === true ? faint(full, 0.4) : full;
    const scale = series.axis === "right" ? "right" : "y";
    const isPoints = series.kind === "points";
    const line: uPlot.Series = {
      label: series.label,
      scale,
      stroke,
      width: isPoints ? 0 : (series.width ?? 1.75),
      dash: [...(DASHES[(series.dash ?? 0) % DASHES.length] ?? [])],
      points: isPoints ? { show: true, size: 4, fill: stroke, stroke } : { show: false },
    };
    if (series.kind === "step" && stepped !== undefined) line.paths = stepped({ align: 1 });
    if (isPoints) line.paths = () => null;
    all.push(line);
    if (series.band !== undefined) {
      const limit: uPlot.Series = { scale, width: 0, stroke: "transparent", points: { show: false } };
      all.push({ ...limit }, { ...limit });
    }
  });
  return all;
}

/** What the chart reports. */
export interface Events {
  zoomed(range: Range): void;
  moved(index: number | null): void;
}

/** Options for a chart of that size. */
export function options(
  props: ChartProps,
  { bands }: Table,
  theme: Theme,
  size: { width: number; height: number },
  events: Events,
): uPlot.Options {
  const scales: uPlot.Scales = {
    x: { time: false },
    y: scale(
      props.y,
      props.levels?.map(({ y }) => y),
      (props.spans ?? []).some((span) => span.label !== "") ? ROOM_FOR_NAMES : ROOM,
    ),
  };
  const axes = [axis(props.x, theme, { scale: "x", size: 30 }), axis(props.y, theme, { scale: "y", size: 52 })];
  if (props.right !== undefined) {
    scales["right"] = scale(props.right);
    axes.push(axis(props.right, theme, { scale: "right", side: 1, size: 52, grid: { show: false } }));
  }
  if (props.x.isLog === true) scales["x"] = { time: false, distr: 3 };
  const filled: uPlot.Band[] = [];
  bands.forEach((band, i) => {
    const color = theme.series[(props.series[i]?.color ?? i) % theme.series.length] ?? theme.text;
    if (band !== undefined) filled.push({ series: [band[1], band[0]], fill: faint(color, 0.16) });
  });
  const made: uPlot.Options = {
    ...size,
    scales,
    axes,
    series: lines(props, theme),
    bands: filled,
    legend: { show: false },
    padding: [8, props.right === undefined ? 12 : 0, 0, 0],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
      focus: { prox: -1 },
    },
    hooks: {
      drawClear: [(u) => spans(u, props, theme)],
      draw: [(u) => marks(u, props, theme)],
      setCursor: [(u) => events.moved(u.cursor.idx ?? null)],
      setSelect: [
        (u) => {
          const { left, width } = u.select;
          if (width > 4) events.zoomed([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
  if (props.group !== undefined) made.cursor = { ...made.cursor, sync: { key: props.group, setSeries: false } };
  return made;
}
