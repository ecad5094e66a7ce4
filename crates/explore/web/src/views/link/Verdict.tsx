// The verdict in words above the bars: what to use, how sure that is, whom it hurts, how to
// switch it on.
import { useEffect, useRef } from "preact/hooks";
import { announce, Button, Copy, Words } from "../../ui";
import { set } from "./question";
import type { Run, Shown } from "./run";
import type { SwitchOn } from "./types";

/** How sure the advice is, as the library means it. */
const CERTAINTY: Readonly<Record<string, { label: string; about: string }>> = {
  exact: { label: "exact", about: "Nothing here is random: another run would be the same." },
  clear: { label: "clear", about: "Shown, with an error of at most 5% over all transports and looks." },
  borderline: {
    label: "borderline",
    about: "What decides lies near a threshold: other random losses may give another advice, and neither is far off.",
  },
  open: {
    label: "open",
    about: "The runs so far do not tell: more may change the advice.",
  },
};

/** How to switch it on: words and commands to copy. */
export function Commands({ how, what }: { how: SwitchOn; what: string }) {
  if (how.text === "" && how.commands.length === 0) return null;
  return (
    <div class="link-switch">
      <p>
        <Words text={how.text} />
      </p>
      {how.commands.length > 0 && (
        <div class="link-commands">
          <pre tabIndex={0} aria-label={`Commands: ${what}`}>
            <code>{how.commands.join("\n")}</code>
          </pre>
          <Copy text={how.commands.join("\n")} what="the commands" />
        </div>
      )}
    </div>
  );
}

/** How far the runs are. */
function State({ shown, isStale, isRefused }: { shown: Shown; isStale: boolean; isRefused: boolean }) {
  const [done, total] = shown.progress;
  const share = shown.isFinal ? 1 : total === 0 ? 0 : done / total;
  const text = isRefused
    ? "of the question before"
    : isStale
      ? "asking again …"
      : shown.isFinal
        ? `${done.toLocaleString("en-GB")} runs`
        : `${done.toLocaleString("en-GB")} runs of about ${total.toLocaleString("en-GB")}`;
  return (
    <div class="link-progress">
      <span>{text}</span>
      <progress
        value={isStale ? 0 : share}
        max={1}
        aria-label="Runs"
        class={shown.isFinal && !isStale ? "link-done" : ""}
      />
    </div>
  );
}

export function Verdict({ run }: { run: Run }) {
  const shown = run.shown.value;
  const isStale = run.isStale.value;
  const said = useRef("");
  // Once a question: the end, not every change on the way.
  useEffect(() => {
    if (shown === null || isStale || !shown.isFinal || shown.verdict === null) return;
    if (said.current === shown.begin.id) return;
    said.current = shown.begin.id;
    announce(shown.verdict.text.slice(0, 2).join(" "));
  }, [shown, isStale]);
  if (shown === null) {
    return (
      <section class="link-verdict" aria-label="Verdict" aria-busy={run.failure.value === null}>
        <h1 class="link-headline">Which transport?</h1>
        <p class="link-words">
          {run.failure.value === null ? "The first runs are in progress." : "There is no answer yet."}
        </p>
      </section>
    );
  }
  const { verdict, begin } = shown;
  const certainty = verdict === null ? undefined : CERTAINTY[verdict.certainty];
  // The sentence of an open verdict names the option.
  const more = verdict?.certainty === "open" ? /--time (\w+)/.exec(verdict.text.join(" "))?.[1] : undefined;
  const [headline, ...words] = verdict?.text ?? [];
  return (
    <section
      class={`link-verdict${isStale ? " link-stale" : ""}`}
      aria-label="Verdict"
      aria-busy={(!shown.isFinal || isStale) && run.failure.value?.option === undefined}
    >
      <div class="link-verdict-head">
        <h1 class="link-headline">{headline ?? "Deciding …"}</h1>
        <State shown={shown} isStale={isStale} isRefused={isStale && run.failure.value?.option !== undefined} />
      </div>
      <p class="link-question">
        {certainty !== undefined && (
          <span class={`link-certainty link-${verdict?.certainty}`} title={certainty.about}>
            {shown.isFinal ? certainty.label : `${certainty.label} after ${shown.judged.toLocaleString("en-GB")} runs`}
          </span>
        )}
        {[begin.question, begin.text.slice(1).join(" ")].filter((line) => line !== "").join(". ")}
      </p>
      <p class="link-words">
        <Words
          text={
            verdict === null ? "Every transport has its first results; the verdict needs more runs." : words.join(" ")
          }
        />
      </p>
      {more !== undefined && shown.isFinal && !isStale && (
        <span>
          <Button size="small" onClick={() => set({ time: more }, true)}>
            Look for {more}
          </Button>
        </span>
      )}
      {verdict !== null && (verdict.switch_on.text !== "" || verdict.switch_on_queue.text !== "") && (
        <details class="link-how">
          <summary>How to switch it on</summary>
          <Commands how={verdict.switch_on} what={verdict.headline} />
          <Commands how={verdict.switch_on_queue} what="the queue" />
        </details>
      )}
    </section>
  );
}
