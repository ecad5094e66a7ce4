// The same question in SQL of DuckDB and in Python with polars.
import type { Filter, Question, Study } from "./model";

/** Percentiles by name. */
function quantile(statistic: string): number | undefined {
  const found = /^p(\d+)$/.exec(statistic);
  return found === null ? undefined : Number(found[1]) / 100;
}

const sqlName = (column: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(column) ? column : `"${column.replaceAll('"', '""')}"`;
const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const pyText = (text: string): string => JSON.stringify(text);

/** What the numbers of a cell are in SQL. */
function sqlNumber(question: Question): string {
  const of = sqlName(question.metric);
  const share = quantile(question.statistic);
  if (share !== undefined) return `quantile_cont(${of}, ${share})`;
  const names: Record<string, string> = {
    mean: `avg(${of})`,
    median: `median(${of})`,
    min: `min(${of})`,
    max: `max(${of})`,
    sd: `stddev_samp(${of})`,
    count: `count(${of})`,
    finished: "avg(coalesce(unfinished = 0, false)::int)",
  };
  return names[question.statistic] ?? `avg(${of})`;
}

function sqlFilter({ column, only, from, to }: Filter): string {
  const name = sqlName(column);
  if (only !== undefined) {
    const value = column === "failure" ? `coalesce(${name}, '')` : name;
    return `${value} IN (${only.map(sqlText).join(", ")})`;
  }
  return [from === undefined ? "" : `${name} >= ${from}`, to === undefined ? "" : `${name} <= ${to}`]
    .filter(Boolean)
    .join(" AND ");
}

/** The axes that group, without numbers that the page cuts into intervals. */
function keys(study: Study, groups: readonly string[]): string[] {
  return groups.filter((column) => study.axes.some((axis) => axis.column === column));
}

export function duckdb(study: Study, question: Question, groups: readonly string[]): string {
  const by = keys(study, groups);
  const from = study.is_folder
    ? `read_parquet(${sqlText(study.path)}, hive_partitioning = true, hive_types_autocast = false)`
    : sqlText(study.path);
  const lines = [
    `SELECT ${[...by.map(sqlName), "count(*) AS runs", `${sqlNumber(question)} AS value`].join(", ")}`,
    `FROM ${from}`,
  ];
  const filters = question.filters.map(sqlFilter).filter((text) => text !== "");
  if (filters.length > 0) lines.push(`WHERE ${filters.join("\n  AND ")}`);
  if (by.length > 0) lines.push("GROUP BY ALL ORDER BY ALL");
  return lines.join("\n");
}

function pyNumber(question: Question): string {
  const of = `pl.col(${pyText(question.metric)})`;
  const share = quantile(question.statistic);
  if (share !== undefined) return `${of}.quantile(${share}, interpolation="linear")`;
  const names: Record<string, string> = {
    mean: `${of}.mean()`,
    median: `${of}.median()`,
    min: `${of}.min()`,
    max: `${of}.max()`,
    sd: `${of}.std()`,
    count: `${of}.count()`,
    finished: `(pl.col("unfinished") == 0).fill_null(False).mean()`,
  };
  return names[question.statistic] ?? `${of}.mean()`;
}

function pyFilter({ column, only, from, to }: Filter): string {
  const of = `pl.col(${pyText(column)})`;
  if (only !== undefined) {
    const value = column === "failure" ? `${of}.fill_null("")` : of;
    return `${value}.is_in([${only.map(pyText).join(", ")}])`;
  }
  return [from === undefined ? "" : `${of} >= ${from}`, to === undefined ? "" : `${of} <= ${to}`]
    .filter(Boolean)
    .join(", ");
}

export function polars(study: Study, question: Question, groups: readonly string[]): string {
  const by = keys(study, groups);
  const scan = study.is_folder
    ? `pl.scan_parquet(${pyText(study.path)}, hive_partitioning=True, try_parse_hive_dates=False)`
    : `pl.scan_parquet(${pyText(study.path)})`;
  const lines = ["import polars as pl", "", `runs = ${scan}`];
  const filters = question.filters.map(pyFilter).filter((text) => text !== "");
  if (filters.length > 0) lines.push(`runs = runs.filter(${filters.join(", ")})`);
  const numbers = `pl.len().alias("runs"), ${pyNumber(question)}.alias("value")`;
  if (by.length === 0) lines.push(`print(runs.select(${numbers}).collect())`);
  else {
    const names = by.map(pyText).join(", ");
    lines.push(`print(runs.group_by(${names}, maintain_order=True).agg(${numbers}).collect())`);
  }
  return `${lines.join("\n")}\n`;
}
