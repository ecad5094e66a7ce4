//! Metrics of time series. Times count from the start of the run.

use crate::record::StoredSeries;

/// Values of a metric's parameters, in base units.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a>(pub(super) &'a [f64]);

impl Values<'_> {
    pub(super) fn get(self, index: usize) -> f64 {
        self.0.get(index).copied().unwrap_or(0.0)
    }

    /// Seconds as nanoseconds; negative is the start, endless the end.
    pub(super) fn nanos(self, index: usize) -> u64 {
        (self.get(index) * 1e9 + 0.5) as u64
    }
}

/// A cumulative count of bytes at a time.
pub(super) fn count_at(steps: &[(u64, u64)], at: u64) -> u64 {
    steps[..steps.partition_point(|s| s.0 <= at)]
        .last()
        .map_or(0, |s| s.1)
}

pub(super) fn rate(steps: &[(u64, u64)], from: u64, to: u64) -> Option<f64> {
    let span = to.checked_sub(from).filter(|d| *d > 0)?;
    let bytes = count_at(steps, to).saturating_sub(count_at(steps, from));
    Some(bytes as f64 * 8e9 / span as f64)
}

/// The largest rate over a window that ends with a step, and begins with one: so
/// it is `window` long or somewhat longer, and the bytes are those of all of it.
pub(super) fn peak(steps: &[(u64, u64)], window: u64, from: u64, to: u64) -> Option<f64> {
    let ends = steps
        .iter()
        .map(|s| s.0)
        .filter(|t| *t >= from.saturating_add(window) && *t <= to);
    let first = from.saturating_add(window).min(to);
    let at_or_before = |at: u64| {
        let known = steps[..steps.partition_point(|s| s.0 <= at)].last();
        known.map_or(at, |s| s.0)
    };
    std::iter::once(first)
        .chain(ends)
        .filter_map(|end| {
            let start = at_or_before(end.saturating_sub(window));
            rate(steps, start, end)
        })
        .reduce(f64::max)
}

pub(super) fn rtt_at(s: &StoredSeries, at: u64) -> Option<f64> {
    let rtt = s.sender_at(at)?.rtt_ns;
    (rtt > 0).then(|| rtt as f64 / 1e9)
}

pub(super) fn time_to_receive(s: &StoredSeries, size: f64) -> Option<f64> {
    let step = s.delivered.iter().find(|step| step.1 as f64 >= size)?;
    Some(step.0 as f64 / 1e9)
}

pub(super) fn time_to_rate(s: &StoredSeries, wanted: f64, window: u64, after: u64) -> Option<f64> {
    // Payload arrives in steps, so the first window that has enough ends with
    // one.
    let first = s.delivered.partition_point(|step| step.0 < after);
    let mut ends = s.delivered[first..].iter().map(|step| step.0);
    let end = ends.find(|end| {
        let start = end.checked_sub(window).filter(|start| *start >= after);
        start.is_some_and(|start| rate(&s.delivered, start, *end).is_some_and(|r| r >= wanted))
    })?;
    Some(end as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Source;
    use crate::record::StoredSample;

    const SECOND: u64 = 1_000_000_000;

    /// A metric of a series with its parameters.
    fn metric(name: &str, s: &StoredSeries, parameters: &[f64]) -> Option<f64> {
        match crate::metric::metric(name).unwrap().source {
            Source::Series(get) => get(s, Values(parameters)),
            _ => None,
        }
    }

    fn series() -> StoredSeries {
        StoredSeries {
            flow: "a".into(),
            sender: vec![StoredSample {
                at_ns: SECOND,
                cwnd: 4.0,
                ..StoredSample::default()
            }],
            delivered: vec![(SECOND, 1000), (2 * SECOND, 3000), (4 * SECOND, 4000)],
            sent: vec![(0, 1000), (SECOND, 4000)],
            ..StoredSeries::default()
        }
    }

    #[test]
    fn rates_are_differences_of_steps() {
        let s = series();
        assert_eq!(metric("received_rate", &s, &[1.0, 3.0]), Some(8000.0));
        assert_eq!(metric("received_rate", &s, &[3.0, 1.0]), None);
        assert_eq!(
            metric("peak_received_rate", &s, &[1.0, 0.0, f64::INFINITY]),
            Some(16_000.0)
        );
        assert_eq!(
            metric("peak_received_rate", &s, &[1.0, 2.5, f64::INFINITY]),
            Some(4_000.0),
            "what arrived between the samples at 2 and 4 s, over 2 s"
        );
        assert_eq!(metric("sent_by", &s, &[0.5]), Some(1000.0));
    }

    #[test]
    fn states_are_those_before() {
        let s = series();
        assert_eq!(metric("cwnd_at", &s, &[0.5]), None);
        assert_eq!(metric("cwnd_at", &s, &[9.0]), Some(4.0));
        assert_eq!(metric("rtt_at", &s, &[9.0]), None);
        assert_eq!(metric("time_to_receive", &s, &[2500.0]), Some(2.0));
        assert_eq!(metric("time_to_receive", &s, &[1e9]), None);
        assert_eq!(metric("time_to_rate", &s, &[16_000.0, 1.0, 0.0]), Some(2.0));
    }

    /// Full rate from 3 s on, a spike from 10 s to 12 s, and full rate again
    /// from 15 s on, with 1 kB a second for 8 kbit/s.
    #[test]
    fn time_to_recover() {
        let per_second = |s: u64| match s {
            1..=3 => 300,
            11..=12 => 100,
            13..=15 => 500,
            _ => 1000,
        };
        let mut total = 0;
        let delivered = (1..=30).map(|s| {
            total += per_second(s);
            (s * SECOND, total)
        });
        let s = StoredSeries {
            delivered: delivered.collect(),
            ..series()
        };
        let full = |p: [f64; 3]| metric("time_to_rate", &s, &p);
        assert_eq!(full([7_900.0, 1.0, 0.0]), Some(4.0));
        assert_eq!(full([7_900.0, 3.0, 0.0]), Some(6.0));
        // The window lies after the spike: its good start does not count.
        assert_eq!(full([7_900.0, 1.0, 10.0]), Some(16.0));
        assert_eq!(full([7_900.0, 3.0, 12.0]), Some(18.0));
        assert_eq!(full([3_900.0, 1.0, 12.0]), Some(13.0));
        assert_eq!(full([9_000.0, 1.0, 0.0]), None);
    }
}
