//! What a run did: tables, JSON, curves over time.

mod both;
mod links;
mod shares;
mod spread;
mod tables;

pub use both::print as print_both;
pub use links::{Carried, print as print_links};
pub use shares::{Bottleneck, WithShares};
pub use spread::table as spread;
pub use tables::{print, title};

use crate::curves::{self, Curve, Words};
use crate::output::{Output, Printed};
use bentpipe_outcome::{NoCheckpoint, Outcome};
use bentpipe_report::plot::Chart;
use bentpipe_scenario::Scenario;
use bentpipe_sim::ideal;
use bentpipe_units::{Duration, Time};
use std::io;

/// Samples of a flow's time series at most.
const SAMPLES: u64 = 50_000;

/// An outcome with the links that its flows share, as they were from `from` to `to`;
/// [`Time::MAX`] is the end of the run.
///
/// # Errors
/// If the run has no checkpoint at one of them.
pub fn whole<'o>(
    outcome: &'o Outcome,
    scenario: &Scenario,
    (from, to): (Time, Time),
) -> Result<WithShares<'o>, NoCheckpoint> {
    let interval = outcome.interval(from, to)?;
    Ok(WithShares {
        outcome,
        bottlenecks: shares::bottlenecks(outcome, scenario, &interval),
    })
}

/// As [`whole`], of the whole run.
fn of_all<'o>(outcome: &'o Outcome, scenario: &Scenario) -> io::Result<WithShares<'o>> {
    whole(outcome, scenario, (Time::ZERO, Time::MAX)).map_err(io::Error::other)
}

/// What `bentpipe run` prints, in lines of `width` characters.
///
/// # Errors
/// If it cannot be printed.
pub fn text(outcome: &Outcome, scenario: &Scenario, width: usize) -> io::Result<String> {
    let whole = of_all(outcome, scenario)?;
    Output::text_of(width, |out| print(&whole, None, scenario, out))
}

/// What `bentpipe run` prints, its tables as such with at most `rows` rows each.
///
/// # Errors
/// If it cannot be printed.
pub fn tables(outcome: &Outcome, scenario: &Scenario, rows: usize) -> io::Result<Printed> {
    let whole = of_all(outcome, scenario)?;
    Output::tables_of(rows, |out| print(&whole, None, scenario, out))
}

/// What `bentpipe run --json` prints, in one line.
///
/// # Errors
/// If it cannot be printed.
pub fn json(outcome: &Outcome, scenario: &Scenario) -> io::Result<String> {
    Ok(serde_json::to_string(&of_all(outcome, scenario)?)?)
}

/// The series of outcomes of a scenario as a figure, each with what its curves are
/// called beside the flow; `None` without outcomes.
pub fn chart(scenario: &Scenario, outcomes: &[(&str, &Outcome)]) -> Option<Chart> {
    let (_, first) = outcomes.first()?;
    let all = outcomes
        .iter()
        .flat_map(|(of, outcome)| outcome.series.iter().map(move |series| (of, series)));
    let ends = |of: &str, flow: &str| {
        let (_, outcome) = outcomes.iter().find(|(name, _)| *name == of)?;
        let flow = outcome.flows.iter().find(|f| f.name == flow)?;
        let end = flow.last_delivery_at.filter(|_| flow.is_finished());
        end.map(|at| at.as_secs())
    };
    let curves: Vec<Curve> = all
        .map(|(of, series)| Curve {
            name: format!("{}{of}", series.flow),
            end: ends(of, &series.flow),
            series: series.clone(),
            others: Vec::new(),
        })
        .collect();
    // Rates are means over about a round trip of the longest path.
    let round_trip = round_trips(scenario)
        .max()
        .unwrap_or(Duration::from_millis(100));
    let words = Words {
        title: first.scenario.clone(),
        subtitle: String::new(),
        note: format!(
            "Rates: received in order, means over {round_trip}. Seed {}.",
            first.seed
        ),
        band: String::new(),
    };
    Some(curves::chart(words, &curves, round_trip, None))
}

fn round_trips(scenario: &Scenario) -> impl Iterator<Item = Duration> {
    scenario
        .flows
        .iter()
        .map(|flow| ideal::round_trip(scenario, flow))
}

/// Interval of the time series: fifty samples a round trip, where that is not
/// too many.
pub fn series_interval(scenario: &Scenario) -> Duration {
    let shortest = round_trips(scenario).min().unwrap_or(Duration::ZERO);
    (shortest / 50).max(scenario.duration / SAMPLES)
}
