// The view "Studies": the studies of the folder that was opened, and one of them.
import type { ViewProps } from "../../app/views";
import { href } from "../../lib/address";
import { useAnswer } from "../../lib/useAnswer";
import { Empty, Failed, Loading } from "../../ui";
import type { Listing, Study } from "./model";
import { OpenStudy } from "./OpenStudy";
import { StudyFile } from "./StudyFile";

export default function Studies({ params }: ViewProps) {
  const study = params["study"];
  return (
    <div class="view studies">
      <h1 class="sr">Studies</h1>
      {study === undefined ? (
        <List />
      ) : study.endsWith(".toml") && !study.startsWith("run:") ? (
        <StudyFile key={study} file={study} />
      ) : (
        <Opened key={study} study={study} params={params} />
      )}
    </div>
  );
}

/** The studies that there are. */
function List() {
  const { answer: listing, error, retry } = useAnswer<Listing>("/api/studies", {});
  if (error !== undefined) return <Nothing error={error} onRetry={retry} />;
  if (listing === undefined) return <Loading>Looking for studies …</Loading>;
  if (listing.studies.length === 0) {
    return (
      <Empty title="There are no studies in this folder">
        {listing.folder} holds neither results that <code>bentpipe study</code> wrote nor a file of a study.
      </Empty>
    );
  }
  const results = listing.studies.filter(({ kind }) => kind === "results");
  const files = listing.studies.filter(({ kind }) => kind === "file");
  return (
    <div class="studies-list">
      <p class="muted">In {listing.folder}</p>
      <Links title="Results" about="Runs to filter, group and draw." names={results.map(({ study }) => study)} />
      <Links
        title="Studies to run"
        about="Files: what each would run, and the run itself where it is short."
        names={files.map(({ study }) => study)}
      />
      {listing.is_cut && <p class="muted">There are more: open a folder further down to see them.</p>}
    </div>
  );
}

function Links({ title, about, names }: { title: string; about: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{title}</h2>
        <span class="muted small">{about}</span>
      </div>
      <ul class="studies-links">
        {names.map((name) => (
          <li key={name}>
            <a href={href("studies", { study: name })}>{name === "." ? "this folder" : name}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Without a folder there is nothing to retry. */
function Nothing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof Error && "status" in error && error.status === 404) {
    return (
      <Empty title="No results are open">
        <p>
          Run a study, then open its folder: <code>bentpipe study STUDY.toml</code> writes <code>results/</code>, and{" "}
          <code>bentpipe explore results/</code> opens it here.
        </p>
        <p>
          <a href={href("papers")}>The papers</a> need no folder.
        </p>
      </Empty>
    );
  }
  return <Failed error={error} onRetry={onRetry} />;
}

/** One study: opened once, however the question changes. */
function Opened({ study, params }: { study: string; params: ViewProps["params"] }) {
  const { answer, error, retry } = useAnswer<Study>("/api/studies/open", { study });
  if (error !== undefined) return <Failed error={error} onRetry={retry} />;
  if (answer === undefined) return <Loading>Opening {study} …</Loading>;
  return <OpenStudy study={answer} params={params} />;
}
