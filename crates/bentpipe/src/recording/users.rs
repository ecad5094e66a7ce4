//! The series of the users of a comparison.

use bentpipe_outcome::{FlowSeries, Outcome, SenderSample, WindowRate};
use bentpipe_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

/// The name of the flow of a user, who are counted from zero on.
pub(super) fn name(user: u32) -> String {
    format!("user-{}", user + 1)
}

/// Whether a flow is a user's; the legs behind a proxy have a slash in their names.
#[must_use]
pub fn is_user(name: &str) -> bool {
    name.starts_with("user-") && !name.contains('/')
}

/// The series with the state of the sender: of a split connection the first leg
/// behind a proxy, which is the one that crosses the satellite.
#[must_use]
pub fn sender_of<'a>(outcome: &'a Outcome, series: &'a FlowSeries) -> &'a FlowSeries {
    let leg = format!("{}/", series.flow);
    let mut legs = outcome.series.iter();
    legs.find(|s| s.flow.starts_with(&leg)).unwrap_or(series)
}

/// Rates of delivery, Mbit/s, over windows: times in seconds at the beginning and the end
/// of each.
#[must_use]
pub fn rates(series: &FlowSeries, window: Duration) -> Vec<(f64, f64)> {
    let ends = |r: WindowRate| {
        let rate = r.bytes_per_second * 8e-6;
        [r.from_ns, r.to_ns].map(|at| (at as f64 / 1e9, rate))
    };
    series.rates(window).into_iter().flat_map(ends).collect()
}

/// What the users of a run received together, and the sum of their windows.
#[must_use]
pub fn together(outcome: &Outcome) -> FlowSeries {
    let users = outcome.series.iter().filter(|s| is_user(&s.flow));
    let users: Vec<&FlowSeries> = users.collect();
    if let [one] = users.as_slice() {
        return FlowSeries {
            sender: sender_of(outcome, one).sender.clone(),
            ..(*one).clone()
        };
    }
    // Each delivery adds what is new of its flow.
    let mut added: BTreeMap<Time, u64> = BTreeMap::new();
    for series in &users {
        let mut before = 0;
        for (at, bytes) in &series.delivered {
            *added.entry(*at).or_default() += bytes.get().saturating_sub(before);
            before = bytes.get();
        }
    }
    let mut total = 0;
    let delivered = added.into_iter().map(|(at, bytes)| {
        total += bytes;
        (at, Bytes::new(total))
    });
    // The sum of the windows, held between samples.
    let mut sender: Vec<(Time, usize, &SenderSample)> = Vec::new();
    for (i, series) in users.iter().enumerate() {
        let samples = &sender_of(outcome, series).sender;
        sender.extend(samples.iter().map(|s| (s.at, i, s)));
    }
    sender.sort_by_key(|(at, i, _)| (*at, *i));
    let mut now = vec![0.0; users.len()];
    let windows = sender.into_iter().map(|(at, i, sample)| {
        now[i] = sample.cwnd;
        SenderSample {
            at,
            cwnd: now.iter().sum(),
            ..*sample
        }
    });
    FlowSeries {
        flow: "users".to_owned(),
        delivered: delivered.collect(),
        sender: windows.collect(),
        ..FlowSeries::default()
    }
}
