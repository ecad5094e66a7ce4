// A table whose columns sort by a click on their heads.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { HelpMark } from "./Tooltip";

export interface Column<Row> {
  key: string;
  label: string;
  help?: string | undefined;
  /** Figures stand at the right. */
  numeric?: boolean;
  cell: (row: Row) => ComponentChildren;
  /** What the column sorts by; without it, it does not. Undefined comes last. */
  sort?: (row: Row) => number | string | undefined;
}

export interface Sort {
  key: string;
  isDescending: boolean;
}

export interface TableProps<Row> {
  /** What the table shows; read out, and shown above unless `hideCaption`. */
  caption: string;
  hideCaption?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Makes rows a choice: the first column becomes a button. */
  onRow?: ((row: Row) => void) | undefined;
  isSelected?: ((row: Row) => boolean) | undefined;
  /** The order; without it the table keeps its own, at first that of `rows`. */
  sort?: Sort | undefined;
  onSort?: ((sort: Sort) => void) | undefined;
  /** Shown instead of rows if there are none. */
  empty?: ComponentChildren;
}

/** Rows and columns; the first column names the row. */
export function Table<Row>(props: TableProps<Row>) {
  const [own, setOwn] = useState<Sort>();
  const sort = props.sort ?? own;
  const rows = sorted(props, sort);
  const by = (key: string) => {
    const next = { key, isDescending: sort?.key === key ? !sort.isDescending : false };
    (props.onSort ?? setOwn)(next);
  };
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={props.caption}>
      <table class="table">
        <caption class={props.hideCaption === true ? "sr" : undefined}>{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <Head key={column.key} column={column} sort={sort} onSort={by} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Line key={props.rowKey(row)} row={row} table={props} />
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={props.columns.length} class="muted">
                {props.empty ?? "Nothing."}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: (key: string) => void;
}) {
  const isBy = sort?.key === column.key;
  const help = column.help !== undefined && (
    <>
      {" "}
      <HelpMark text={column.help} about={column.label} />{" "}
    </>
  );
  const order = isBy ? (sort.isDescending ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={column.numeric === true ? "num" : undefined} aria-sort={order}>
      {column.numeric === true && help}
      {column.sort === undefined ? (
        column.label
      ) : (
        <button type="button" class="table-sort" onClick={() => onSort(column.key)}>
          {column.label}
          <span class="table-mark" aria-hidden="true">
            {order === "ascending" ? "▲" : order === "descending" ? "▼" : ""}
          </span>
        </button>
      )}
      {column.numeric !== true && help}
    </th>
  );
}

function Line<Row>({ row, table }: { row: Row; table: TableProps<Row> }) {
  const { columns, onRow } = table;
  const isSelected = table.isSelected?.(row) === true;
  const open = (event: MouseEvent) => {
    // A press on another control of the row, or a selection of text, is not a choice.
    const control = (event.target as Element).closest("a, button, input, label");
    if (control === null && getSelection()?.isCollapsed !== false) onRow?.(row);
  };
  return (
    <tr class={isSelected ? "is-selected" : undefined} onClick={onRow === undefined ? undefined : open}>
      {columns.map((column, index) => {
        const classes = column.numeric === true ? "num" : undefined;
        if (index > 0) {
          return (
            <td key={column.key} class={classes}>
              {column.cell(row)}
            </td>
          );
        }
        return (
          <th key={column.key} scope="row" class={classes}>
            {onRow === undefined ? (
              column.cell(row)
            ) : (
              <button type="button" class="table-open" aria-pressed={isSelected} onClick={() => onRow(row)}>
                {column.cell(row)}
              </button>
            )}
          </th>
        );
      })}
    </tr>
  );
}

function sorted<Row>({ columns, rows }: TableProps<Row>, sort: Sort | undefined): readonly Row[] {
  const by = columns.find((column) => column.key === sort?.key)?.sort;
  if (by === undefined || sort === undefined) return rows;
  const way = sort.isDescending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    if (typeof a === "number" && typeof b === "number") return way * (a - b);
    return way * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}
