// The numbers of a chart as a table, for people who cannot see it or want to read them.
import { useState } from "preact/hooks";
import { plain } from "./options";
import type { ChartProps, Range } from "./props";
import { headings, type Table } from "./table";

/** Rows that are shown; more are thinned out evenly. */
const MOST = 200;

interface NumbersProps {
  readonly props: ChartProps;
  readonly data: Table;
  readonly range: Range | null;
}

export function Numbers({ props, data, range }: NumbersProps) {
  const [isOpen, open] = useState(false);
  return (
    <details class="chart-numbers" onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Numbers</summary>
      {isOpen && <Rows props={props} data={data} range={range} />}
    </details>
  );
}

function Rows({ props, data, range }: NumbersProps) {
  const xs = data.columns[0];
  const rows: number[] = [];
  xs.forEach((x, row) => {
    if (range === null || (x >= range[0] && x <= range[1])) rows.push(row);
  });
  const step = Math.ceil(rows.length / MOST);
  const kept = rows.filter((_, i) => i % step === 0);
  const heads = headings(props);
  return (
    <div class="chart-scroll" tabIndex={0} role="region" aria-label={`Numbers: ${props.label}`}>
      {step > 1 && <p>{`One row in ${step} of ${rows.length}; zoom in for all, or save them as CSV.`}</p>}
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kept.map((row) => (
            <tr key={row}>
              {data.columns.map((column, i) => {
                const value = column[row];
                const text =
                  value === null || value === undefined
                    ? ""
                    : i === 0
                      ? (props.x.format ?? plain)(value)
                      : plain(value);
                return i === 0 ? (
                  <th key={i} scope="row">
                    {text}
                  </th>
                ) : (
                  <td key={i}>{text}</td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
