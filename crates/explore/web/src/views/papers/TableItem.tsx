// A table as its paper prints it: the printed number, ours and the difference, as a colour
// and in words.
import { change, type Params } from "../../lib/address";
import { csvField } from "../../lib/csv";
import { headings, PlainTable, Segmented } from "../../ui";
import type { Banded, ErrorSummary, PaperTable, Recorded, TableCell } from "./model";
import { RunBar, type Runner } from "./RunBar";

export type Shown = "printed" | "ours" | "both";

export interface TableItemProps {
  item: PaperTable;
  shown: Shown;
  shades: readonly number[];
  params: Params;
  runner: Runner;
}

/** A line of cells with its labels. */
interface Line {
  labels: string[];
  cells: { cell: TableCell; shade: number | null }[];
}

/** Rows and columns as they stand on the page, with one reading where one is chosen. */
function layout(
  item: PaperTable,
  reading: Reading | undefined,
): { corner: string[]; columns: string[][]; lines: Line[] } {
  const { table } = item;
  const isKept = (labels: readonly string[], side: Reading["side"]) =>
    reading === undefined || reading.side !== side || reading.value === "" || labels[reading.level] === reading.value;
  const columns = table.columns.map((labels, i) => ({ labels, i })).filter(({ labels }) => isKept(labels, "columns"));
  const rows = table.rows.map((labels, i) => ({ labels, i })).filter(({ labels }) => isKept(labels, "rows"));
  const at = (row: number, column: number) => {
    const cell = table.cells[row]?.[column];
    return cell === undefined ? [] : [{ cell, shade: item.shades[row]?.[column] ?? null }];
  };
  if (table.transposed === true) {
    const lines = columns.map(({ labels, i }) => ({ labels, cells: rows.flatMap((row) => at(row.i, i)) }));
    return { corner: [], columns: rows.map(({ labels }) => labels), lines };
  }
  const lines = rows.map(({ labels, i }) => ({ labels, cells: columns.flatMap((column) => at(i, column.i)) }));
  return { corner: table.row_axes, columns: columns.map(({ labels }) => labels), lines };
}

interface Reading {
  side: "rows" | "columns";
  level: number;
  axis: string;
  labels: string[];
  value: string;
}

/** The axis of the table whose points are readings, if there is one. */
function readingOf(item: PaperTable, params: Params): Reading | undefined {
  const { table } = item;
  for (const axis of item.readings) {
    const places = [
      { side: "columns" as const, level: item.column_axes.indexOf(axis), all: table.columns },
      { side: "rows" as const, level: table.row_axes.indexOf(axis), all: table.rows },
    ];
    const place = places.find(({ level }) => level >= 0);
    if (place === undefined) continue;
    const labels = [...new Set(place.all.map((one) => one[place.level] ?? ""))];
    // More are rows of a table of readings, which is there to be read as a whole.
    if (labels.length < 2 || labels.length > 5) continue;
    const value = labels.includes(params["reading"] ?? "") ? (params["reading"] ?? "") : "";
    return { side: place.side, level: place.level, axis, labels, value };
  }
  return undefined;
}

