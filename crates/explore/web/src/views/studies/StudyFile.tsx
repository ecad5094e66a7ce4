// A file of a study: what it would run, and the run itself where it is short.
import { useEffect, useRef, useState } from "preact/hooks";
import { go, href } from "../../lib/address";
import { stream } from "../../lib/api";
import { shareable } from "../../lib/share";
import { shellWord } from "../../lib/shell";
import { useAnswer } from "../../lib/useAnswer";
import { Button, Copy, Failed, Loading, messageOf, Note, Progress } from "../../ui";
import { runsText } from "./model";

interface Item {
  slug: string;
  title: string;
}

interface Plan {
  name: string;
  title: string;
  description: string;
  scenario: string | null;
  axes: { name: string; points: string[] }[];
  cells: number;
  replications: number;
  runs: number;
  /** Runs that the page runs itself, at most. */
  most: number;
  tables: Item[];
  figures: Item[];
  claims: Item[];
}

interface Line {
  progress?: { done: number; total: number; share: number };
  study?: string;
}

export function StudyFile({ file }: { file: string }) {
  const { answer: plan, error, retry } = useAnswer<Plan>("/api/studies/plan", { study: file });
  const command = `bentpipe study ${shellWord(file)}`;
  useEffect(() => {
    if (plan !== undefined) shareable.value = { name: plan.name, command };
  }, [plan]);
  if (error !== undefined) return <Failed error={error} onRetry={retry} />;
  if (plan === undefined) return <Loading>Reading {file} …</Loading>;
  return (
    <div class="stack studies-list">
      <p>
        <a href={href("studies")}>All studies</a>
      </p>
      <h2>{plan.title === "" ? plan.name : plan.title}</h2>
      {plan.description !== "" && <p>{plan.description}</p>}
      <p>
        {plan.runs === 0
          ? "It has no runs of its own: it looks at the results of others."
          : `${runsText(plan.runs)}: ${plan.cells.toLocaleString("en")} cells with ${plan.replications} each, of ${plan.scenario ?? ""}.`}
      </p>
      {plan.runs > 0 && plan.runs <= plan.most && <RunIt file={file} runs={plan.runs} />}
      {plan.runs > plan.most && (
        <p class="muted">
          The page runs {plan.most.toLocaleString("en")} at most: run it with the command, and open its folder of
          results.
        </p>
      )}
      <div class="row">
        <code class="studies-code">{command}</code>
        <Copy text={command} what="the command" />
      </div>
      <section class="panel">
        <div class="panel-head">
          <h3>Axes</h3>
        </div>
        <dl class="studies-axes">
          {plan.axes.map(({ name, points }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{points.join(", ")}</dd>
            </div>
          ))}
        </dl>
      </section>
      <Items title="Tables" items={plan.tables} />
      <Items title="Figures" items={plan.figures} />
      <Items title="Claims" items={plan.claims} />
    </div>
  );
}

function Items({ title, items }: { title: string; items: Item[] }) {
  if (items.length === 0) return null;
  return (
    <section class="panel">
      <div class="panel-head">
        <h3>{title}</h3>
      </div>
      <ul class="studies-links">
        {items.map(({ slug, title: words }) => (
          <li key={slug}>
            <strong>{slug}</strong> {words}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Runs the study, and opens its runs; leaving the page stops it. */
function RunIt({ file, runs }: { file: string; runs: number }) {
  const [share, setShare] = useState<number>();
  const [words, setWords] = useState("");
  const [error, setError] = useState<unknown>();
  const ends = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => ends.current?.abort(), []);
  const start = () => {
    const own = new AbortController();
    ends.current = own;
    setShare(0);
    setWords("preparing");
    setError(undefined);
    const each = (line: Line) => {
      if (line.progress !== undefined) {
        setShare(line.progress.share);
        setWords(`${line.progress.done.toLocaleString("en")} of ${runsText(line.progress.total)}`);
      }
      if (line.study !== undefined) go("studies", { study: line.study });
    };
    stream<Line>("/api/studies/run", { study: file }, each, own.signal)
      .catch((failure: unknown) => !own.signal.aborted && setError(failure))
      .finally(() => setShare(undefined));
  };
  return (
    <div aria-live="polite">
      {share === undefined ? (
        <Button kind="primary" icon="play" onClick={start}>
          Run it here ({runsText(runs)})
        </Button>
      ) : (
        <>
          <Progress done={share} label="Runs of the study" />
          <div class="row">
            <span class="busy">{words}</span>
            <Button size="small" onClick={() => ends.current?.abort()}>
              Stop
            </Button>
          </div>
        </>
      )}
      {error !== undefined && <Note kind="bad">{messageOf(error)}</Note>}
    </div>
  );
}
