// The figure builder: any axes of the study as x, series and facets.
import { useMemo } from "preact/hooks";
import { change } from "../../lib/address";
import { Checkbox, Failed, Loading, Select } from "../../ui";
import { Chart, type Series } from "../../ui/Chart";
import { nameOf, runsText, wordsOf, type Pivot, type Preset, type Question, type Study } from "./model";
import { filterParam, usePivot } from "./OpenStudy";

export interface FigureProps {
  study: Study;
  question: Question;
}

/** Panels of a figure, at most: beyond it a figure says nothing. */
const MOST_PANELS = 24;

export function Figure({ study, question }: FigureProps) {
  const rows = [question.facet, question.series].filter((column) => column !== "");
  const { pivot, shown, error } = usePivot(question, rows, question.x === "" ? [] : [question.x]);
  return (
    <div class="stack">
      <Presets study={study} />
      <Axes study={study} question={question} />
      {error !== undefined && <Failed error={error} />}
      {error === undefined && pivot === undefined && <Loading>Counting …</Loading>}
      {error === undefined && pivot !== undefined && <Panels study={study} question={shown} pivot={pivot} />}
    </div>
  );
}

/** The figures that the study's own file has. */
function Presets({ study }: { study: Study }) {
  if (study.figures.length === 0) return null;
  const open = (figure: Preset) => {
    const params: Record<string, string> = {
      x: figure.x,
      series: figure.series || "none",
      facet: figure.facet,
      metric: figure.metric,
      log: figure.log,
    };
    for (const axis of study.axes) params[`f.${axis.column}`] = "";
    for (const filter of figure.filters) Object.assign(params, filterParam("f.", filter.column, filter));
    change(params, false);
  };
  return (
    <Select
      label="A figure of the study"
      value=""
      options={[
        { value: "", label: "choose one to begin with" },
        ...study.figures.map(({ slug, title }) => ({ value: slug, label: `${slug}: ${title}` })),
      ]}
      onValue={(slug) => {
        const figure = study.figures.find((one) => one.slug === slug);
        if (figure !== undefined) open(figure);
      }}
    />
  );
}

function Axes({ study, question }: FigureProps) {
  const axes = study.axes.map(({ column, name }) => ({ value: column, label: name }));
  const numbers = study.metrics
    .filter(({ name }) => name !== question.metric)
    .map(({ name }) => ({ value: name, label: `${name}, in intervals` }));
  const none = { value: "none", label: "none" };
  const usual = (name: string) => (name === "none" ? "none" : name);
  const log = (part: string, isOn: boolean) => {
    const others = question.log.replace(part, "");
    change({ log: isOn ? others + part : others });
  };
  return (
    <div class="studies-what">
      <Select label="X axis" value={question.x} options={[...axes, ...numbers]} onValue={(x) => change({ x })} />
      <Select
        label="Series"
        value={question.series === "" ? "none" : question.series}
        options={[none, ...axes.filter(({ value }) => value !== question.x)]}
        onValue={(series) => change({ series: usual(series) })}
      />
      <Select
        label="A panel for each"
        value={question.facet === "" ? "none" : question.facet}
        options={[none, ...axes.filter(({ value }) => value !== question.x && value !== question.series)]}
        onValue={(facet) => change({ facet: facet === "none" ? "" : facet })}
      />
      <fieldset class="field">
        <legend class="field-label">Logarithmic</legend>
        <span class="row">
          <Checkbox label="X axis" checked={question.log.includes("x")} onChange={(isOn) => log("x", isOn)} />
          <Checkbox label="Y axis" checked={question.log.includes("y")} onChange={(isOn) => log("y", isOn)} />
        </span>
      </fieldset>
    </div>
  );
}

interface Panel {
  title: string;
  series: Series[];
}

