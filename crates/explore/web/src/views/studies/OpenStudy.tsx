// A study that is open: which runs, and what of them as table, figure or list.
import { useEffect, useMemo, useState } from "preact/hooks";
import { change, href, type Params } from "../../lib/address";
import { ask } from "../../lib/api";
import { Failed, Loading, Select, Tabs } from "../../ui";
import { Facets } from "./Facets";
import { Figure } from "./Figure";
import { Elsewhere } from "./Elsewhere";
import {
  filterText,
  listed,
  questionOf,
  runsText,
  STATISTICS,
  type Filter,
  type Pivot,
  type Question,
  type Study,
} from "./model";
import { PivotTable } from "./PivotTable";
import { Runs } from "./Runs";
import { Shelves } from "./Shelves";

type Tab = "table" | "figure" | "runs";
const TABS: readonly { value: Tab; label: string }[] = [
  { value: "table", label: "Table" },
  { value: "figure", label: "Figure" },
  { value: "runs", label: "Runs" },
];

export function OpenStudy({ study, params }: { study: Study; params: Params }) {
  const key = JSON.stringify(params);
  const question = useMemo(() => questionOf(study, params), [study, key]);
  const tab = TABS.find(({ value }) => value === params["tab"])?.value ?? "table";
  const metric = study.metrics.find(({ name }) => name === question.metric);
  return (
    <>
      <header class="studies-head">
        <p class="row">
          <a href={href("studies")}>All studies</a>
          <strong>{study.name}</strong>
          <span class="muted">
            {runsText(study.runs)}
            {study.version !== "" && `, bentpipe ${study.version}`}
          </span>
        </p>
      </header>
      <div class="bench studies-bench">
        <Facets
          study={study}
          question={question}
          onFilter={(column, filter) => change({ ...filterParam("f.", column, filter), page: "" })}
        />
        <section class="stack studies-main" aria-label="What the runs did">
          <div class="studies-what">
            <Select
              label="Metric"
              help={metric?.about}
              value={question.metric}
              options={study.metrics.map(({ name }) => name)}
              onValue={(name) => change({ metric: name })}
            />
            <Select
              label="Statistic"
              value={question.statistic}
              options={STATISTICS}
              onValue={(statistic) => change({ statistic: statistic === "mean" ? "" : statistic })}
            />
          </div>
          <Tabs
            label="Views of the runs"
            value={tab}
            tabs={TABS}
            onValue={(value) => change({ tab: value === "table" ? "" : value }, false)}
          >
            {tab === "table" && <TableTab study={study} question={question} />}
            {tab === "figure" && <Figure study={study} question={question} />}
            {tab === "runs" && <Runs study={study} question={question} params={params} />}
          </Tabs>
          <Elsewhere study={study} question={question} tab={tab} />
        </section>
      </div>
    </>
  );
}

/** The parameter of a filter. */
export function filterParam(prefix: string, column: string, filter: Filter | undefined): Params {
  return { [prefix + column]: filter === undefined ? "" : filterText(filter) };
}

/**
 * Asks for a table whenever the question changes. The last answer stays until the next is
 * there, with the question that it answers, so that words and numbers belong together.
 */
export function usePivot(question: Question, rows: readonly string[], columns: readonly string[]) {
  const [answered, setAnswered] = useState<{ body: string; question: Question; pivot: Pivot }>();
  const [error, setError] = useState<unknown>();
  const { study, metric, statistic, filters } = question;
  const body = JSON.stringify({ study, rows, columns, metric, statistic, filters });
  useEffect(() => {
    const ends = new AbortController();
    ask<Pivot>("/api/studies/pivot", JSON.parse(body), ends.signal)
      .then((pivot) => {
        setAnswered({ body, question, pivot });
        setError(undefined);
      })
      .catch((failure: unknown) => !ends.signal.aborted && setError(failure));
    return () => ends.abort();
  }, [body]);
  // Without another table, such as of a series that becomes a facet, the question is the new one.
  return {
    pivot: answered?.pivot,
    shown: answered === undefined || answered.body === body ? question : answered.question,
    error,
  };
}

function TableTab({ study, question }: { study: Study; question: Question }) {
  const { pivot, shown, error } = usePivot(question, question.rows, question.columns);
  const open = (filters: Filter[]) => {
    const cell: Record<string, string> = { tab: "runs", page: "" };
    for (const { column } of question.cell) cell[`c.${column}`] = "";
    for (const filter of filters) Object.assign(cell, filterParam("c.", filter.column, filter));
    change(cell, false);
  };
  const move = (rows: readonly string[], columns: readonly string[]) =>
    change({
      rows: rows.length === 0 ? "none" : listed(rows),
      columns: columns.length === 0 ? "none" : listed(columns),
    });
  return (
    <div class="stack">
      <Shelves study={study} rows={question.rows} columns={question.columns} onMove={move} />
      {error !== undefined && <Failed error={error} />}
      {error === undefined && pivot === undefined && <Loading>Counting …</Loading>}
      {error === undefined && pivot !== undefined && (
        <PivotTable study={study} question={shown} pivot={pivot} onCell={open} />
      )}
    </div>
  );
}
