// The question that was kept, against the one that is asked now.
import { Button } from "../../ui";
import type { Params } from "../../lib/address";
import { draft, replace } from "./question";
import type { Run } from "./run";

/** A question in a parameter of the address; `-` is the one of all defaults. */
export const packed = (question: Params) => new URLSearchParams(Object.entries(question)).toString() || "-";

export function unpacked(text: string): Params {
  return text === "-" ? {} : Object.fromEntries(new URLSearchParams(text));
}

/** What differs between two questions: option, before, now. */
function differences(before: Params, now: Params): [name: string, before: string, now: string][] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted();
  return names
    .filter((name) => before[name] !== now[name])
    .map((name) => [name, before[name] ?? "default", now[name] ?? "default"]);
}

interface ComparedProps {
  readonly kept: Params;
  readonly run: Run;
  readonly onKeep: (question: Params) => void;
  readonly onDrop: () => void;
}

export function Compared({ kept, run, onKeep, onDrop }: ComparedProps) {
  const shown = run.shown.value;
  const differ = differences(kept, draft.value);
  const swap = () => {
    onKeep(draft.value);
    replace(kept);
  };
  return (
    <section class="link-compared" aria-label="Kept to compare">
      <p>
        <span class="link-was-key" aria-hidden="true" /> <strong>Kept:</strong> {shown?.begin.question ?? "…"}
        {shown?.verdict != null && <> — {shown.verdict.text[0]}</>}
      </p>
      {differ.length === 0 ? (
        <p class="muted">
          The questions are the same. Change an option: the outlines show the bars of the kept question.
        </p>
      ) : (
        <dl>
          {differ.map(([name, before, now]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {before} → <strong>{now}</strong>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <span class="link-compared-buttons">
        <Button size="small" onClick={swap} disabled={differ.length === 0}>
          Swap
        </Button>
        <Button size="small" kind="quiet" onClick={onDrop}>
          Discard
        </Button>
      </span>
    </section>
  );
}
