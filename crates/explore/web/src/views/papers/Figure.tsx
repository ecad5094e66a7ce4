// A figure of a paper as the command draws it, and its numbers.
import { useEffect, useState } from "preact/hooks";
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
      {address !== undefined && <img class="papers-picture" src={address} alt={`${title}. Its numbers are in the table below.`} />}
      {svg === null && !figure.need.is_there && <p class="muted">Our curves are drawn once the runs are there.</p>}
      {figure.need.is_there && data !== null && data.notes.length > 0 && <p class="muted small">{data.notes.join(". ")}</p>}
      {svg !== null && points.length > 0 && (
        <details class="panel">
          <summary>Numbers</summary>
          <div class="table-box" tabIndex={0} role="region" aria-label={`Numbers of ${slug}`}>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">curve</th>
                  <th scope="col">{data?.x_label}</th>
                  <th scope="col" class="num">
                    {data?.y_label}
                  </th>
                  <th scope="col" class="num">
                    ± 95%
                  </th>
                  {hasPrinted && (
                    <th scope="col" class="num">
                      printed
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {points.slice(0, MOST_LINES).map(({ curve, point }, i) => (
                  <tr key={i}>
                    <th scope="row">{[curve.panel, curve.label].filter(Boolean).join(", ")}</th>
                    <td>{x(point.x)}</td>
                    <td class="num">{number(point.y)}</td>
                    <td class="num">{number(point.ci95)}</td>
                    {hasPrinted && <td class="num">{number(point.published)}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </div>
  );
}
