//! What a study is when it runs in real time: fewer points if they were chosen,
//! as many runs as were asked for, medians, and one bar for all cells.

use crate::exit::Failure;
use bentpipe_study::{Bar, Central, Collection, Limits, Study};

/// Runs of a cell, unless the user says how many.
const RUNS: u32 = 5;

/// How near to published numbers medians are to be.
const WITHIN: f64 = 0.06;

/// Changes studies for this machine.
pub(crate) fn adapt(studies: &mut Collection, runs: Option<u32>) -> Result<(), Failure> {
    studies.adapt(|study| {
        for_real_time(study, runs.unwrap_or(RUNS));
        Ok(())
    })
}

fn for_real_time(study: &mut Study, runs: u32) {
    study.replications = runs;
    study.precision = None;
    study.central = Central::Median;
    for table in &mut study.tables {
        // What is recorded of misses is recorded of the simulator.
        table.known.clear();
        if table.bar.as_ref().is_some_and(is_relative) {
            let worst = Some(WITHIN);
            table.bar = Some(Bar {
                limits: Limits {
                    worst,
                    ..Limits::default()
                },
                ..Bar::default()
            });
        }
    }
    for part in study.claims.iter_mut().flat_map(|claim| &mut claim.parts) {
        part.recorded = None;
    }
}

/// True for a bar on relative errors.
fn is_relative(bar: &Bar) -> bool {
    let relative = |l: &Limits| {
        let any = [l.mean, l.median, l.worst, l.spread];
        any.iter().any(Option::is_some)
    };
    relative(&bar.limits) || bar.per_column.values().any(relative)
}

/// Keeps the points of axes that the user has chosen, `AXIS=POINT,POINT`, in
/// every study that has them.
pub(crate) fn keep(studies: &mut Collection, only: &[String]) -> Result<(), Failure> {
    for chosen in only {
        let Some((axis, points)) = chosen.split_once('=') else {
            return Err(Failure::new(format!(
                "--only `{chosen}` is no AXIS=POINT, such as transport=iw2,mtsi"
            )));
        };
        let points: Vec<&str> = points.split(',').map(str::trim).collect();
        let kept = studies.keep(axis.trim(), &points);
        kept.map_err(|why| Failure::new(format!("--only {chosen}: {why}")))?;
    }
    Ok(())
}
