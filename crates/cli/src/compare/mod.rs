//! `bentpipe compare`: which transport for this link?

mod advice;
mod entries;
mod gateway;
mod json;
mod lineup;
mod measure;
mod orbit;
mod plot;
mod print;
pub(crate) mod setup;
mod words;

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::{Output, picture_kind};
use crate::progress::pool;
use advice::{Advice, Risk};
use lineup::{Candidate, DEFAULT};
use measure::{Measured, Sharing};
use setup::Path;

/// Runs of a lossy link unless the user says otherwise.
const RUNS: u32 = 50;

/// Runs of two downloads side by side, at most.
const SHARING_RUNS: usize = 20;

/// All that a comparison found.
struct Comparison {
    path: Path,
    seeds: Vec<u64>,
    /// The bound, seconds.
    ideal: f64,
    /// The fastest first.
    results: Vec<Measured>,
    advice: Option<Advice>,
    /// A download of the default beside the pick.
    sharing: Option<Sharing>,
    /// What speaks against the pick.
    risks: Vec<Risk>,
}

/// Compares and prints.
pub(crate) fn main(args: &args::Compare, out: &mut Output) -> Result<Status, Failure> {
    let path = Path::new(args)?;
    if let Some(file) = &args.plot {
        picture_kind(file)?;
    }
    let candidates = candidates(args, &path)?;
    let comparison = pool(args.threads.threads)?.install(|| compare(args, path, &candidates))?;
    if args.json {
        out.json(&json::document(&comparison, &candidates))?;
    } else {
        print::all(&comparison, &candidates, out)?;
    }
    if let Some(file) = &args.plot {
        plot::draw(&comparison, &candidates, file)?;
        crate::exit::talk(format_args!("drew {}", file.display()));
    }
    Ok(Status::Done)
}

/// Those that the user named, and always the default to compare with.
fn candidates(args: &args::Compare, path: &Path) -> Result<Vec<Candidate>, Failure> {
    if args.transport.is_empty() {
        return Ok(lineup::selection(path));
    }
    let mut chosen = lineup::named(&args.transport, path)?;
    if !chosen.iter().any(|c| c.name == DEFAULT) {
        chosen.extend(entries::all(path).into_iter().filter(|c| c.name == DEFAULT));
    }
    Ok(chosen)
}

fn compare(
    args: &args::Compare,
    path: Path,
    candidates: &[Candidate],
) -> Result<Comparison, Failure> {
    let runs = args
        .runs
        .unwrap_or(if path.loss.get() > 0.0 { RUNS } else { 1 });
    let seeds: Vec<u64> = (0..u64::from(runs))
        .map(|i| args.seed.wrapping_add(i))
        .collect();
    let ideal = {
        let transport = entries::ideal();
        let scenario = path.scenario(&[&transport]);
        let time = bentpipe_sim::ideal::transfer_time(&scenario, &scenario.flows[0], path.size, 1);
        time.as_secs()
    };
    let mut results = measure::downloads(&path, candidates, &seeds, ideal)?;
    results.sort_by(advice::by_time);
    let advice = advice::advise(&results, DEFAULT, path.loss.get());
    let mut sharing = None;
    let mut risks = Vec::new();
    if let Some(advice) = &advice {
        let pick = &results[advice.pick];
        let default = advice
            .default
            .filter(|d| *d != advice.pick)
            .map(|d| &results[d]);
        let transport = candidates.iter().find(|c| c.name == pick.name);
        if let (Some(_), Some(candidate)) = (default, transport) {
            let seeds = &seeds[..seeds.len().min(SHARING_RUNS)];
            let usual = entries::default_transport();
            sharing = measure::sharing(&path, &usual, &candidate.transport, seeds)?;
        }
        risks = advice::risks(pick, default, sharing.as_ref(), path.loss.get());
    }
    Ok(Comparison {
        path,
        seeds,
        ideal,
        results,
        advice,
        sharing,
        risks,
    })
}
