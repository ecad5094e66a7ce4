// The claims of a paper: the verdict, that on record, what shows it, why, and the verdict
// under each reading of what the paper leaves open.
import { change, type Params } from "../../lib/address";
import { Segmented } from "../../ui";
import { inWords, type PaperClaim, type Verdict } from "./model";
import { RunBar, type Runner } from "./RunBar";

const TONES: Record<Verdict, string> = {
  holds: "tag-good",
  mostly: "tag-warn",
  hardly: "tag-warn",
  fails: "tag-bad",
  open: "",
};

export function Claims({ claims, params, runner }: { claims: PaperClaim[]; params: Params; runner: Runner }) {
  const own = claims.filter(({ is_of_paper }) => is_of_paper);
  const added = claims.filter(({ is_of_paper }) => !is_of_paper);
  const missing = claims.filter(({ need }) => !need.is_there);
  const all = {
    runs: 0,
    missing: Math.max(0, ...missing.map(({ need }) => need.missing)),
    is_there: missing.length === 0,
    is_fewer: false,
  };
  return (
    <div class="stack">
      <p role="status">{tally(own)}</p>
      {missing.length > 0 && (
        <p class="muted small">
          {missing.length} {missing.length === 1 ? "claim has" : "claims have"} no runs yet and show the verdict on
          record: run one by one to decide it again, or the whole paper, which takes minutes.
        </p>
      )}
      {!all.is_there && <RunAll runner={runner} />}
      {own.map((claim) => (
        <Claim key={claim.claim.id} claim={claim} params={params} runner={runner} />
      ))}
      {added.length > 0 && (
        <>
          <h2>Claims of this reproduction</h2>
          <p class="muted">
            They say why a setting was chosen, or hold a claim of the paper under another reading, and do not count in
            its totals.
          </p>
          {added.map((claim) => (
            <Claim key={claim.claim.id} claim={claim} params={params} runner={runner} />
          ))}
        </>
      )}
    </div>
  );
}

function RunAll({ runner }: { runner: Runner }) {
  const { work, failure } = runner;
  if (work?.item === "" || failure?.item === "") {
    return (
      <RunBar
        item=""
        need={{ runs: 0, missing: 0, is_there: false, is_fewer: false }}
        runner={runner}
        what="the paper"
      />
    );
  }
  return (
    <p>
      <button type="button" class="button" onClick={() => runner.run("")}>
        Run the whole paper
      </button>
    </p>
  );
}

/** `5 claims of the paper: 1 holds; 4 not run here, on record: 3 hold, 1 fails`. */
function tally(claims: readonly PaperClaim[]): string {
  const counted = (of: readonly PaperClaim[], verdictOf: (claim: PaperClaim) => Verdict | null) =>
    inWords(
      (Object.keys(TONES) as Verdict[]).map((verdict) => ({
        verdict,
        count: of.filter((claim) => verdictOf(claim) === verdict).length,
      })),
    );
  const run = claims.filter(({ need }) => need.is_there);
  const left = claims.filter(({ need }) => !need.is_there);
  const parts = [
    counted(run, ({ claim }) => claim.verdict),
    left.length === 0 ? "" : `${left.length} not run here, on record: ${counted(left, ({ claim }) => claim.recorded)}`,
  ];
  return `${claims.length} claims of the paper: ${parts.filter((part) => part !== "").join("; ")}`;
}

function Claim({ claim: { claim, need }, params, runner }: { claim: PaperClaim; params: Params; runner: Runner }) {
  const key = `r.${claim.id}`;
  const chosen = claim.readings.find(({ reading }) => reading === params[key]) ?? claim.readings[0];
  const isMain = chosen === undefined || chosen === claim.readings[0];
  const verdict = isMain ? claim.verdict : chosen.verdict;
  const isThere = need.is_there;
  return (
    <article class="panel papers-claim" aria-label={`Claim ${claim.id}`}>
      <div class="panel-body stack">
        <p>
          {isThere ? (
            <Tag verdict={verdict} />
          ) : (
            <span class={`tag ${claim.recorded === null ? "" : TONES[claim.recorded]}`} title="Not run here yet">
              {claim.recorded === null ? "not run yet" : `${claim.recorded}, on record`}
            </span>
          )}{" "}
          <strong>{claim.id}</strong> {claim.claim}
        </p>
        <p class="small muted">
          {claim.basis !== "" && `Rests on: ${claim.basis}. `}
          {claim.recorded === null ? "No verdict is on record." : `On record: ${claim.recorded}.`}
          {isThere && claim.regression && (
            <strong class="papers-changed"> The verdict is not the one on record.</strong>
          )}
        </p>
        <RunBar item={claim.id} need={need} runner={runner} what="what decides it" />
        {isThere && claim.readings.length > 1 && (
          <Segmented
            label="Reading"
            help="The paper leaves this open: the claim is judged under each reading, and the first is the main one."
            value={chosen?.reading ?? ""}
            options={claim.readings.map(({ reading, verdict: own }) => ({
              value: reading,
              label: `${reading}: ${own}`,
            }))}
            onValue={(reading) => change({ [key]: reading === claim.readings[0]?.reading ? "" : reading })}
          />
        )}
        {isThere && claim.parts.length > 0 && (
          <ul class="papers-parts">
            {claim.parts.map((part, i) => (
              <li key={part.claim}>
                <Tag verdict={isMain ? part.verdict : (chosen.parts[i] ?? "open")} /> {part.claim}
                {isMain && part.evidence !== "" && <span class="muted small"> Shown by: {part.evidence}</span>}
              </li>
            ))}
          </ul>
        )}
        {isThere && isMain && claim.evidence !== "" && <p class="small">Shown by: {claim.evidence}</p>}
        {isThere && claim.reason !== "" && <p class="small">{claim.reason}</p>}
      </div>
    </article>
  );
}

function Tag({ verdict }: { verdict: Verdict }) {
  return <span class={`tag ${TONES[verdict]}`}>{verdict}</span>;
}
