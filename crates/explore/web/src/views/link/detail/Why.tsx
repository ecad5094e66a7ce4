// What the algorithm did, in words; a click on an act shows that time in the charts.
import { rangeOf } from "../../../ui/chart/zoom";
import { GROUP } from "./Charts";
import type { Run } from "./types";
import { seconds, titleOf } from "./words";

export function Why({ run, onPackets }: { run: Run; onPackets: ((from: number) => void) | undefined }) {
  const range = rangeOf(GROUP);
  const now = range.value;
  const zoom = (from: number, to: number) => {
    const room = Math.max((to - from) * 0.04, 1e-3);
    const next: [number, number] = [Math.max(0, from - room), Math.min(run.end_s, to + room)];
    const same = now !== null && Math.abs(now[0] - next[0]) < 1e-9 && Math.abs(now[1] - next[1]) < 1e-9;
    range.value = same ? null : next;
  };
  const isShown = (from: number, to: number) =>
    now !== null && now[0] <= from && now[1] >= to && now[1] - now[0] <= (to - from) * 1.2 + 3e-3;
  return (
    <section class="detail-why" aria-label={`Why: ${titleOf(run.row)}`}>
      <h3>Why</h3>
      {run.summary.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {run.spent.length > 0 && (
        <p>
          Where the time went:{" "}
          {run.spent.map((part) => `${part.title.toLowerCase()} ${seconds(part.time_s)}`).join(", ")}.
        </p>
      )}
      <ol class="detail-acts">
        {run.acts.map((act) => (
          <li key={act.from}>
            <button
              type="button"
              class="detail-act"
              aria-pressed={isShown(act.from, act.to)}
              onClick={() => zoom(act.from, act.to)}
              title="Show this time in the charts"
            >
              <strong>{act.title}</strong>
              <span class="num">
                {seconds(act.from)} to {seconds(act.to)}
              </span>
            </button>
            <p>{act.text.join(" ")}</p>
            {onPackets !== undefined && (
              <button type="button" class="detail-link" onClick={() => onPackets(act.from)}>
                Packets from {seconds(act.from)} on
                <span class="sr"> of {act.title}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
