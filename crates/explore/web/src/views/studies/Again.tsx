// One run again: the command that runs it, and the view that shows it.
import { useEffect, useState } from "preact/hooks";
import { href } from "../../lib/address";
import { useAnswer } from "../../lib/useAnswer";
import { Copy, messageOf, Note } from "../../ui";
import { packed } from "../scenario/store";
import type { Study } from "./model";

interface AgainAnswer {
  /** The command that runs it; null where the study's file is not in the folder. */
  command: string | null;
  /** The scenario with all that the study sets; null where there is none. */
  text: string | null;
  /** Its name. */
  name?: string;
  /** Why there is no more. */
  note: string;
}

export function Again({ study, name, run }: { study: Study; name: string; run: number }) {
  const { answer, error } = useAnswer<AgainAnswer>("/api/studies/again", { study: name, run });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const text = answer?.text;
    if (text == null) return;
    void packed(text).then((word) =>
      setAddress(word === undefined ? undefined : href("scenario", { text: word, name: answer?.name ?? "run" })),
    );
  }, [answer]);
  return (
    <section class="panel" aria-label={`Run ${run}`}>
      <div class="panel-head">
        <h2>
          Run {run} of {study.name} again
        </h2>
      </div>
      <div class="panel-body stack" aria-live="polite">
        {error !== undefined && <Note kind="bad">{messageOf(error)}</Note>}
        {answer?.command != null && (
          <div class="row">
            <code class="studies-code">{answer.command}</code>
            <Copy text={answer.command} what="the command" />
          </div>
        )}
        {address !== undefined && (
          <p>
            <a class="button" href={address}>
              Open it in Scenario
            </a>
          </p>
        )}
        {answer !== undefined && answer.note !== "" && <p class="muted">{answer.note}</p>}
      </div>
    </section>
  );
}
