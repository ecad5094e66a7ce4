// The legend of a chart: a button for each series, with its value at the cursor.
import { DASHES } from "../../lib/colours";
import { plain } from "./options";
import type { ChartProps } from "./props";
import type { Table } from "./table";

interface LegendProps {
  readonly props: ChartProps;
  readonly data: Table;
  /** Row of the cursor. */
  readonly index: number | null;
  readonly hidden: ReadonlySet<number>;
  readonly toggle: (series: number) => void;
}

export function Legend({ props, data, index, hidden, toggle }: LegendProps) {
  return (
    <ul class="chart-legend">
      {props.series.map((series, i) => {
        const value = index === null ? undefined : data.columns[data.at[i] ?? 0]?.[index];
        const format = (series.axis === "right" ? props.right?.format : props.y.format) ?? plain;
        const dash = DASHES[(series.dash ?? 0) % DASHES.length] ?? [];
        return (
          <li key={series.label}>
            <button
              type="button"
              aria-pressed={!hidden.has(i)}
              title={hidden.has(i) ? "Show" : "Hide"}
              onClick={() => toggle(i)}
            >
              <svg
                width="26"
                height="10"
                aria-hidden="true"
                class={`chart-c${(series.color ?? i) % 8}`}
                opacity={series.isFaint === true ? 0.5 : 1}
              >
                {series.kind === "points" ? (
                  <circle cx="13" cy="5" r="3" fill="currentColor" />
                ) : (
                  <line
                    x1="0"
                    y1="5"
                    x2="26"
                    y2="5"
                    stroke="currentColor"
                    stroke-width="2"
                    stroke-dasharray={dash.join(" ")}
                  />
                )}
              </svg>
              <span>{series.label}</span>
              <span class="chart-value">{value === undefined || value === null ? "" : format(value)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
