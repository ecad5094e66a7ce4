// The runs that the filters leave, or those behind a cell, a page at a time; one of them
// again.
import { useState } from "preact/hooks";
import { change, type Params } from "../../lib/address";
import { useAnswer } from "../../lib/useAnswer";
import { Button, Failed, Loading, Table, type Column, type Sort } from "../../ui";
import { Again } from "./Again";
import { both, nameOf, runsText, type Filter, type Question, type Study } from "./model";

/** Runs of a page. */
const PAGE = 50;

type Row = (number | string | null)[];

interface Answer {
  total: number;
  columns: string[];
  rows: Row[];
}

export interface RunsProps {
  study: Study;
  question: Question;
  params: Params;
}

export function Runs({ study, question, params }: RunsProps) {
  const [chosen, choose] = useState<number>();
  const page = Math.max(0, Number.parseInt(params["page"] ?? "0", 10) || 0);
  const sort: Sort = { key: params["sort"] ?? "run", isDescending: params["down"] === "yes" };
  const filters = both(question.filters, question.cell);
  const others = [
    question.metric,
    ...(question.metric === "unfinished" ? [] : ["unfinished"]),
    "retransmissions",
    "timeouts",
  ];
  const known = others.filter(
    (name, i) => others.indexOf(name) === i && study.metrics.some((metric) => metric.name === name),
  );
  const columns = [...study.axes.map((axis) => axis.column), ...known, "failure"];
  const { answer, error } = useAnswer<Answer>("/api/studies/runs", {
    study: question.study,
    columns,
    filters,
    sort: sort.key,
    descending: sort.isDescending,
    offset: page * PAGE,
    limit: PAGE,
  });
  if (error !== undefined) return <Failed error={error} />;
  if (answer === undefined) return <Loading>Reading the runs …</Loading>;
  const pages = Math.ceil(answer.total / PAGE);
  const place = (name: string) => answer.columns.indexOf(name);
  const table: Column<Row>[] = answer.columns
    .filter((name) => name !== "failure" || answer.rows.some((row) => row[place("failure")] !== ""))
    .map((name) => ({
      key: name,
      label: nameOf(study, name),
      help: study.metrics.find((metric) => metric.name === name)?.about,
      numeric: name === "run" || name === "seed" || study.metrics.some((metric) => metric.name === name),
      cell: (row) => text(row[place(name)]),
      // The server has sorted: the table keeps that order.
      sort: () => 0,
    }));
  const run = answer.rows.find((row) => row[0] === chosen);
  return (
    <div class="stack">
      <Cell study={study} cell={question.cell} />
      <p class="muted small" role="status">
        {runsText(answer.total)}
        {pages > 1 && `, page ${page + 1} of ${pages.toLocaleString("en")}`}
      </p>
      <Table
        caption="Runs"
        hideCaption
        columns={table}
        rows={answer.rows}
        rowKey={(row) => String(row[0])}
        onRow={(row) => choose(Number(row[0]))}
        isSelected={(row) => row[0] === chosen}
        sort={sort}
        onSort={({ key, isDescending }) =>
          change({ sort: key === "run" ? "" : key, down: isDescending ? "yes" : "", page: "" })
        }
        empty="The filters leave no run."
      />
      {pages > 1 && (
        <div class="row" role="group" aria-label="Pages">
          <Button
            size="small"
            disabled={page === 0}
            onClick={() => change({ page: page === 1 ? "" : String(page - 1) })}
          >
            Previous
          </Button>
          <Button size="small" disabled={page + 1 >= pages} onClick={() => change({ page: String(page + 1) })}>
            Next
          </Button>
        </div>
      )}
      {run !== undefined && <Again key={chosen} study={study} name={question.study} run={Number(run[0])} />}
    </div>
  );
}

/** A cell of a row: numbers with the digits that they have, but not more than are of use. */
function text(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(7)));
}

/** Of which cell of the table the runs are. */
function Cell({ study, cell }: { study: Study; cell: Filter[] }) {
  if (cell.length === 0) return null;
  const words = cell.map(
    ({ column, only, from, to }) => `${nameOf(study, column)} ${only?.join(" or ") ?? `${from ?? ""} to ${to ?? ""}`}`,
  );
  const clear = Object.fromEntries(cell.map(({ column }) => [`c.${column}`, ""]));
  return (
    <p class="row">
      <span class="muted">Behind the cell</span>{" "}
      {words.map((word) => (
        <span key={word} class="tag tag-accent">
          {word}
        </span>
      ))}
      <Button size="small" kind="quiet" onClick={() => change({ ...clear, page: "" })}>
        Show all runs
      </Button>
    </p>
  );
}
