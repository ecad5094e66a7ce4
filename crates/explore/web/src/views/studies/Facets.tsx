// The filters: the values of each axis with how many runs they leave, and ranges of numbers
// on histograms.
import { useState } from "preact/hooks";
import { useAnswer } from "../../lib/useAnswer";
import { Button, messageOf, Select } from "../../ui";
import { Histogram, type Bars } from "./Histogram";
import { runsText, type Filter, type Question, type Study } from "./model";

/** Labels that are shown before "more". */
const FEW = 12;

type Facet = ({ values: [string, number][]; all: number } | Bars) & { column: string };

interface Answer {
  runs: number;
  selected: number;
  facets: Facet[];
}

export interface FacetsProps {
  study: Study;
  question: Question;
  onFilter: (column: string, filter: Filter | undefined) => void;
}

export function Facets({ study, question, onFilter }: FacetsProps) {
  const [extra, setExtra] = useState<readonly string[]>([]);
  const isNumber = (column: string) => study.metrics.some(({ name }) => name === column);
  const filtered = question.filters.map(({ column }) => column).filter(isNumber);
  const ranges = [...new Set([question.metric, ...filtered, ...extra])];
  const columns = [...study.axes.map((axis) => axis.column), "failure", ...ranges];
  const asked = { study: question.study, columns, filters: question.filters };
  const { answer, error } = useAnswer<Answer>("/api/studies/facets", asked);
  const of = (column: string) => question.filters.find((filter) => filter.column === column);
  const clear = () => question.filters.forEach(({ column }) => onFilter(column, undefined));
  const others = study.metrics.filter(({ name }) => !ranges.includes(name));
  return (
    <section class="panel studies-facets" aria-label="Filters">
      <div class="panel-head">
        <h2>Filters</h2>
        <span class="muted small" role="status">
          {answer === undefined
            ? ""
            : answer.selected === answer.runs
              ? `all ${runsText(answer.runs)}`
              : `${answer.selected.toLocaleString("en")} of ${runsText(answer.runs)}`}
        </span>
        <span class="spring" />
        <Button size="small" kind="quiet" disabled={question.filters.length === 0} onClick={clear}>
          Clear
        </Button>
      </div>
      <div class="panel-body stack">
        {error !== undefined && <p role="alert">{messageOf(error)}</p>}
        {answer?.facets.map((facet) =>
          "values" in facet ? (
            <Labels
              key={facet.column}
              study={study}
              facet={facet}
              filter={of(facet.column)}
              onFilter={(filter) => onFilter(facet.column, filter)}
            />
          ) : (
            <Histogram
              key={facet.column}
              bars={facet}
              column={facet.column}
              filter={of(facet.column)}
              onFilter={(filter) => onFilter(facet.column, filter)}
            />
          ),
        )}
        {others.length > 0 && (
          <Select
            label="Filter by another number"
            value=""
            options={[
              { value: "", label: "choose a column" },
              ...others.map(({ name }) => ({ value: name, label: name })),
            ]}
            onValue={(name) => name !== "" && setExtra([...extra, name])}
          />
        )}
      </div>
    </section>
  );
}

interface LabelsProps {
  study: Study;
  facet: { column: string; values: [string, number][]; all: number };
  filter: Filter | undefined;
  onFilter: (filter: Filter | undefined) => void;
}

function Labels({ study, facet, filter, onFilter }: LabelsProps) {
  const [isWhole, showAll] = useState(false);
  const axis = study.axes.find(({ column }) => column === facet.column);
  // Runs that failed are worth a filter; that none did is not.
  if (axis === undefined && facet.values.every(([label]) => label === "")) return null;
  const title = axis?.name ?? facet.column;
  const largest = Math.max(1, ...facet.values.map(([, count]) => count));
  const all = facet.values.map(([label]) => label);
  const isOn = (label: string) => filter?.only === undefined || filter.only.includes(label);
  const toggle = (label: string, isNow: boolean) => {
    // The first press on one of all keeps that one.
    const now = filter?.only ?? (isNow ? [] : all);
    const next = filter?.only === undefined ? [label] : isNow ? [...now, label] : now.filter((name) => name !== label);
    const isAll = next.length === 0 || all.every((name) => next.includes(name));
    onFilter(isAll ? undefined : { column: facet.column, only: all.filter((name) => next.includes(name)) });
  };
  const values = isWhole ? facet.values : facet.values.slice(0, FEW);
  return (
    <fieldset class="studies-facet">
      <legend>
        {title}
        {filter !== undefined && <span class="tag tag-accent">filtered</span>}
      </legend>
      {values.map(([label, count]) => (
        <label key={label} class={`studies-value${count === 0 ? " muted" : ""}`}>
          <input
            type="checkbox"
            checked={filter !== undefined && isOn(label)}
            onChange={(event) => toggle(label, event.currentTarget.checked)}
          />
          <span class="studies-label">{label === "" ? "ran to its end" : label}</span>
          <span class="studies-bar" aria-hidden="true" style={{ "--share": `${(100 * count) / largest}%` }} />
          <span class="num small">{count.toLocaleString("en")}</span>
        </label>
      ))}
      {facet.values.length > FEW && (
        <Button size="small" kind="quiet" onClick={() => showAll(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${facet.values.length}`}
        </Button>
      )}
      {facet.all > facet.values.length && (
        <p class="muted small">{facet.all - facet.values.length} further values are not listed.</p>
      )}
    </fieldset>
  );
}
