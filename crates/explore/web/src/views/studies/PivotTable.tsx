// The table: labels on both sides, a number with its interval in each cell, which opens the
// runs behind it.
import { useState } from "preact/hooks";
import { Button, headings } from "../../ui";
import {
  filtersOfPlace,
  labelsOf,
  runsText,
  shown,
  type Cell,
  type Filter,
  type Pivot,
  type Question,
  type Side,
  type Study,
} from "./model";

/** Rows that are drawn at first. */
const PAGE = 100;

export interface PivotTableProps {
  study: Study;
  question: Question;
  pivot: Pivot;
  onCell: (filters: Filter[]) => void;
}

export function PivotTable({ question, pivot, onCell }: PivotTableProps) {
  const [count, setCount] = useState(PAGE);
  const width = pivot.columns.places.length;
  const range = rangeOf(pivot.cells);
  const rows = pivot.rows.places.slice(0, count);
  const depth = Math.max(1, pivot.columns.groups.length);
  const what = `${question.metric}, ${question.statistic}${pivot.scale.unit === "" ? "" : `, in ${pivot.scale.unit}`}`;
  if (pivot.selected === 0) return <p class="note">The filters leave no run.</p>;
  return (
    <div>
      <p class="muted small" role="status">
        {runsText(pivot.selected)} in {pivot.rows.places.length} × {width} cells. A cell opens its runs.
      </p>
      <div class="table-box" tabIndex={0} role="region" aria-label={what}>
        <table class="table studies-pivot">
          <caption>{what}</caption>
          <thead>
            {Array.from({ length: depth }, (_, level) => (
              <tr key={level}>
                {level === 0 &&
                  corner(pivot.rows).map((name) => (
                    <th key={name} scope="col" rowSpan={depth}>
                      {name}
                    </th>
                  ))}
                {headings(labels(pivot.columns), level).map(({ label, length, at }) => (
                  <th key={at} scope={level + 1 < depth ? "colgroup" : "col"} colSpan={length} class="num">
                    {label === "" ? "all runs" : label}
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {rows.map((_, row) => (
              <tr key={row}>
                {heads(pivot.rows, row, count).map(({ label, length, level }) => (
                  <th key={level} scope={length > 1 ? "rowgroup" : "row"} rowSpan={length}>
                    {label}
                  </th>
                ))}
                {Array.from({ length: width }, (_, column) => (
                  <Value
                    key={column}
                    cell={pivot.cells[row * width + column] ?? null}
                    pivot={pivot}
                    range={range}
                    name={[...labelsOf(pivot.rows, row), ...labelsOf(pivot.columns, column)].join(", ")}
                    onOpen={() =>
                      onCell([...filtersOfPlace(pivot.rows, row), ...filtersOfPlace(pivot.columns, column)])
                    }
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {count < pivot.rows.places.length && (
        <Button onClick={() => setCount(count + 4 * PAGE)}>Show more of the {pivot.rows.places.length} rows</Button>
      )}
    </div>
  );
}

interface ValueProps {
  cell: Cell;
  pivot: Pivot;
  range: [number, number];
  name: string;
  onOpen: () => void;
}

function Value({ cell, pivot, range, name, onOpen }: ValueProps) {
  if (cell === null) return <td class="num muted">–</td>;
  const [value, low, high, n, of] = cell;
  const heat = value === null || range[1] <= range[0] ? 0 : (value - range[0]) / (range[1] - range[0]);
  const text = value === null ? "none" : shown(value, pivot.scale);
  const interval = low === null || high === null ? "" : `${shown(low, pivot.scale)} to ${shown(high, pivot.scale)}`;
  const half = low === null || high === null || value === null ? "" : `± ${shown((high - low) / 2, pivot.scale)}`;
  const runs = n === of ? runsText(of) : `${n} of ${runsText(of)} have a value`;
  return (
    <td class="num studies-cell" style={{ "--heat": `${Math.round(heat * 100)}%` }}>
      <button
        type="button"
        onClick={onOpen}
        title={[interval === "" ? "" : `95%: ${interval}`, runs].filter(Boolean).join("; ")}
      >
        <span class="sr">{name}: </span>
        {text}
        {half !== "" && <small class="muted"> {half}</small>}
        {n < of && !pivot.is_count && (
          <small class="muted">
            {" "}
            ({n}/{of})
          </small>
        )}
      </button>
    </td>
  );
}

/** The least and the largest number of the table. */
function rangeOf(cells: readonly Cell[]): [number, number] {
  let range: [number, number] = [Infinity, -Infinity];
  for (const cell of cells) {
    const value = cell?.[0];
    if (value !== null && value !== undefined) range = [Math.min(range[0], value), Math.max(range[1], value)];
  }
  return range;
}

/** The names above the labels of the rows. */
function corner(side: Side): string[] {
  return side.groups.length === 0 ? [""] : side.groups.map(({ name }) => name);
}

/** The labels of the first places of a side. */
function labels(side: Side, count = side.places.length): string[][] {
  return Array.from({ length: Math.min(count, side.places.length) }, (_, place) => labelsOf(side, place));
}

/** The headings that begin at a row. */
function heads(side: Side, row: number, count: number): { label: string; length: number; level: number }[] {
  if (side.groups.length === 0) return [{ label: "all runs", length: 1, level: 0 }];
  const all = labels(side, count);
  return side.groups.flatMap((_, level) => {
    const heading = headings(all, level).find(({ at }) => at === row);
    return heading === undefined ? [] : [{ ...heading, level }];
  });
}
