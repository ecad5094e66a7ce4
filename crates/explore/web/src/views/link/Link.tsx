// The view of one link: the question at the left, the answer as it comes at the right.
import { useEffect, useMemo } from "preact/hooks";
import type { ViewProps } from "../../app/views";
import { change, type Params } from "../../lib/address";
import { shareable } from "../../lib/share";
import type { OptionName } from "../../lib/options";
import { Tabs, Words } from "../../ui";
import { BySize } from "./BySize";
import { ByUsers, forUsers, numbersOf } from "./ByUsers";
import { Compared, packed, unpacked } from "./Compared";
import { loadPresets, options } from "./hello";
import { Key } from "./Key";
import { Mounted } from "./Mounted";
import { OverTime } from "./OverTime";
import { Panel, WIDE } from "./Panel";
import { draft, key } from "./question";
import { nameOf, Ranking } from "./Ranking";
import { Robust } from "./Robust";
import { follow, Run, type Shown } from "./run";
import { sharing } from "./share";
import { Toolbar } from "./Toolbar";
import { Verdict } from "./Verdict";

/** The tab that compares the sizes, or the numbers of users. */
const ALL = "all";

export default function Link({ params }: ViewProps) {
  const run = useMemo(() => new Run("a"), []);
  const ghost = useMemo(() => new Run("b"), []);
  const users = params["_users"];
  useEffect(() => {
    void loadPresets().catch(() => undefined);
  }, []);
  useEffect(() => follow(run, () => forUsers(draft.value, users)), [users]);
  const kept = params["_with"];
  useEffect(() => {
    if (kept === undefined) {
      ghost.stop();
      ghost.shown.value = null;
      return undefined;
    }
    return follow(ghost, () => unpacked(kept));
  }, [kept]);

  const shown = run.shown.value;
  const begin = shown?.begin;
  const last = (begin?.sizes.length ?? 1) - 1;
  const size = Math.max(0, Math.min(last, params["_size"] === ALL ? last : Number(params["_size"] ?? last) || 0));
  const keys = begin?.rows.map(nameOf) ?? [];
  const selected = keys.find((each) => each === params["_row"]);
  const beside = keys.find((each) => each === params["_beside"]);
  const facts = begin?.rows[keys.indexOf(selected ?? "")];
  const other = begin?.rows[keys.indexOf(beside ?? "")];
  const row = facts?.row;
  useEffect(() => {
    if (shown !== null) shareable.value = sharing(shown, { row, size });
  }, [shown?.begin.id, shown?.isFinal, row, size]);

  const numbers = numbersOf(draft.value);
  const keep = (question: Params) => change({ _with: packed(question) });
  const select = (name: string) =>
    change({ _row: name === selected ? "" : name, _beside: "", _seed: "", _user: "", _at: "" });
  const ranking = (
    <Ranking
      run={run}
      size={size}
      ghost={kept === undefined ? null : ghost.shown.value}
      selected={selected}
      beside={beside}
      onSelect={select}
    />
  );
  const answer = (
    <div class="link-parts">
      <Verdict run={run} />
      {kept !== undefined && (
        <Compared kept={unpacked(kept)} run={ghost} onKeep={keep} onDrop={() => change({ _with: "" })} />
      )}
      {shown !== null && begin !== undefined && begin.sizes.length > 1 ? (
        <Tabs
          label="Sizes"
          value={params["_size"] === ALL ? ALL : String(size)}
          tabs={[...begin.sizes.map((label, i) => ({ value: String(i), label })), { value: ALL, label: "By size" }]}
          onValue={(value) => change({ _size: value === String(last) ? "" : value })}
        >
          {params["_size"] === ALL ? <BySize shown={shown} /> : ranking}
        </Tabs>
      ) : (
        ranking
      )}
      {shown !== null && <Key shown={shown} />}
      {shown !== null && <Robust shown={shown} />}
      {shown !== null && <OverTime shown={shown} selected={selected} beside={beside} />}
      {shown !== null && facts === undefined && (
        <p class="muted small">
          Choose a transport to see its window, rate, queue and packets over time, and what the algorithm did.
        </p>
      )}
    </div>
  );
  const isByUsers = numbers.length > 1 && users === ALL;
  return (
    <div class="view link">
      <div class="link-left">
        <Toolbar
          isKept={kept !== undefined && key(unpacked(kept)) === key(draft.value)}
          onKeep={shown === null ? undefined : () => keepShown(ghost, shown, keep)}
        />
        <Panel run={run} />
      </div>
      <div class="link-answer">
        <Failure run={run} />
        {numbers.length > 1 ? (
          <Tabs
            label="Users"
            value={isByUsers || (users !== undefined && numbers.includes(users)) ? users : (numbers[0] ?? "")}
            tabs={[
              ...numbers.map((value) => ({ value, label: value === "1" ? "1 user" : `${value} users` })),
              { value: ALL, label: "By users" },
            ]}
            onValue={(value) => change({ _users: value === numbers[0] ? "" : value })}
          >
            {isByUsers ? <ByUsers numbers={numbers} /> : answer}
          </Tabs>
        ) : (
          answer
        )}
      </div>
      {shown !== null && facts !== undefined && !isByUsers && (
        <Mounted shown={shown} isStale={run.isStale.value} row={facts} beside={other} size={size} />
      )}
    </div>
  );
}

/** Keeps what is shown: its bars stay as outlines at once, before the server answers again. */
function keepShown(ghost: Run, shown: Shown, keep: (question: Params) => void): void {
  ghost.shown.value = shown;
  keep(shown.options);
}

/** What went wrong and is no field's fault. */
function Failure({ run }: { run: Run }) {
  const failure = run.failure.value;
  // The frame says that the server is gone.
  if (failure === null || failure.isUnreachable) return null;
  if (failure.option !== undefined && options.value.has(failure.option as OptionName)) {
    const rest = run.shown.value === null ? "" : " The answer below is for the previous question.";
    // Where the fields are folded the message is not in sight.
    const isInSight = matchMedia(WIDE).matches;
    return (
      <p class="link-problem">
        {isInSight ? (
          "A field has a value that cannot be used."
        ) : (
          <Words text={`--${failure.option}: ${failure.message.replace(/[^.?!]$/, "$&.")}`} />
        )}
        {rest}
      </p>
    );
  }
  return (
    <p class="link-problem" role="alert">
      <Words text={failure.message} />
    </p>
  );
}
