// A histogram with a range that is dragged over it, or typed.
import { useRef, useState } from "preact/hooks";
import { Button } from "../../ui";
import type { Filter, Scale } from "./model";

export interface Bars {
  edges: number[];
  counts: number[];
  missing: number;
  scale: Scale;
  is_log: boolean;
}

export interface HistogramProps {
  bars: Bars;
  column: string;
  filter: Filter | undefined;
  onFilter: (filter: Filter | undefined) => void;
}

const WIDTH = 240;
const HEIGHT = 56;

export function Histogram({ bars, column, filter, onFilter }: HistogramProps) {
  const box = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number]>();
  const { edges, counts, scale } = bars;
  const count = counts.length;
  if (count === 0) return <p class="muted small">{column} has no numbers.</p>;
  const largest = Math.max(1, ...counts);
  const from = filter?.from ?? edges[0] ?? 0;
  const to = filter?.to ?? edges[count] ?? 1;
  const text = (x: number) => Number((x * scale.factor).toPrecision(6)).toString();
  const set = (low: number, high: number) => {
    const isWhole = low <= (edges[0] ?? 0) && high >= (edges[count] ?? 0);
    onFilter(
      isWhole || Number.isNaN(low) || Number.isNaN(high)
        ? undefined
        : { column, from: Math.min(low, high), to: Math.max(low, high) },
    );
  };
  const barAt = (event: PointerEvent) => {
    const rect = box.current?.getBoundingClientRect();
    if (rect === undefined || rect.width === 0) return 0;
    return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - rect.left) / rect.width) * count)));
  };
  const isIn = (bar: number) => {
    if (drag !== undefined) return bar >= Math.min(...drag) && bar <= Math.max(...drag);
    return (edges[bar + 1] ?? 0) > from && (edges[bar] ?? 0) <= to;
  };
  const end = () => {
    if (drag === undefined) return;
    const [low, high] = [Math.min(...drag), Math.max(...drag)];
    setDrag(undefined);
    set(edges[low] ?? 0, edges[high + 1] ?? 0);
  };
  const field = (label: string, value: number, onValue: (x: number) => void) => (
    <label class="studies-edge">
      <span class="sr">
        {column} {label} {scale.unit}
      </span>
      <input
        class="input"
        type="text"
        inputMode="decimal"
        value={text(value)}
        onChange={(event) => onValue(Number(event.currentTarget.value) / scale.factor)}
      />
    </label>
  );
  return (
    <div class="studies-facet" role="group" aria-label={column}>
      <div class="row">
        <strong class="small">{column}</strong>
        {bars.is_log && <span class="muted small">log</span>}
        {filter !== undefined && (
          <>
            <span class="tag tag-accent">filtered</span>
            <span class="spring" />
            <Button size="small" kind="quiet" onClick={() => onFilter(undefined)}>
              Reset
            </Button>
          </>
        )}
      </div>
      <svg
        ref={box}
        class="studies-histogram"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Histogram of ${column} from ${text(edges[0] ?? 0)} to ${text(edges[count] ?? 0)} ${scale.unit}; drag over it to choose a range, or type one below`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const bar = barAt(event);
          setDrag([bar, bar]);
        }}
        onPointerMove={(event) => drag !== undefined && setDrag([drag[0], barAt(event)])}
        onPointerUp={end}
        onPointerCancel={() => setDrag(undefined)}
      >
        {counts.map((n, bar) => {
          // A bar that holds anything is seen.
          const height = n === 0 ? 0 : Math.max(1.5, (n / largest) * (HEIGHT - 2));
          return (
            <rect
              key={bar}
              class={isIn(bar) ? "is-in" : "is-out"}
              x={(bar * WIDTH) / count}
              y={HEIGHT - height}
              width={WIDTH / count - 0.7}
              height={height}
            />
          );
        })}
      </svg>
      <div class="row small studies-edges">
        {field("from", from, (x) => set(x, to))}
        <span class="muted">to</span>
        {field("to", to, (x) => set(from, x))}
        <span class="muted">{scale.unit}</span>
      </div>
      {bars.missing > 0 && <p class="muted small">{bars.missing.toLocaleString("en")} runs have no value.</p>}
    </div>
  );
}
