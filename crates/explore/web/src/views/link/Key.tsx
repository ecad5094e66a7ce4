// What the marks of the ranking mean.
import { bound } from "./Ranking";
import { several, type Shown } from "./run";
import type { Table } from "./types";

export function Key({ shown }: { shown: Shown }) {
  const { begin, verdict } = shown;
  const activities = several(shown.standings.values().next().value);
  const baseline = begin.rows[begin.baseline]?.transport ?? "";
  return (
    <div class="link-key">
      <ul>
        <li>
          <i class="link-key-bar link-key-pick" /> advised
        </li>
        <li>
          <i class="link-key-bar" /> can be switched on today
        </li>
        <li>
          <i class="link-key-bar link-key-today" /> {baseline}, the default in Linux
        </li>
        {begin.rows.some((row) => !row.deployable) && (
          <li>
            <i class="link-key-bar link-key-absent" /> cannot be switched on today
          </li>
        )}
        {activities === undefined ? (
          <li>
            <i class="link-key-interval" /> 95% interval of the mean
          </li>
        ) : (
          <li>bars from top to bottom: {activities.map(({ name }) => name).join(", ")}</li>
        )}
        {bound(begin, 0) !== null && (
          <li>
            <i class="link-key-ideal" /> ideal: a connection that fills the link at once
            {begin.link.course?.kind === "fade" && ", under a clear sky"}
            {begin.peps.some(({ pep }) => pep === "gateway") && "; a gateway also saves its opening"}
          </li>
        )}
      </ul>
      {verdict !== null && (
        <details>
          <summary>The table that the command prints</summary>
          <Printed shown={shown} table={verdict.table} />
        </details>
      )}
    </div>
  );
}

function Printed({ shown, table }: { shown: Shown; table: Table }) {
  return (
    <>
      <div class="link-printed" tabIndex={0} role="region" aria-label="The table that the command prints">
        <table>
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map(({ row, cells }) => (
              <tr key={row} class={shown.verdict?.pick_row === row ? "link-printed-pick" : ""}>
                {cells.map((cell, i) => (
                  <td key={i}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted small">{table.words}</p>
    </>
  );
}
