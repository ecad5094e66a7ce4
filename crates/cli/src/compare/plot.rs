//! `--plot`: window, rate and received bytes against time, a curve per
//! transport.

use crate::curves::{self, Curve};
use crate::exit::Failure;
use bentpipe::compare::{Candidate, Ranking};
use bentpipe_sim::Options;
use bentpipe_units::Duration;
use rayon::prelude::*;

/// More curves than this in a panel cannot be told apart.
const CURVES: usize = 8;

/// Draws the first run of the fastest transports, the recommended and the
/// default one among them, into `file`.
pub(super) fn draw(comparison: &Ranking, file: &std::path::Path) -> Result<(), Failure> {
    let path = &comparison.path;
    let seed = comparison.seeds.first().copied().unwrap_or(1);
    let end = cut(comparison);
    // A sample per pixel or so, and no more than ten a round trip.
    let span = Duration::from_secs_f64(end.unwrap_or_else(|| longest(comparison)));
    let interval = (span / 1000).max(path.rtt / 10);
    let options = Options {
        seed,
        series: Some(interval),
        queueing_delays: false,
        ..Options::default()
    };
    let order: Vec<&Candidate> = comparison
        .results
        .iter()
        .filter_map(|m| comparison.candidate(&m.name))
        .collect();
    let (all, order) = (order.len(), chosen(comparison, order));
    let drawn: Vec<Curve> = order
        .par_iter()
        .map(|candidate| {
            let outcome = comparison.replay(candidate, &options)?;
            let series = outcome.series.into_iter().next().unwrap_or_default();
            Ok(Curve {
                name: candidate.name.clone(),
                series,
            })
        })
        .collect::<Result<_, Failure>>()?;
    let title = format!(
        "{} over {}, RTT {}, loss {}",
        path.size, path.rate, path.rtt, path.loss
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
fn chosen<'a>(comparison: &Ranking, mut order: Vec<&'a Candidate>) -> Vec<&'a Candidate> {
    let Some(advice) = &comparison.recommendation else {
        order.truncate(CURVES);
        return order;
    };
    let kept = [Some(advice.pick), advice.default].into_iter().flatten();
    let kept: Vec<&str> = kept.map(|i| comparison.results[i].name.as_str()).collect();
    let mut others = CURVES - kept.len();
    order.retain(|c| {
        if kept.contains(&c.name.as_str()) {
            return true;
        }
        let fits = others > 0;
        others = others.saturating_sub(1);
        fits
    });
    order
}

/// Where the time axis ends, if it ends before the slowest transfer.
fn cut(comparison: &Ranking) -> Option<f64> {
    let advice = comparison.recommendation.as_ref()?;
    let mean = |i: usize| comparison.results[i].times.map(|t| t.mean);
    let pick = mean(advice.pick)?;
    let default = advice.default.and_then(mean).unwrap_or(pick);
    let end = (2.0 * pick).max(1.3 * default).ceil();
    (longest(comparison) > end).then_some(end)
}

/// The time of the slowest transfer, seconds.
fn longest(comparison: &Ranking) -> f64 {
    let times = comparison
        .results
        .iter()
        .filter_map(|m| m.times.map(|t| t.max));
    times.fold(comparison.ideal.as_secs(), f64::max)
}
