//! What the other runs of the same setting did.
//!
//! ```text
//! {runs, t: [], received: {low, high, least, most, median}, rate, cwnd, rtt, queue}
//! ```
//!
//! At each time the 10th and the 90th percentile over the runs, the extremes and the
//! median, in the units of a run; null once all have ended. What was received stays.

use super::Chosen;
use crate::Problem;
use bentpipe::outcome::SenderSample;
use bentpipe::recording::{Detail, Recording, rates};
use bentpipe::sim::Stop;
use bentpipe::units::{Duration, Time};
use bentpipe_study::stats::quantile;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Runs behind a band at most.
const RUNS: usize = 50;

/// Data packets of all of them together, at most.
const MOST_PACKETS: u64 = 20_000_000;

/// Times of a band.
const STEPS: usize = 200;

/// How far a band goes beyond the run that is shown, as a factor: slower runs must not
/// make it small.
const BEYOND: f64 = 1.3;

/// Samples of a run of a band.
const SAMPLES: u64 = 800;

/// The values of one run at the times of the band.
struct Held {
    curves: [Vec<f64>; 5],
}

/// The names of the curves of a band.
const CURVES: [&str; 5] = ["received", "rate", "cwnd", "rtt", "queue"];

/// The band over the runs of the answer; null of a single one. It ends where the slowest
/// run does, and not far after `end`.
pub(super) fn document(chosen: &Chosen, end: Time, stop: &Stop) -> Result<Value, Problem> {
    let (answer, row) = (&chosen.answer, chosen.row());
    let runs = &row.cells[chosen.size].runs;
    let room =
        usize::try_from(MOST_PACKETS / chosen.answer.packets_of_run(chosen.size)).unwrap_or(RUNS);
    let seeds = runs.iter().map(|run| run.seed);
    let seeds: Vec<u64> = seeds.take(room.min(RUNS)).collect();
    if seeds.len() < 2 {
        return Ok(Value::Null);
    }
    let record = |seed: &u64| {
        let detail = Detail {
            user: chosen.user,
            seed: Some(*seed),
            samples: SAMPLES,
            stop: stop.clone(),
            ..Detail::default()
        };
        answer.record(row, chosen.size, &detail)
    };
    // Each is reduced to the grid at once, for which the end must be known before: that
    // of the run that is shown, with room for slower ones.
    let until = slowest(chosen).unwrap_or(end);
    let most = Time::ZERO + end.since(Time::ZERO).scaled(BEYOND);
    let until = until.min(most).max(end);
    let grid: Vec<f64> = (0..=STEPS)
        .map(|i| until.as_secs() * i as f64 / STEPS as f64)
        .collect();
    let held: Vec<Held> = seeds
        .par_iter()
        .map(|seed| Ok(reduced(&record(seed)?, &grid)))
        .collect::<Result<_, bentpipe::Error>>()?;
    let mut band = json!({ "runs": held.len(), "t": grid });
    for (place, name) in CURVES.iter().enumerate() {
        band[*name] = spread(&held, place, grid.len());
    }
    Ok(band)
}

/// When the slowest user of any run of the row had everything, about.
fn slowest(chosen: &Chosen) -> Option<Time> {
    let runs = &chosen.row().cells[chosen.size].runs;
    let users = runs.iter().flat_map(|run| &run.own);
    let times = users
        .filter(|user| user.user == chosen.user)
        .map(|user| user.time_s);
    let all: Option<Vec<f64>> = times.collect();
    let longest = all?.into_iter().fold(0.0, f64::max);
    Some(Time::ZERO + Duration::from_secs_f64(longest))
}

fn reduced(recording: &Recording, grid: &[f64]) -> Held {
    let end = recording.end().as_secs();
    let samples = recording.series.sender.iter();
    let of = |value: fn(&SenderSample) -> f64| -> Vec<(f64, f64)> {
        let points = samples.clone().map(|s| (s.at.as_secs(), value(s)));
        points.filter(|(_, v)| v.is_finite()).collect()
    };
    let received = recording.series.delivered.iter();
    let received: Vec<_> = received
        .map(|(at, n)| (at.as_secs(), n.as_f64() / 1e6))
        .collect();
    let rate = rates(&recording.series, recording.rtt * 2);
    let rtt = of(|s| {
        if s.rtt.is_zero() {
            f64::NAN
        } else {
            s.rtt.as_secs()
        }
    });
    let queue = recording.queue.iter();
    let queue: Vec<_> = queue.map(|(at, n)| (at.as_secs(), *n as f64)).collect();
    Held {
        curves: [
            at(&received, grid, f64::INFINITY),
            at(&rate, grid, end),
            at(&of(|s| s.cwnd), grid, end),
            at(&rtt, grid, end),
            at(&queue, grid, end),
        ],
    }
}

/// The values of a curve at some times, each held until the next; none after `end`.
fn at(points: &[(f64, f64)], grid: &[f64], end: f64) -> Vec<f64> {
    let held = |time: &f64| {
        let place = points.partition_point(|p| p.0 <= *time);
        let value = place.checked_sub(1).map(|i| points[i].1);
        value.filter(|_| *time <= end).unwrap_or(f64::NAN)
    };
    grid.iter().map(held).collect()
}

/// Limits over the runs at each time.
fn spread(held: &[Held], place: usize, times: usize) -> Value {
    let mut limits: [Vec<Option<f64>>; 5] = Default::default();
    for i in 0..times {
        let values = held.iter().map(|run| run.curves[place][i]);
        let mut found: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        for (limit, share) in limits.iter_mut().zip([0.1, 0.9, 0.0, 1.0, 0.5]) {
            let found = quantile(&mut found, share);
            limit.push(found.map(|x| (x * 1e6).round() / 1e6));
        }
    }
    let [low, high, least, most, median] = limits;
    json!({ "low": low, "high": high, "least": least, "most": most, "median": median })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_of_what_goes_on() {
        let run = |v: f64, end: f64| Held {
            curves: std::array::from_fn(|_| at(&[(0.0, v)], &[0.0, 1.0, 2.0], end)),
        };
        let held: Vec<Held> = (0..11)
            .map(|i| run(f64::from(i), f64::from(i) / 10.0))
            .collect();
        let band = spread(&held, 0, 3);
        assert_eq!(band["low"], json!([1.0, 10.0, null]));
        assert_eq!(band["high"], json!([9.0, 10.0, null]));
        assert_eq!(band["median"][0], 5.0);
        assert_eq!(
            (&band["least"][0], &band["most"][0]),
            (&json!(0.0), &json!(10.0))
        );
    }
}