function Panels({ study, question, pivot }: FigureProps & { pivot: Pivot }) {
  const { panels, places } = useMemo(() => panelsOf(question, pivot), [pivot, question.facet, question.series]);
  const group = pivot.columns.groups[0];
  const x = useMemo(() => xOf(study, question, pivot, places), [pivot, places, question.log]);
  if (pivot.selected === 0) return <p class="note">The filters leave no run.</p>;
  const unit = pivot.scale.unit;
  const name = `${wordsOf(question.metric)}, ${question.statistic}`;
  const shownPanels = panels.slice(0, MOST_PANELS);
  return (
    <div>
      <p class="muted small" role="status">
        {runsText(pivot.selected)}
        {["mean", "median", "finished"].includes(question.statistic) && "; bands are 95% intervals"}
        {panels.length > MOST_PANELS && `; the first ${MOST_PANELS} of ${panels.length} panels`}
      </p>
      <div class={panels.length > 1 ? "studies-panels" : ""}>
        {shownPanels.map((panel) => (
          <figure key={panel.title} class="panel studies-figure">
            <Chart
              label={
                panel.title === ""
                  ? `${name} over ${nameOf(study, question.x)}`
                  : `${nameOf(study, question.facet)} ${panel.title}`
              }
              x={x}
              y={{ label: unit === "" ? name : `${name} [${unit}]`, isLog: question.log.includes("y") }}
              series={panel.series}
              group={`studies ${question.x} ${group?.labels.length ?? 0}`}
              height={panels.length > 1 ? 220 : 360}
            />
          </figure>
        ))}
      </div>
    </div>
  );
}

/** The x axis: numbers where all points have one, else the points one after another. */
function xOf(study: Study, question: Question, pivot: Pivot, places: readonly number[]) {
  const group = pivot.columns.groups[0];
  const codes = places.map((place) => pivot.columns.places[place]?.[0] ?? 0);
  const name = nameOf(study, question.x);
  if (group === undefined) return { label: "", values: [0] };
  if (group.numbers !== null) {
    const { factor, unit } = group.scale;
    const values = codes.map((code) => (group.numbers?.[code] ?? 0) * factor);
    const label = unit === "" ? name : `${name} [${unit}]`;
    return { label, values, isLog: question.log.includes("x") && values.every((value) => value > 0) };
  }
  const labels = codes.map((code) => group.labels[code] ?? "");
  return {
    label: name,
    values: labels.map((_, i) => i),
    from: -0.5,
    to: labels.length - 0.5,
    format: (at: number) => (Number.isInteger(at) ? (labels[at] ?? "") : ""),
  };
}

/** The curves of each panel, by x. */
function panelsOf(question: Question, pivot: Pivot): { panels: Panel[]; places: number[] } {
  const group = pivot.columns.groups[0];
  const numbers = group?.numbers;
  const at = (place: number) => {
    const code = pivot.columns.places[place]?.[0] ?? 0;
    return numbers === null || numbers === undefined ? code : (numbers[code] ?? 0);
  };
  const isOrdered = numbers !== null && numbers !== undefined;
  const places = pivot.columns.places.map((_, place) => place).sort((a, b) => at(a) - at(b));
  const hasFacet = question.facet !== "";
  const hasSeries = question.series !== "";
  const { scale } = pivot;
  const panels = new Map<string, Panel>();
  pivot.rows.places.forEach((codes, row) => {
    const labels = codes.map((code, i) => pivot.rows.groups[i]?.labels[code] ?? "");
    const title = hasFacet ? (labels[0] ?? "") : "";
    const panel = panels.get(title) ?? { title, series: [] };
    panels.set(title, panel);
    const color = hasSeries ? (codes[codes.length - 1] ?? 0) : 0;
    const cells = places.map((place) => pivot.cells[row * pivot.columns.places.length + place] ?? null);
    const scaled = (part: 0 | 1 | 2) =>
      cells.map((cell) => (cell === null ? null : cell[part] === null ? null : cell[part] * scale.factor));
    const low = scaled(1);
    panel.series.push({
      // A line needs more than a point, and points of no order have none.
      kind: isOrdered && places.length > 1 ? "line" : "points",
      label: hasSeries ? (labels[labels.length - 1] ?? "") : question.metric,
      values: scaled(0),
      color: color % 8,
      dash: Math.floor(color / 8) % 6,
      ...(low.some((value) => value !== null) ? { band: { low, high: scaled(2) } } : {}),
    });
  });
  return { panels: [...panels.values()], places };
}
