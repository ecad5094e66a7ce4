// One paper: its tables and figures beside ours, and its claims. What is printed is there
// at once; ours is run on demand, and kept while the server runs.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { change, href, type Params } from "../../lib/address";
import { ask, stream } from "../../lib/api";
import { shareable } from "../../lib/share";
import { useAnswer } from "../../lib/useAnswer";
import { announce, Failed, Loading, messageOf, Segmented, Select, Tabs } from "../../ui";
import { Claims } from "./Claims";
import { Figure } from "./Figure";
import { merged, type Page, type ProgressLine } from "./model";
import type { Runner, Work } from "./RunBar";
import { tableCsv, TableItem, type Shown } from "./TableItem";

type Tab = "items" | "claims";

export function Paper({ paper, params }: { paper: string; params: Params }) {
  const runs = Number.parseInt(params["runs"] ?? "", 10) || null;
  const { answer: page, error, retry, setAnswer: setPage } = useAnswer<Page>("/api/papers/open", { paper, runs });
  const runner = useRunner(
    paper,
    runs,
    (made) => setPage((now) => (now === undefined ? now : merged(now, made))),
    setPage,
  );
  const slug = params["item"] ?? page?.tables[0]?.table.slug ?? page?.figures[0]?.slug ?? "";
  const tab: Tab = params["tab"] === "claims" ? "claims" : "items";
  const shown: Shown = params["show"] === "printed" || params["show"] === "ours" ? params["show"] : "both";
  useEffect(() => {
    if (page === undefined) return;
    const table = page.tables.find((one) => one.table.slug === slug);
    const figure = page.figures.find((one) => one.slug === slug);
    const svg = figure?.svg;
    shareable.value = {
      name: `${paper}-${slug}`,
      command: tab === "items" ? `bentpipe reproduce ${paper} ${slug}` : `bentpipe reproduce ${paper}`,
      python: `import bentpipe\n\nresults = bentpipe.reproduce("${paper}", "${slug}")\nprint(results)\n`,
      ...(tab === "items" && table !== undefined ? { csv: async () => tableCsv(table) } : {}),
      ...(tab === "items" && svg !== undefined && svg !== null ? { svg: async () => svg } : {}),
    };
  }, [page, slug, paper, tab]);
  if (error !== undefined) return <Failed error={error} onRetry={retry} />;
  if (page === undefined) return <Loading>Opening {paper} …</Loading>;
  const { head } = page;
  const table = page.tables.find((one) => one.table.slug === slug);
  const figure = page.figures.find((one) => one.slug === slug);
  return (
    <>
      <header class="papers-head">
        <p>
          <a href={href("papers")}>All papers</a>
        </p>
        <h1>{head.title}</h1>
        <p class="muted">{head.citation}</p>
        <Highlights page={page} />
      </header>
      <Tabs
        label="Parts of the paper"
        value={tab}
        tabs={[
          { value: "items", label: "Tables and figures" },
          { value: "claims", label: `Claims (${page.head.claims})` },
        ]}
        onValue={(value) => change({ tab: value === "items" ? "" : value }, false)}
      >
        <div class="papers-controls">
          {tab === "items" && (
            <>
              <Select
                label="Table or figure"
                value={slug}
                options={options(page)}
                onValue={(item) => change({ item }, false)}
              />
              {table?.has_printed === true && (
                <Segmented<Shown>
                  label="Show"
                  value={shown}
                  options={[
                    { value: "printed", label: "Printed" },
                    { value: "ours", label: "Ours" },
                    { value: "both", label: "Difference" },
                  ]}
                  onValue={(value) => change({ show: value === "both" ? "" : value })}
                />
              )}
            </>
          )}
          <Select
            label="Runs per cell"
            help="Studies run each cell as often as their intervals require. With fewer runs, results come sooner but are less certain, and verdicts may differ from those on record."
            value={runs === null ? "" : String(runs)}
            options={[
              { value: "", label: "As the study requires" },
              { value: "5", label: "At most 5" },
              { value: "1", label: "1" },
            ]}
            onValue={(value) => change({ runs: value })}
          />
        </div>
        {tab === "items" && table !== undefined && (
          <TableItem key={slug} item={table} shown={shown} shades={page.shades} params={params} runner={runner} />
        )}
        {tab === "items" && figure !== undefined && <Figure key={slug} figure={figure} runner={runner} />}
        {tab === "items" && table === undefined && figure === undefined && (
          <p class="note">The paper has no item “{slug}”.</p>
        )}
        {tab === "claims" && <Claims claims={page.claims} params={params} runner={runner} />}
      </Tabs>
    </>
  );
}

function options(page: Page) {
  const tables = page.tables.map(({ table }) => ({ value: table.slug, label: `${table.slug}: ${table.title}` }));
  return [...tables, ...page.figures.map(({ slug, title }) => ({ value: slug, label: `${slug}: ${title}` }))];
}

/** What was reproduced best and worst, once its numbers are there. */
function Highlights({ page }: { page: Page }) {
  const filled = page.highlights.filter(({ result }) => result !== null);
  if (filled.length === 0) return null;
  return (
    <ul class="papers-highlights">
      {filled.map(({ what, result }) => (
        <li key={what}>
          {what}: <strong>{result}</strong>
        </li>
      ))}
    </ul>
  );
}

/** Runs one thing at a time; leaving the page stops it. */
function useRunner(
  paper: string,
  runs: number | null,
  onMade: (made: NonNullable<ProgressLine["made"]>) => void,
  setPage: (page: Page) => void,
): Runner {
  const [work, setWork] = useState<Work>();
  const [failure, setFailure] = useState<Runner["failure"]>();
  const ends = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => ends.current?.abort(), []);
  const run = useCallback(
    (item: string) => {
      ends.current?.abort();
      const own = new AbortController();
      ends.current = own;
      setFailure(undefined);
      setWork({ item, share: 0, words: "preparing" });
      const each = (line: ProgressLine) => {
        if (line.progress !== undefined) {
          const { study, done, total, share } = line.progress;
          setWork({
            item,
            share,
            words: `${study}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} runs`,
          });
        }
        if (line.made !== undefined) onMade(line.made);
      };
      const question = item === "" ? { paper, runs } : { paper, item, runs };
      stream<ProgressLine>("/api/papers/run", question, each, own.signal)
        // Other items may have come to their numbers with it.
        .then(async () => {
          setPage(await ask<Page>("/api/papers/open", { paper, runs }, own.signal));
          announce(item === "" ? "All numbers of the paper are there." : `The numbers of ${item} are there.`);
        })
        .catch((error: unknown) => !own.signal.aborted && setFailure({ item, message: messageOf(error) }))
        .finally(() => ends.current === own && setWork(undefined));
    },
    [paper, runs],
  );
  const stop = () => {
    ends.current?.abort();
    setWork(undefined);
  };
  return { work, failure, run, stop };
}
