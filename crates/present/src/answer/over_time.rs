//! `--curves`: received bytes, rate and window against time.

use super::plot;
use crate::curves::{self, CURVES, Curve, Words};
use bentpipe::Error;
use bentpipe::compare::{Answer, Cell, Pep, Row};
use bentpipe::recording::{is_user, together};
use bentpipe_outcome::{FlowSeries, Outcome};
use bentpipe_report::plot::Chart;
use bentpipe_report::text::seconds;
use bentpipe_sim::Options;
use bentpipe_units::Duration;
use rayon::prelude::*;

/// Settings that are drawn where they were named: in panels of [`CURVES`].
const NAMED: usize = 3 * CURVES;

/// Runs behind a band at most.
const RUNS: usize = 50;

/// The run of median time of the settings that matter most, with a band of all runs. All
/// those that were `named` are drawn, as far as there is room. Runs are run again.
///
/// # Errors
/// If a run hits a bound.
pub fn chart(answer: &Answer, named: bool) -> Result<Chart, Error> {
    // The largest size.
    let size = answer.sizes.len().saturating_sub(1);
    let most = if named { NAMED } else { CURVES };
    let (rows, left_out) = chosen(answer, size, most, named);
    let path = &answer.path;
    // A sample per pixel or so, and no more than ten a round trip.
    let slowest = rows.iter().map(|row| median(&row.cells[size]));
    let span = Duration::from_secs_f64(slowest.fold(1e-3, f64::max));
    let interval = (span / 1000).max(path.rtt / 10);
    let drawn: Vec<Curve> = rows
        .iter()
        .map(|row| {
            // Bands of more than two would cover each other.
            let banded = rows.len() <= 2 || is_kept(answer, row);
            curve(answer, row, (size, interval), banded)
        })
        .collect::<Result<_, Error>>()?;
    // Where the last of the curves ends; a band may go on.
    let last = |series: &FlowSeries| series.delivered.last().map_or(0.0, |d| d.0.as_secs());
    let end = 1.02 * drawn.iter().map(|c| last(&c.series)).fold(1e-3, f64::max);
    let goes_on = drawn.iter().flat_map(|c| &c.others).any(|s| last(s) > end);
    let mut note = format!(
        "Each curve is the run of median time; its seed stands in the legend. Rates are of what \
         arrived in order, over {}: a repaired loss releases what waited behind it.",
        path.rtt * 2
    );
    if left_out > 0 {
        note += &format!(" {left_out} more settings with --transport.");
    }
    if goes_on {
        note += &format!(" The slowest runs go on after {}.", seconds(end));
    }
    let whose = if answer.users > 1 {
        ", all users together"
    } else {
        ""
    };
    let words = Words {
        title: answer.headline(),
        subtitle: format!("{}{whose}", plot::what(answer, &answer.sizes[size..])),
        note,
        band: match rows.len() {
            0..=2 => "all runs",
            _ => "all runs of the recommended setting and the default",
        }
        .to_owned(),
    };
    Ok(curves::chart(words, &drawn, path.rtt * 2, Some(end)))
}

/// The recommended setting, the default and the fastest others that ended, and how
/// many are left out. What was `named` is drawn even if it cannot be switched on.
fn chosen(answer: &Answer, size: usize, most: usize, named: bool) -> (Vec<&Row>, usize) {
    let is_kept = |row: &Row| is_kept(answer, row);
    let mut rows: Vec<&Row> = answer
        .order()
        .into_iter()
        .map(|i| &answer.rows[i])
        .collect();
    rows.retain(|row| {
        row.cells
            .get(size)
            .is_some_and(|c| c.median_run().is_some())
    });
    rows.sort_by(|a, b| mean(&a.cells[size]).total_cmp(&mean(&b.cells[size])));
    let all = rows.len();
    let mut room = most.saturating_sub(rows.iter().filter(|row| is_kept(row)).count());
    rows.retain(|row| {
        let fits = is_kept(row) || ((named || row.is_deployable()) && room > 0);
        if fits && !is_kept(row) {
            room -= 1;
        }
        fits
    });
    let left_out = all - rows.len();
    (rows, left_out)
}

/// Whether the words are about this row.
fn is_kept(answer: &Answer, row: &Row) -> bool {
    [answer.recommended(), Some(answer.baseline())]
        .into_iter()
        .flatten()
        .any(|kept| kept.pep == row.pep && kept.name == row.name)
}

fn mean(cell: &Cell) -> f64 {
    cell.time().map_or(f64::INFINITY, |t| t.mean)
}

/// The time in the middle, seconds.
fn median(cell: &Cell) -> f64 {
    cell.time().map_or(0.0, |t| t.median)
}

/// The median run of a row, and the others if they are to be `banded`.
fn curve(
    answer: &Answer,
    row: &Row,
    (size, interval): (usize, Duration),
    banded: bool,
) -> Result<Curve, Error> {
    let cell = &row.cells[size];
    let replay = |seed: u64| -> Result<Outcome, Error> {
        let options = Options {
            seed,
            series: Some(interval),
            queueing_delays: false,
            ..Options::default()
        };
        answer.replay(row, size, &options)
    };
    let seed = cell.median_run().map_or(answer.seed, |run| run.seed);
    let outcome = replay(seed)?;
    let series = together(&outcome);
    let end = series.delivered.last().map(|(at, _)| at.as_secs());
    let ended = outcome.flows.iter().filter(|f| is_user(&f.name));
    let ended = ended.clone().count() > 0 && ended.clone().all(|f| f.is_finished());
    let others = if banded && cell.runs.len() > 1 {
        let seeds = cell.runs.iter().map(|run| run.seed).take(RUNS);
        let seeds: Vec<u64> = seeds.collect();
        let runs = seeds.par_iter().map(|seed| Ok(together(&replay(*seed)?)));
        runs.collect::<Result<_, Error>>()?
    } else {
        Vec::new()
    };
    let pep = if row.pep == Pep::None {
        String::new()
    } else {
        format!(", {}", row.pep.name())
    };
    let name = match cell.runs.len() {
        0 | 1 => format!("{}{pep}", row.name),
        // The mean is what the words and the table are about.
        _ => format!(
            "{}{pep}: seed {seed}; mean time {}",
            row.name,
            seconds(mean(cell))
        ),
    };
    Ok(Curve {
        name,
        series,
        end: end.filter(|_| ended),
        others,
    })
}
