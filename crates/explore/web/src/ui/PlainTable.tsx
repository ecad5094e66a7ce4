// A table that is only read: the first cell of a row names it.
import type { ComponentChildren } from "preact";

export interface Heading {
  label: ComponentChildren;
  numeric?: boolean;
}

export interface PlainTableProps {
  /** What the table shows; read out. */
  label: string;
  /** The same above the table, or more. */
  caption?: ComponentChildren;
  captionClass?: string;
  class?: string;
  columns: readonly Heading[];
  rows: readonly (readonly ComponentChildren[])[];
  /** The class of a cell, besides that of numbers. */
  toneOf?: (row: number, column: number) => string;
}

export function PlainTable(props: PlainTableProps) {
  const classOf = (column: number, tone = "") => `${props.columns[column]?.numeric === true ? "num " : ""}${tone}`;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={props.label}>
      <table class={`table ${props.class ?? ""}`}>
        {props.caption !== undefined && <caption class={props.captionClass}>{props.caption}</caption>}
        <thead>
          <tr>
            {props.columns.map((column, i) => (
              <th key={i} scope="col" class={classOf(i)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, i) => {
                const classes = classOf(i, props.toneOf?.(row, i));
                return i === 0 ? (
                  <th key={i} scope="row" class={classes}>
                    {cell}
                  </th>
                ) : (
                  <td key={i} class={classes}>
                    {cell}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
