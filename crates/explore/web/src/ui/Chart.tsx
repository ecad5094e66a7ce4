// A chart of series over x: zoom and cursor by pointer and keyboard, shared by the charts
// of a group; colours of the scheme; the same numbers as a table.
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { canvasToPng } from "../lib/picture";
import { isDark } from "../lib/scheme";
import { Legend } from "./chart/Legend";
import { Numbers } from "./chart/Numbers";
import { options, plain } from "./chart/options";
import type { ChartHandle, ChartProps, Range } from "./chart/props";
import { csv, table } from "./chart/table";
import { theme } from "./chart/theme";
import { around, moved, rangeOf } from "./chart/zoom";

export type { Axis, ChartHandle, ChartProps, Level, Mark, Range, Series, Span, Tone } from "./chart/props";

/** What a key does to the range; undefined if nothing. */
function byKey(key: string, range: Range, all: Range, at: number): Range | null | undefined {
  if (key === "+" || key === "=") return around(range, all, at, 1 / 1.5);
  if (key === "-") return around(range, all, at, 1.5);
  if (key === "0" || key === "Escape") return null;
  if (key === "PageDown") return moved(range, all, 0.5);
  if (key === "PageUp") return moved(range, all, -0.5);
  return undefined;
}

/** What is drawn without new options when only this changes: nothing but numbers. */
function shape(props: ChartProps): string {
  const { label, description, onPick, onCursor, handle, series, x, ...rest } = props;
  const { values, ...axis } = x;
  const of = series.map(({ values, x, band, ...line }) => ({ ...line, banded: band !== undefined }));
  return JSON.stringify([rest, axis, of]);
}

