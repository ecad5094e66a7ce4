// Which axes stand down the side and across: dragged, or moved by a menu.
import { useState } from "preact/hooks";
import { Menu } from "../../ui";
import { nameOf, type Study } from "./model";

type Shelf = "rows" | "columns" | "out";
const TITLES: Record<Shelf, string> = { rows: "Rows", columns: "Columns", out: "Left out" };

export interface ShelvesProps {
  study: Study;
  rows: readonly string[];
  columns: readonly string[];
  onMove: (rows: readonly string[], columns: readonly string[]) => void;
}

export function Shelves({ study, rows, columns, onMove }: ShelvesProps) {
  const [held, hold] = useState<string>();
  const [over, setOver] = useState<Shelf>();
  const out = study.axes
    .map((axis) => axis.column)
    .filter((column) => !rows.includes(column) && !columns.includes(column));
  const on: Record<Shelf, readonly string[]> = { rows, columns, out };
  const put = (column: string, shelf: Shelf, at?: number) => {
    const without = (names: readonly string[]) => names.filter((name) => name !== column);
    const place = (names: readonly string[]) => names.toSpliced(at ?? names.length, 0, column);
    const next = { rows: without(rows), columns: without(columns) };
    if (shelf === "rows") next.rows = place(next.rows);
    if (shelf === "columns") next.columns = place(next.columns);
    onMove(next.rows, next.columns);
  };
  const metrics = study.metrics.filter(({ name }) => !rows.includes(name) && !columns.includes(name));
  return (
    <div class="studies-shelves">
      {(Object.keys(TITLES) as Shelf[]).map((shelf) => (
        <div
          key={shelf}
          class={`studies-shelf${over === shelf ? " is-over" : ""}`}
          role="group"
          aria-label={TITLES[shelf]}
          onDragOver={(event) => {
            if (held === undefined) return;
            event.preventDefault();
            setOver(shelf);
          }}
          onDragLeave={() => setOver(undefined)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(undefined);
            if (held === undefined) return;
            const chips = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-chip]")].filter(
              (chip) => chip.dataset["chip"] !== held,
            );
            const at = chips.filter((chip) => {
              const box = chip.getBoundingClientRect();
              return box.left + box.width / 2 < event.clientX;
            }).length;
            put(held, shelf, at);
          }}
        >
          <span class="eyebrow" aria-hidden="true">
            {TITLES[shelf]}
          </span>
          {on[shelf].map((column, index) => (
            <span
              key={column}
              data-chip={column}
              draggable
              onDragStart={(event) => {
                event.dataTransfer?.setData("text/plain", column);
                hold(column);
              }}
              onDragEnd={() => hold(undefined)}
            >
              <Menu
                class="studies-chip"
                label={`${nameOf(study, column)}, ${TITLES[shelf].toLowerCase()}: move`}
                button={nameOf(study, column)}
                groups={[{ items: moves(shelf, index, on[shelf].length, (to, at) => put(column, to, at)) }]}
              />
            </span>
          ))}
          {on[shelf].length === 0 && <span class="muted small">drag an axis here</span>}
          {shelf === "out" && metrics.length > 0 && (
            <Menu
              class="studies-chip studies-more"
              label="Group by a number"
              button="+ a number"
              groups={[
                {
                  title: "Cut into intervals, as rows",
                  items: metrics.map(({ name }) => ({ label: name, onSelect: () => put(name, "rows") })),
                },
              ]}
            />
          )}
        </div>
      ))}
    </div>
  );
}

/** Where an axis may go from its place. */
function moves(shelf: Shelf, index: number, count: number, put: (to: Shelf, at?: number) => void) {
  const items = (Object.keys(TITLES) as Shelf[])
    .filter((to) => to !== shelf)
    .map((to) => ({ label: to === "out" ? "Leave out" : `To ${TITLES[to].toLowerCase()}`, onSelect: () => put(to) }));
  if (shelf !== "out" && index > 0) items.push({ label: "Earlier", onSelect: () => put(shelf, index - 1) });
  if (shelf !== "out" && index + 1 < count) items.push({ label: "Later", onSelect: () => put(shelf, index + 1) });
  return items;
}
