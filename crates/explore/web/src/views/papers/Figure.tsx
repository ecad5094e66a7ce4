// A figure of a paper as the command draws it, and its numbers.
import { useEffect, useState } from "preact/hooks";
import { PlainTable } from "../../ui";
import type { PaperFigure } from "./model";
import { RunBar, type Runner } from "./RunBar";

/** Lines of the table of numbers, at most. */
const MOST_LINES = 400;

export function Figure({ figure, runner }: { figure: PaperFigure; runner: Runner }) {
  const { slug, title, svg, data } = figure;
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (svg === null) {
      setAddress(undefined);
      return undefined;
    }
    const made = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  const points = data?.curves.flatMap((curve) => curve.points.map((point) => ({ curve, point }))) ?? [];
  const hasPrinted = points.some(({ point }) => point.published !== null);
  const x = (at: number) => data?.categories[at] ?? String(Number(at.toPrecision(6)));
  const number = (value: number | null) => (value === null ? "" : String(Number(value.toPrecision(5))));
  return (
    <div class="stack">
      <h2>{title}</h2>
      <RunBar item={slug} need={figure.need} runner={runner} what="this figure" />
      {address !== undefined && (
        <img class="papers-picture" src={address} alt={`${title}. Its numbers are in the table below.`} />
      )}
      {svg === null && !figure.need.is_there && <p class="muted">Our curves are drawn once the runs are there.</p>}
      {figure.need.is_there && data !== null && data.notes.length > 0 && (
        <p class="muted small">{data.notes.join(". ")}</p>
      )}
      {svg !== null && points.length > 0 && (
        <details class="panel">
          <summary>Numbers</summary>
          <PlainTable
            label={`Numbers of ${slug}`}
            columns={[
              { label: "curve" },
              { label: data?.x_label },
              ...[data?.y_label, "± 95%", ...(hasPrinted ? ["printed"] : [])].map((label) => ({
                label,
                numeric: true,
              })),
            ]}
            rows={points
              .slice(0, MOST_LINES)
              .map(({ curve, point }) => [
                [curve.panel, curve.label].filter(Boolean).join(", "),
                x(point.x),
                ...[point.y, point.ci95, ...(hasPrinted ? [point.published] : [])].map(number),
              ])}
          />
        </details>
      )}
    </div>
  );
}
