// The view "Papers": the papers that are reproduced, and one of them.
import type { ViewProps } from "../../app/views";
import { href } from "../../lib/address";
import { useAnswer } from "../../lib/useAnswer";
import { Failed, Loading } from "../../ui";
import { type Head, inWords } from "./model";
import { Paper } from "./Paper";

export default function Papers({ params }: ViewProps) {
  const paper = params["paper"];
  return (
    <div class="view papers">
      {paper === undefined ? (
        <List />
      ) : (
        <Paper key={`${paper} ${params["runs"] ?? ""}`} paper={paper} params={params} />
      )}
    </div>
  );
}

function List() {
  const { answer, error, retry } = useAnswer<{ papers: Head[] }>("/api/papers", {});
  return (
    <>
      <h1>Papers</h1>
      <p class="papers-lead">
        What papers on TCP over satellite printed, cell by cell beside what the simulator yields, and each of their
        claims with the verdict on record. Our numbers are run when you ask for them, and then the verdicts are decided
        again.
      </p>
      {error !== undefined && <Failed error={error} onRetry={retry} />}
      {error === undefined && answer === undefined && <Loading>Reading the papers …</Loading>}
      <div class="papers-cards">
        {answer?.papers.map((paper) => (
          <article key={paper.paper} class="panel">
            <div class="panel-body stack">
              <h2>
                <a href={href("papers", { paper: paper.paper })}>{paper.title}</a>
              </h2>
              <p class="muted">
                {paper.authors.join(", ")}, {paper.year}
              </p>
              <p class="small">{contents(paper)}</p>
              <p class="small">
                On record: <strong>{inWords(paper.on_record)}</strong>
              </p>
            </div>
          </article>
        ))}
      </div>
    </>
  );
}

function contents(paper: Head): string {
  const count = (kind: string) => paper.items.filter((item) => item.kind === kind).length;
  const printed = paper.items.filter((item) => item.has_printed).length;
  return `${count("table")} tables and ${count("figure")} figures, ${printed} of them with printed numbers; ${paper.claims} claims`;
}
