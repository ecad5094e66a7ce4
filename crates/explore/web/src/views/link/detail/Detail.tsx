// What one transport, or two side by side, does over time; why; and packet by packet.
import { useState } from "preact/hooks";
import { address, change } from "../../../lib/address";
import { Button, Checkbox, Failed, Loading, Tabs } from "../../../ui";
import { rangeOf } from "../../../ui/chart/zoom";
import { Charts, GROUP, losses, type Shown } from "./Charts";
import { useRun } from "./load";
import { Stepper } from "./Stepper";
import type { Asked, RowName, Run } from "./types";
import { Why } from "./Why";
import { seconds, titleOf } from "./words";

export interface DetailProps {
  /** The question of the answer that is shown. */
  readonly options: readonly (readonly [string, string])[];
  readonly rows: readonly RowName[];
  readonly row: RowName;
  readonly beside?: RowName | undefined;
  /** Index of the size. */
  readonly size: number;
  readonly users: number;
  /** The answer is complete: only then runs are chosen from it. */
  readonly isDone: boolean;
  /** Another row to show beside, as `pep/transport`; empty for none. */
  readonly onBeside: (row: string) => void;
  readonly onClose: () => void;
}

const keyOf = (row: RowName) => `${row.pep}/${row.transport}`;

export default function Detail(props: DetailProps) {
  const { params } = address.value;
  const number = (name: string) => {
    const value = Number(params[name] ?? "");
    return params[name] !== undefined && params[name] !== "" && Number.isFinite(value) ? value : undefined;
  };
  const [isWide, setWide] = useState(false);
  const [side, setSide] = useState<"one" | "other">("one");
  const user = number("_user");
  const seed = number("_seed");
  const from = number("_at");
  const asked = (row: RowName, of?: number): Asked => ({
    options: props.options,
    row: { pep: row.pep, transport: row.transport },
    size: props.size,
    ...(user === undefined ? {} : { user }),
    ...(of === undefined ? {} : { seed: of }),
  });
  const first = asked(props.row, seed);
  const one = useRun(props.isDone ? first : undefined);
  const other = useRun(props.isDone && props.beside !== undefined ? asked(props.beside) : undefined);
  const { run } = one;
  const shown: Shown[] = [];
  if (run !== undefined) shown.push({ run, band: one.band });
  if (other.run !== undefined && props.beside !== undefined) shown.push({ run: other.run, band: other.band });
  const packets = (at: number) => change({ _at: String(Math.round(at * 1e6) / 1e6) });
  const isZoomed = rangeOf(GROUP).value !== null;
  const error = one.error ?? other.error;

  return (
    <section class="detail panel" aria-label={`${titleOf(props.row)} over time`}>
      <header class="detail-bar detail-head">
        <h2>
          {titleOf(props.row)}
          {props.beside !== undefined && ` beside ${titleOf(props.beside)}`}
        </h2>
        {isZoomed && (
          <Button size="small" onClick={() => (rangeOf(GROUP).value = null)}>
            Show the whole run
          </Button>
        )}
        <Button size="small" kind="quiet" icon="close" label="Close the details" onClick={props.onClose} />
      </header>
      <div class="detail-bar">
        <label class="detail-choice">
          Compare with{" "}
          <select
            value={props.beside === undefined ? "" : keyOf(props.beside)}
            onChange={(event) => props.onBeside(event.currentTarget.value)}
          >
            <option value="">None</option>
            {props.rows
              .filter((row) => keyOf(row) !== keyOf(props.row))
              .map((row) => (
                <option key={keyOf(row)} value={keyOf(row)}>
                  {titleOf(row)}
                </option>
              ))}
          </select>
        </label>
        {run !== undefined && run.seeds.length > 1 && (
          <label class="detail-choice">
            Run{" "}
            <select
              value={seed === undefined ? "" : String(seed)}
              onChange={(event) => change({ _seed: event.currentTarget.value })}
            >
              <option value="">Median time</option>
              {run.seeds.map((each) => (
                <option key={each.seed} value={String(each.seed)}>
                  seed {each.seed}: {each.time_s === null ? "not finished" : seconds(each.time_s)}
                </option>
              ))}
            </select>
          </label>
        )}
        {run !== undefined && run.users > 1 && (
          <label class="detail-choice">
            User{" "}
            <input
              type="number"
              min={1}
              max={run.users}
              value={run.user}
              onChange={(event) =>
                change({ _user: event.currentTarget.value === "1" ? "" : event.currentTarget.value })
              }
            />
          </label>
        )}
        {run !== undefined && run.runs > 1 && (
          <Checkbox
            label="Band over all runs instead of the 10th to 90th percentile"
            checked={isWide}
            onChange={setWide}
          />
        )}
      </div>
      {run !== undefined && <p class="detail-facts">{facts(run)}</p>}
      {error !== undefined && <Failed error={error} onRetry={one.error === undefined ? other.retry : one.retry} />}
      {run === undefined && error === undefined && (
        <Loading>{props.isDone ? "Repeating the run with full recording …" : "Waiting for the answer …"}</Loading>
      )}
      {run !== undefined && (
        <>
          <div class={one.isStale ? "detail-both is-stale" : "detail-both"}>
            <div>
              <p class="detail-losses">{losses(shown)}</p>
              <Charts shown={shown} isWide={isWide} />
            </div>
            <div class="detail-words">
              {other.run !== undefined && props.beside !== undefined ? (
                <Tabs
                  label="Why"
                  value={side}
                  tabs={[
                    { value: "one", label: titleOf(props.row) },
                    { value: "other", label: titleOf(props.beside) },
                  ]}
                  onValue={setSide}
                >
                  <Why run={side === "one" ? run : other.run} onPackets={side === "one" ? packets : undefined} />
                </Tabs>
              ) : (
                <Why run={run} onPackets={packets} />
              )}
            </div>
          </div>
          {run.series.cwnd.t.length > 0 &&
            (from === undefined ? (
              <Button onClick={() => change({ _at: String(run.started_s) })}>
                Step through the run packet by packet
              </Button>
            ) : (
              <Stepper asked={first} run={run} from={from} onFrom={packets} />
            ))}
        </>
      )}
    </section>
  );
}

/** Which run it is, and how it stands to the table. */
function facts(run: Run): string {
  const which = run.runs > 1 ? `Seed ${run.seed}, one of ${run.runs} runs` : `Seed ${run.seed}`;
  if (run.activity === "call") return `${which}: this user is in a call.`;
  const what = { download: "", upload: "", web: "a page takes ", video: "the wait for the video is " }[run.activity];
  const time =
    run.time_s === null ? "not finished" : `${what}${seconds(run.time_s)}${run.users > 1 ? " for this user" : ""}`;
  const mean = run.mean_s === null || run.runs < 2 ? "" : `; mean over the runs ${seconds(run.mean_s)}`;
  return `${which}: ${time}${mean}.`;
}
