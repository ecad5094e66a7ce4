//! `--plot`: window, rate and received bytes against time, a curve per
//! transport.

use crate::curves::{self, Curve};
use crate::exit::Failure;
use bentpipe::compare::{Answer, Row};
use bentpipe_sim::Options;
use bentpipe_units::Duration;
use rayon::prelude::*;

/// More curves than this in a panel cannot be told apart.
const CURVES: usize = 8;

/// Draws the first run of the fastest transports, the recommended and the
/// default one among them, into `file`.
pub(super) fn draw(answer: &Answer, file: &std::path::Path) -> Result<(), Failure> {
    let path = &answer.path;
    let seed = answer.seed;
    // The largest size.
    let size = answer.sizes.len() - 1;
    let end = cut(answer);
    // A sample per pixel or so, and no more than ten a round trip.
    let span = Duration::from_secs_f64(end.unwrap_or_else(|| longest(answer)));
    let interval = (span / 1000).max(path.rtt / 10);
    let options = Options {
        seed,
        series: Some(interval),
        queueing_delays: false,
        ..Options::default()
    };
    let order: Vec<&Row> = answer
        .order()
        .into_iter()
        .map(|i| &answer.rows[i])
        .collect();
    let (all, order) = (order.len(), chosen(answer, order));
    let drawn: Vec<Curve> = order
        .par_iter()
        .map(|row| {
            let outcome = answer.replay(row, size, &options)?;
            let series = outcome.series.into_iter().next().unwrap_or_default();
            Ok(Curve {
                name: row.name.clone(),
                series,
            })
        })
        .collect::<Result<_, Failure>>()?;
    let title = format!(
        "{} over {}, RTT {}, loss {}",
        answer.sizes[size], path.rate, path.rtt, path.loss
    );
    // Readable for those that matter: the slowest would press them together,
    // and what a repaired hole lets through at once would dwarf the rest.
    let mut note = format!("seed {seed}");
    if order.len() < all {
        note += &format!("; {} of {all}, the others with --transport", order.len());
    }
    if let Some(end) = end {
        note += &format!("; the slowest transfers go on after {end:.0} s");
    }
    let ends = curves::Ends {
        time: end,
        rate: Some(1.5e-6 * path.rate.bps_f64()),
    };
    curves::draw(&title, &note, &drawn, path.rtt * 2, ends, file)
}

/// The fastest of `order`, at most [`CURVES`], with the recommended and the
/// default transport among them.
fn chosen<'a>(answer: &'a Answer, mut order: Vec<&'a Row>) -> Vec<&'a Row> {
    let kept = [answer.recommended(), Some(answer.baseline())];
    let kept: Vec<&Row> = kept.into_iter().flatten().collect();
    let mut others = CURVES - kept.len();
    order.retain(|row| {
        if kept
            .iter()
            .any(|kept| kept.name == row.name && kept.pep == row.pep)
        {
            return true;
        }
        let fits = others > 0;
        others = others.saturating_sub(1);
        fits
    });
    order
}

/// Where the time axis ends, if it ends before the slowest transfer.
fn cut(answer: &Answer) -> Option<f64> {
    let mean = |row: &Row| Some(row.cells.last()?.time()?.mean);
    let pick = mean(answer.recommended()?)?;
    let default = mean(answer.baseline()).unwrap_or(pick);
    let end = (2.0 * pick).max(1.3 * default).ceil();
    (longest(answer) > end).then_some(end)
}

/// The time of the slowest transfer, seconds.
fn longest(answer: &Answer) -> f64 {
    let cells = answer.rows.iter().filter_map(|row| row.cells.last());
    let times = cells.filter_map(|cell| cell.time().map(|t| t.max));
    times.fold(1e-3, f64::max)
}
