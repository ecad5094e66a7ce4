// What runs did: the tables of `bentpipe run`, curves, means of several runs.
import { useEffect, useRef } from "preact/hooks";
import { csvField } from "../../lib/csv";
import { Chart } from "../../ui/Chart";
import { Note, PlainTable } from "../../ui";
import type { Runs } from "./runs";
import type { Block, Curve, Points, TableAnswer } from "./types";

export function Results({ runs, text }: { runs: Runs; text: string }) {
  const result = runs.result.value;
  const spread = runs.spread.value;
  const measured = runs.measured.value;
  const failure = runs.failure.value;
  const box = useRef<HTMLElement>(null);
  // Below the editor they might not be seen to have come.
  useEffect(() => {
    const isMoving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (result !== undefined) box.current?.scrollIntoView({ block: "start", behavior: isMoving ? "smooth" : "auto" });
  }, [result]);
  if (failure !== undefined) {
    return (
      <div role="alert">
        <Note kind="bad">
          <p class="scenario-said">{failure}</p>
        </Note>
      </div>
    );
  }
  if (result === undefined && measured === undefined) return null;
  return (
    <section ref={box} class="scenario-results" aria-label="Results">
      {runs.of.value !== text && <Note kind="warn">The text was edited after this run.</Note>}
      {measured !== undefined && <Blocks blocks={measured.blocks} />}
      {spread !== undefined && <AnswerTable table={{ ...spread, title: "All runs" }} />}
      {result !== undefined && <Blocks blocks={result.blocks} />}
      {result !== undefined && result.curves.length > 0 && <Curves curves={result.curves} />}
    </section>
  );
}

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map(({ text, table }, i) => {
        const [first = "", ...rest] = text.split("\n").filter((line) => line.trim() !== "");
        const isTitle = i === 0;
        return (
          <div key={i} class="scenario-block">
            {isTitle && first !== "" && <h2>{first}</h2>}
            {(isTitle ? rest : [first, ...rest]).some((line) => line !== "") && (
              <p class="scenario-said">{(isTitle ? rest : [first, ...rest]).join("\n")}</p>
            )}
            {table !== null && <AnswerTable table={table} />}
          </div>
        );
      })}
    </>
  );
}

/** A table as the command prints it, without columns that have nothing in them. */
export function AnswerTable({ table }: { table: TableAnswer }) {
  const columns = table.columns
    .map((column, i) => ({ ...column, i }))
    .filter(({ i }) => i === 0 || table.rows.some((row) => (row[i]?.text ?? "") !== ""));
  const name = table.title === "" ? `Results by ${table.columns[0]?.heading ?? "row"}` : table.title;
  return (
    <>
      <PlainTable
        label={name}
        caption={name}
        captionClass={table.title === "" ? "sr" : ""}
        columns={columns.map(({ heading, number }) => ({
          label: heading === "" ? <span class="sr">quantity</span> : heading,
          numeric: number,
        }))}
        rows={table.rows.map((row) => columns.map(({ i }) => row[i]?.text ?? ""))}
        toneOf={(row, column) => table.rows[row]?.[columns[column]?.i ?? 0]?.tone ?? ""}
      />
      {table.note !== "" && <p class="muted small">{table.note}</p>}
    </>
  );
}

const CHARTS: readonly {
  key: "rate" | "cwnd" | "rtt";
  label: string;
  unit: string;
  scale: number;
  kind: "line" | "step";
}[] = [
  { key: "rate", label: "Received in order", unit: "Mbit/s", scale: 1e-6, kind: "step" },
  { key: "cwnd", label: "Congestion window", unit: "segments", scale: 1, kind: "line" },
  { key: "rtt", label: "Round-trip time", unit: "ms", scale: 1e3, kind: "line" },
];

function Curves({ curves }: { curves: readonly Curve[] }) {
  const scaled = (points: Points, scale: number) => points.value.map((value) => value * scale);
  return (
    <div class="scenario-curves">
      {CHARTS.map(({ key, label, unit, scale, kind }, row) => (
        <Chart
          key={key}
          label={`${label} over time [${unit}]`}
          group="scenario"
          height={180}
          legend={row === 0}
          x={{ label: "time [s]" }}
          y={{ label: unit, from: 0 }}
          series={curves.map((curve, i) => ({
            label: curve.flow,
            x: curve[key].at_s,
            values: scaled(curve[key], scale),
            color: i % 8,
            dash: Math.floor(i / 2) % 4,
            kind,
          }))}
        />
      ))}
    </div>
  );
}

/** The tables of the results as CSV, one below the other. */
export function csvOf(tables: readonly TableAnswer[]): string {
  const line = (cells: readonly string[]) => cells.map(csvField).join(",");
  return tables
    .map(
      (table) =>
        [
          line(table.columns.map((column) => column.heading)),
          ...table.rows.map((row) => line(row.map((one) => one.text))),
        ].join("\n") + "\n",
    )
    .join("\n");
}
