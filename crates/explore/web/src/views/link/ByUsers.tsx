// Where the advice changes with the number of users: the question asked for each, one
// after the other, and the verdicts side by side.
import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Params } from "../../lib/address";
import { PlainTable } from "../../ui/PlainTable";
import { decimal } from "./numbers";
import { draft, key } from "./question";
import { meanOf, place, Run, type Shown } from "./run";

/** The numbers of users that are asked about; none unless there are several, and each is one. */
export function numbersOf(question: Params): readonly string[] {
  const numbers = (question["users"] ?? "").split(",").map((number) => number.trim());
  const several = [...new Set(numbers.filter((number) => number !== ""))];
  if (several.some((number) => !/^\d+$/.test(number))) return [];
  return several.length > 1 ? several.toSorted((a, b) => Number(a) - Number(b)) : [];
}

/** The question for one of its numbers of users: an answer is for one. */
export function forUsers(question: Params, number: string | undefined): Params {
  const numbers = numbersOf(question);
  const users = number !== undefined && numbers.includes(number) ? number : numbers[0];
  return users === undefined ? question : { ...question, users };
}

/** Asks for each number in turn. */
function useAnswers(numbers: readonly string[]): ReadonlyMap<string, Shown> {
  const [answers, setAnswers] = useState<ReadonlyMap<string, Shown>>(new Map());
  const question = draft.value;
  useEffect(() => {
    const run = new Run("users");
    const left = [...numbers];
    const ask = () => left[0] !== undefined && run.ask(forUsers(question, left[0]));
    setAnswers(new Map());
    const end = effect(() => {
      const shown = run.shown.value;
      const users = left[0];
      if (shown?.isFinal !== true || users === undefined || shown.options["users"] !== users) return;
      left.shift();
      setAnswers((known) => new Map(known).set(users, shown));
      ask();
    });
    ask();
    return () => {
      end();
      run.stop();
    };
  }, [key(question)]);
  return answers;
}

export function ByUsers({ numbers }: { numbers: readonly string[] }) {
  const answers = useAnswers(numbers);
  const cells = (users: string) => {
    const shown = answers.get(users);
    const verdict = shown?.verdict;
    if (shown === undefined || verdict == null) return [users, "…", "", "", "", "", ""];
    const last = shown.begin.sizes.length - 1;
    const time = (row: number | null) => {
      const mean = row === null ? null : meanOf(shown.standings.get(place(row, last)));
      return mean === null ? "no end" : decimal(mean);
    };
    const pick = shown.standings.get(place(verdict.pick_row ?? -1, last));
    const change = (text: string | null | undefined) => (verdict.keep ? "" : (text ?? "-"));
    return [
      users,
      verdict.headline,
      verdict.certainty,
      time(verdict.pick_row),
      time(verdict.baseline_row),
      change(pick?.shown.gain),
      change(pick?.shown.others),
    ];
  };
  return (
    <div class="link-parts link-users">
      <h1 class="link-headline">Which transport, by the number of users?</h1>
      <PlainTable
        label="Verdicts by the number of users"
        columns={[
          { label: "users", numeric: true },
          { label: "verdict" },
          { label: "certainty" },
          { label: "time [s]", numeric: true },
          { label: "default's [s]", numeric: true },
          { label: "gain", numeric: true },
          { label: "others lose", numeric: true },
        ]}
        rows={numbers.map(cells)}
      />
      {answers.size < numbers.length && (
        <p class="busy">
          {answers.size} of {numbers.length} answers are there; the next one is being computed.
        </p>
      )}
    </div>
  );
}