export function Chart(props: ChartProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const range = useMemo(() => rangeOf(props.group), [props.group]);
  const [hidden, hide] = useState<ReadonlySet<number>>(new Set());
  const [index, point] = useState<number | null>(null);
  const data = useMemo(() => table(props), [props.x.values, props.series]);
  const form = shape(props);
  const dark = isDark.value;
  const height = props.height ?? 220;

  const all = (): Range => {
    const xs = chart.current?.data[0] ?? [];
    return [xs[0] ?? 0, xs[xs.length - 1] ?? 1];
  };
  const shown = (): Range => range.value ?? all();
  const at = (): number | null => {
    const i = chart.current?.cursor.idx;
    return i === null || i === undefined ? null : (chart.current?.data[0][i] ?? null);
  };
  const cursor = (x: number) => {
    const u = chart.current;
    u?.setCursor({
      left: u.valToPos(x, "x"),
      top: u.cursor.top !== undefined && u.cursor.top >= 0 ? u.cursor.top : 10,
    });
  };

  // Anew when the form changes; only the numbers otherwise.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = { width: Math.max(160, element.clientWidth), height };
    const events = {
      zoomed: (to: Range) => {
        range.value = to;
      },
      moved: (i: number | null) => {
        point(i);
        const x = i === null ? null : (chart.current?.data[0][i] ?? null);
        latest.current.onCursor?.(x);
      },
    };
    const u = new uPlot(options(latest.current, data, theme(element), size, events), data.columns, element);
    chart.current = u;
    const watch = new ResizeObserver(() => {
      const width = Math.max(160, element.clientWidth);
      if (width !== u.width) u.setSize({ width, height });
    });
    watch.observe(element);
    const stop = range.subscribe((to) => {
      const [min, max] = to ?? all();
      if (min < max) u.setScale("x", { min, max });
    });
    return () => {
      watch.disconnect();
      stop();
      u.destroy();
      chart.current = undefined;
    };
  }, [form, dark, range]);

  useLayoutEffect(() => {
    const u = chart.current;
    if (u === undefined || u.data === data.columns) return;
    u.setData(data.columns, range.peek() === null);
    if (range.peek() !== null) u.redraw();
  }, [data]);

  useEffect(() => {
    data.at.forEach((column, i) => {
      const show = !hidden.has(i);
      for (const place of [column, ...(data.bands[i] ?? [])]) chart.current?.setSeries(place, { show });
    });
  }, [hidden, form, dark]);

  useEffect(() => {
    const made: ChartHandle = {
      toPng: () => png(chart.current),
      toCsv: () => csv(latest.current),
      zoom: (to) => {
        range.value = to;
      },
      cursor,
    };
    latest.current.handle?.(made);
    return () => latest.current.handle?.(null);
  }, []);

  const onWheel = (event: WheelEvent) => {
    const u = chart.current;
    // The page scrolls unless the chart is in use.
    if (u === undefined || !(event.ctrlKey || event.metaKey || document.activeElement === box.current)) return;
    event.preventDefault();
    const x = u.posToVal(event.clientX - u.rect.left, "x");
    range.value = around(shown(), all(), x, event.deltaY > 0 ? 1.25 : 0.8);
  };
  useEffect(() => {
    const element = box.current;
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const u = chart.current;
    if (u === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const [from, to] = shown();
    const x = at();
    const set = byKey(event.key, [from, to], all(), x ?? (from + to) / 2);
    if (set !== undefined) {
      range.value = set;
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      // A step is one point, or a fiftieth of what is shown where points are closer.
      const sign = event.key === "ArrowLeft" ? -1 : 1;
      const xs = u.data[0];
      const i = x === null ? u.valToIdx(from) : u.valToIdx(x);
      const next = xs[i + sign] ?? xs[i] ?? from;
      const step = Math.max(Math.abs(next - (x ?? from)), (to - from) / (event.shiftKey ? 10 : 50));
      cursor(Math.min(to, Math.max(from, (x ?? from) + sign * step)));
    } else if (event.key === "Home" || event.key === "End") {
      cursor(event.key === "Home" ? from : to);
    } else if (event.key === "Enter" && x !== null) {
      props.onPick?.(x);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const pick = (event: MouseEvent) => {
    const u = chart.current;
    if (u !== undefined && props.onPick !== undefined) props.onPick(u.posToVal(event.clientX - u.rect.left, "x"));
  };

  return (
    <figure class="chart" aria-labelledby={`${id}-label`}>
      <figcaption id={`${id}-label`} class="chart-title">
        {props.label}
      </figcaption>
      {props.legend !== false && (
        <Legend
          props={props}
          data={data}
          index={index}
          hidden={hidden}
          toggle={(i) => hide((now) => new Set(now.has(i) ? [...now].filter((n) => n !== i) : [...now, i]))}
        />
      )}
      <div
        ref={box}
        class="chart-box"
        data-keys
        tabIndex={0}
        role="group"
        aria-label={`${props.label}: ${props.description ?? "chart"}. Arrows move the cursor, plus and minus zoom, 0 shows all.`}
        onKeyDown={onKeyDown}
        onDblClick={() => {
          range.value = null;
        }}
        onClick={pick}
      />
      {range.value !== null && (
        <button
          type="button"
          class="chart-reset"
          onClick={() => {
            range.value = null;
          }}
        >
          Show all
        </button>
      )}
      <Numbers props={props} data={data} range={range.value} />
      <span class="chart-live" role="status">
        {index !== null && document.activeElement === box.current ? spoken(props, data, index) : ""}
      </span>
    </figure>
  );
}

/** The values at the cursor in words. */
function spoken(props: ChartProps, data: ReturnType<typeof table>, index: number): string {
  const x = data.columns[0][index];
  if (x === undefined) return "";
  const parts = props.series.map((series, i) => {
    const value = data.columns[data.at[i] ?? 0]?.[index];
    const format = (series.axis === "right" ? props.right?.format : props.y.format) ?? plain;
    return value === null || value === undefined ? undefined : `${series.label} ${format(value)}`;
  });
  return `${(props.x.format ?? plain)(x)}: ${parts.filter((part) => part !== undefined).join(", ")}`;
}

/** The canvas on the surface of the scheme. */
async function png(u: uPlot | undefined): Promise<Blob> {
  if (u === undefined) throw new Error("the chart is not shown");
  const canvas = document.createElement("canvas");
  canvas.width = u.ctx.canvas.width;
  canvas.height = u.ctx.canvas.height;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser draws nothing");
  context.fillStyle = theme(u.root).surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(u.ctx.canvas, 0, 0);
  return canvasToPng(canvas);
}
