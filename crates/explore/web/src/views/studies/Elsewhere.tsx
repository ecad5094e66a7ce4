// The same question elsewhere: in the menu Share, and as SQL and Python on the files.
import { useEffect } from "preact/hooks";
import { ask } from "../../lib/api";
import { svgToPng } from "../../lib/picture";
import { shareable, type Shareable } from "../../lib/share";
import { shellWord } from "../../lib/shell";
import { Copy } from "../../ui";
import { pivotCsv } from "./csv";
import type { Pivot, Question, Study } from "./model";
import { duckdb, polars } from "./snippets";

export interface ElsewhereProps {
  study: Study;
  question: Question;
  tab: "table" | "figure" | "runs";
}

export function Elsewhere({ study, question, tab }: ElsewhereProps) {
  const isFigure = tab === "figure";
  const rows = isFigure ? [question.facet, question.series].filter((name) => name !== "") : question.rows;
  const columns = isFigure ? [question.x].filter((name) => name !== "") : question.columns;
  const groups = [...rows, ...columns];
  const { metric, statistic, filters } = question;
  const asked = JSON.stringify({ study: question.study, rows, columns, metric, statistic, filters });
  const chart = JSON.stringify({
    ...JSON.parse(asked),
    x: question.x,
    series: question.series,
    facet: question.facet,
    log: question.log,
  });
  const python = polars(study, question, groups);
  useEffect(() => {
    const made: Shareable = {
      name: `${study.name || "study"}-${metric}`,
      python,
      csv: async () => pivotCsv(await ask<Pivot>("/api/studies/pivot", JSON.parse(asked))),
    };
    if (study.file !== null) made.command = `bentpipe study ${shellWord(study.file)}`;
    if (isFigure) {
      const svg = async () => (await ask<{ svg: string }>("/api/studies/chart", JSON.parse(chart))).svg;
      made.svg = svg;
      made.png = async () => svgToPng(await svg());
    }
    shareable.value = made;
  }, [asked, chart, python, isFigure]);
  if (tab === "runs") return null;
  const sql = duckdb(study, question, groups);
  return (
    <details class="panel">
      <summary>The same in DuckDB and polars</summary>
      <div class="panel-body stack">
        <Snippet title="DuckDB" text={sql} what="the SQL" />
        <Snippet title="Python, with polars" text={python} what="the Python program" />
      </div>
    </details>
  );
}

function Snippet({ title, text, what }: { title: string; text: string; what: string }) {
  return (
    <div>
      <div class="row">
        <h3>{title}</h3>
        <span class="spring" />
        <Copy text={text} what={what} />
      </div>
      <pre class="studies-code" tabIndex={0} role="region" aria-label={title}>
        {text}
      </pre>
    </div>
  );
}
