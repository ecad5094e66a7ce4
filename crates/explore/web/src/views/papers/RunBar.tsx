// What runs an item of a paper, and how far it is.
import { Button, Note, Progress } from "../../ui";
import type { Need } from "./model";

/** What is being run. */
export interface Work {
  item: string;
  share: number;
  words: string;
}

/** What an item may ask of the page. */
export interface Runner {
  work: Work | undefined;
  failure: { item: string; message: string } | undefined;
  run: (item: string) => void;
  stop: () => void;
}

/** Runs an item, says how far it is, or what went wrong. The empty item is the whole paper. */
export function RunBar({ item, need, runner, what }: { item: string; need: Need; runner: Runner; what: string }) {
  const { work, failure } = runner;
  const isOwn = work?.item === item;
  return (
    <div class="papers-run" aria-live="polite">
      {isOwn ? (
        <>
          <Progress done={work.share} label={`Runs for ${what}`} />
          <div class="row">
            <span class="busy">{work.words}</span>
            <Button size="small" onClick={runner.stop}>
              Stop
            </Button>
          </div>
        </>
      ) : need.is_there ? (
        need.is_fewer && (
          <Note kind="warn">
            Fewer runs per cell than the study requires: results are less certain, and verdicts may differ.
          </Note>
        )
      ) : (
        <Button kind="primary" icon="play" onClick={() => runner.run(item)}>
          Run {what} ({need.missing.toLocaleString("en")} {need.missing === 1 ? "run" : "runs"})
        </Button>
      )}
      {failure?.item === item && <Note kind="bad">{failure.message}</Note>}
    </div>
  );
}