export function TableItem({ item, shown, shades, params, runner }: TableItemProps) {
  const { table } = item;
  const reading = readingOf(item, params);
  const { corner, columns, lines } = layout(item, reading);
  const depth = Math.max(1, columns[0]?.length ?? 1);
  const width = Math.max(1, lines[0]?.labels.length ?? 1);
  const what = item.has_printed ? shown : "ours";
  const notes = [
    ...new Set(lines.flatMap(({ cells }) => cells.map(({ cell }) => noteOf(cell, item.need.is_there)))),
  ].filter((note) => note !== "");
  return (
    <div class="stack">
      <h2>{table.title}</h2>
      {reading !== undefined && (
        <Segmented
          label={`Reading: ${reading.axis}`}
          help="The paper leaves this open: each reading has its own numbers."
          value={reading.value}
          options={[{ value: "", label: "all" }, ...reading.labels.map((label) => ({ value: label, label }))]}
          onValue={(value) => change({ reading: value })}
        />
      )}
      <RunBar item={table.slug} need={item.need} runner={runner} what="this table" />
      <div class="table-box" tabIndex={0} role="region" aria-label={table.title}>
        <table class="table papers-table">
          <caption>{caption(item, what)}</caption>
          <thead>
            {Array.from({ length: depth }, (_, level) => (
              <tr key={level}>
                {level === 0 &&
                  Array.from({ length: width }, (_none, i) => (
                    <th key={i} scope="col" rowSpan={depth}>
                      {corner[i] ?? <span class="sr">row</span>}
                    </th>
                  ))}
                {headings(columns, level).map(({ label, length, at }) => (
                  <th key={at} scope={level + 1 < depth ? "colgroup" : "col"} colSpan={length} class="num">
                    {label}
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {lines.map((line, row) => (
              <tr key={row}>
                {line.labels.map((_, level) => {
                  const span = headings(
                    lines.map(({ labels }) => labels),
                    level,
                  ).find(({ at }) => at === row);
                  return (
                    span !== undefined && (
                      <th key={level} scope={span.length > 1 ? "rowgroup" : "row"} rowSpan={span.length}>
                        {span.label}
                      </th>
                    )
                  );
                })}
                {line.cells.map(({ cell, shade }, i) => (
                  <Value
                    key={i}
                    cell={cell}
                    shade={shade}
                    shown={what}
                    withUnit={item.unit === null}
                    note={notes.indexOf(noteOf(cell, item.need.is_there)) + 1}
                    isThere={item.need.is_there}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {what === "both" && <Legend shades={shades} />}
      {item.need.is_there && <Changes table={table} />}
      {notes.length > 0 && (
        <ol class="papers-notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ol>
      )}
      {item.need.is_there && <Errors errors={table.errors} />}
    </div>
  );
}

function caption(item: PaperTable, what: Shown): string {
  const unit = item.unit === null || item.unit === "" ? "" : `, in ${item.unit}`;
  if (!item.has_printed) return `Ours${unit}; the paper prints no numbers of it`;
  return { printed: `As printed${unit}`, ours: `Ours${unit}`, both: `Printed, ours, and the difference${unit}` }[what];
}

/** That a study was not run is no remark on a cell. */
function noteOf(cell: TableCell, isThere: boolean): string {
  return isThere || cell.ours !== null ? cell.note : "";
}

interface ValueProps {
  cell: TableCell;
  shade: number | null;
  shown: Shown;
  withUnit: boolean;
  note: number;
  isThere: boolean;
}

/** The verdict on a cell where it is worth a word: a miss, known or not, or one that is
 * no longer what is recorded. A cell that was not run has none. */
function verdictOf(cell: TableCell, isThere: boolean): string {
  const changed = isThere && cell.changed;
  if (cell.verdict === "worse") return `outside its tolerance, ${cell.known ? "as recorded" : "not as recorded"}`;
  if (!changed) return "";
  return cell.verdict === "missing" ? "no result, not as recorded" : "within its tolerance, not as recorded";
}

function Value({ cell, shade, shown, withUnit, note, isThere }: ValueProps) {
  const unit = withUnit && cell.unit !== "" ? ` ${cell.unit}` : "";
  const digits = (x: number) => x.toFixed(cell.decimals) + unit;
  const printed = cell.published === null ? "–" : digits(cell.published);
  const half = cell.ci95 !== null && cell.ci95 > 0 ? ` ± ${cell.ci95.toFixed(cell.decimals)}` : "";
  const ours = cell.ours === null ? "…" : digits(cell.ours);
  const isOut = cell.verdict === "worse";
  const classes = ["num", "papers-cell"];
  if (shown === "both" && shade !== null)
    classes.push(shade === 0 ? "is-same" : shade < 0 ? `is-low${-shade}` : `is-high${shade}`);
  const verdict = verdictOf(cell, isThere);
  if (shown !== "printed" && isOut) classes.push("is-out");
  else if (shown !== "printed" && verdict !== "") classes.push("is-changed");
  return (
    <td class={classes.join(" ")}>
      {shown !== "ours" && (
        <span class="papers-printed">
          {shown === "both" && <span class="sr">printed </span>}
          {printed}
        </span>
      )}
      {shown !== "printed" && (
        <span class="papers-ours">
          {shown === "both" && <span class="sr">ours </span>}
          {ours}
          {half !== "" && <small>{half}</small>}
        </span>
      )}
      {shown === "both" && cell.relative_error !== null && (
        <span class="papers-error">{percent(cell.relative_error)}</span>
      )}
      {shown !== "printed" && verdict !== "" && <span class="papers-out">{verdict}</span>}
      {note > 0 && <sup class="papers-mark">{note}</sup>}
    </td>
  );
}

/** `+3.2%`. */
function percent(error: number): string {
  const text = (100 * error).toFixed(1);
  return `${error > 0 ? "+" : ""}${text === "-0.0" ? "0.0" : text}%`.replace("-", "−");
}

function Legend({ shades }: { shades: readonly number[] }) {
  const steps = shades.map((from, i) => ({ step: i + 1, text: `${Math.round(100 * from)}%` }));
  return (
    <p class="papers-legend small" aria-label="Colours: difference between ours and print">
      {[...steps].reverse().map(({ step, text }) => (
        <span key={step} class={`is-low${step}`}>
          −{text}
        </span>
      ))}
      <span class="is-same">equal</span>
      {steps.map(({ step, text }) => (
        <span key={step} class={`is-high${step}`}>
          +{text}
        </span>
      ))}
    </p>
  );
}

/** How many verdicts of the table are not the recorded ones, in a sentence that is read out
 * when the runs end. */
function Changes({ table }: { table: PaperTable["table"] }) {
  const cells = table.cells.flat().filter(({ changed }) => changed).length;
  const errors = table.errors.filter(({ changed }) => changed).length;
  const count = (n: number, one: string, more: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : more}`]);
  const parts = [...count(cells, "cell", "cells"), ...count(errors, "summary of errors", "summaries of errors")];
  const judged = table.cells.flat().some(({ verdict }) => verdict === "ok" || verdict === "worse");
  const isRecorded =
    judged || table.errors.some(({ recorded, verdict }) => recorded !== null || verdict !== "reported");
  return (
    <p class={parts.length > 0 ? "papers-changed" : "muted"} role="status">
      {parts.length > 0
        ? `Not as recorded: ${parts.join(" and ")}.`
        : isRecorded && "All verdicts on this table are as recorded."}
    </p>
  );
}

/** `mean 47.2% ±2.0, worst 75.6% ±5.0`, as the command has it: bands are in percentage points. */
function onRecord(recorded: Recorded | null): string {
  if (recorded === null) return "";
  const error = (name: string, x: Banded | null) =>
    x === null ? [] : [`${name} ${(100 * x.value).toFixed(1)}% ±${(100 * x.band).toFixed(1)}`];
  const errors = [
    ...error("mean", recorded.mean),
    ...error("worst", recorded.worst),
    ...error("relative to a constant", recorded.spread),
  ];
  return errors.join(", ");
}

/** How near the table is to print, and its tolerances. */
function Errors({ errors }: { errors: readonly ErrorSummary[] }) {
  const compared = errors.filter(({ cells }) => cells > 0);
  if (compared.length === 0) return null;
  const share = (x: number | null, bar: number | null) =>
    x === null ? "" : `${(100 * x).toFixed(1)}%${bar === null ? "" : ` (tolerance ${(100 * bar).toFixed(1)}%)`}`;
  const isOnRecord = compared.some(({ recorded }) => recorded !== null);
  const number = (label: string) => ({ label, numeric: true });
  return (
    <PlainTable
      label="Agreement with print"
      class="papers-errors"
      caption="Agreement with print: relative errors, and the differences relative to those of the best constant (100%: no better than a constant)"
      columns={[
        { label: "of" },
        ...["cells", "mean error", "worst", "relative to a constant"].map(number),
        ...(isOnRecord ? [{ label: "recorded" }] : []),
        { label: "verdict" },
      ]}
      rows={compared.map((summary) => [
        summary.column ?? "the table",
        summary.cells,
        share(summary.mean, summary.mean_bar),
        share(summary.worst, summary.worst_bar),
        share(summary.spread, summary.spread_bar),
        ...(isOnRecord ? [onRecord(summary.recorded)] : []),
        <>
          {summary.verdict === "ok" ? "within tolerance" : summary.verdict === "worse" ? "outside tolerance" : ""}
          {summary.changed && <span class="papers-out">not as recorded</span>}
          {summary.missed !== "" && <span class="muted"> {summary.missed}</span>}
        </>,
      ])}
    />
  );
}

/** The table as CSV, a line for each cell, as `bentpipe reproduce --out` writes it. */
export function tableCsv({ table }: PaperTable): string {
  const lines: (string | number | null)[][] = [
    ["row", "column", "ours", "ci95", "n", "unit", "published", "relative_error", "verdict", "note"],
  ];
  for (const cell of table.cells.flat()) {
    const { row, column, ours, ci95, n, unit, published, relative_error, verdict, note } = cell;
    lines.push([row, column, ours, ci95, n, unit, published, relative_error, verdict, note]);
  }
  return `${lines.map((line) => line.map(csvField).join(",")).join("\n")}\n`;
}
