// The view of one link: the question at the left, the answer as it comes at the right.
import { useEffect, useMemo } from "preact/hooks";
import type { ViewProps } from "../../app/App";
import { change } from "../../lib/address";
import { loadPresets } from "./hello";
import { Panel } from "./Panel";
import { draft } from "./question";
import { nameOf, Ranking } from "./Ranking";
import { follow, Run } from "./run";
import { Verdict } from "./Verdict";

export default function Link({ params }: ViewProps) {
  const run = useMemo(() => new Run(), []);
  useEffect(() => {
    void loadPresets().catch(() => undefined);
    return follow(run, () => draft.value);
  }, []);
  const begin = run.shown.value?.begin;
  const last = (begin?.sizes.length ?? 1) - 1;
  const size = Math.min(last, Number(params["_size"] ?? last));
  const selected = begin?.rows.map(nameOf).find((key) => key === params["_row"]);
  return (
    <div class="view link">
      <Panel run={run} />
      <div class="link-answer">
        <Failure run={run} />
        <Verdict run={run} />
        <Ranking
          run={run}
          size={size}
          ghost={null}
          selected={selected}
          beside={params["_beside"]}
          onSelect={(key) => change({ _row: key === selected ? "" : key, _beside: "" })}
        />
      </div>
    </div>
  );
}

/** What went wrong and is no field's fault. */
function Failure({ run }: { run: Run }) {
  const failure = run.failure.value;
  if (failure === null || failure.isUnreachable) return null;
  if (failure.option !== undefined) return <p class="link-problem">The answer below is of the question before: a field has a value that is no use.</p>;
  return (
    <p class="link-problem" role="alert">
      {failure.message}
    </p>
  );
}
