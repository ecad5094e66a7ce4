//! Metrics of time series. Times count from the start of the run.

use crate::record::StoredSeries;

/// A metric of one flow's series and the metric's parameters, in base units.
pub(crate) type Measure = fn(&StoredSeries, &[f64]) -> Option<f64>;

fn parameter(parameters: &[f64], index: usize) -> f64 {
    parameters.get(index).copied().unwrap_or(0.0)
}

/// Seconds as nanoseconds; negative is the start, endless the end.
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9 + 0.5) as u64
}

/// A cumulative count of bytes at a time.
fn count_at(steps: &[(u64, u64)], at: u64) -> u64 {
    steps[..steps.partition_point(|s| s.0 <= at)]
        .last()
        .map_or(0, |s| s.1)
}

fn rate(steps: &[(u64, u64)], from: u64, to: u64) -> Option<f64> {
    let span = to.checked_sub(from).filter(|d| *d > 0)?;
    let bytes = count_at(steps, to).saturating_sub(count_at(steps, from));
    Some(bytes as f64 * 8e9 / span as f64)
}

/// The largest rate over a window that ends with a step, and begins with one: so
/// it is `window` long or somewhat longer, and the bytes are those of all of it.
fn peak(steps: &[(u64, u64)], window: u64, from: u64, to: u64) -> Option<f64> {
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

pub(super) fn sent_rate(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    rate(&s.sent, nanos(parameter(p, 0)), nanos(parameter(p, 1)))
}

pub(super) fn received_rate(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    rate(&s.delivered, nanos(parameter(p, 0)), nanos(parameter(p, 1)))
}

pub(super) fn peak_sent_rate(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    peak(
        &s.sent,
        nanos(parameter(p, 0)),
        nanos(parameter(p, 1)),
        nanos(parameter(p, 2)),
    )
}

pub(super) fn peak_received_rate(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    peak(
        &s.delivered,
        nanos(parameter(p, 0)),
        nanos(parameter(p, 1)),
        nanos(parameter(p, 2)),
    )
}

pub(super) fn sent_by(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    Some(count_at(&s.sent, nanos(parameter(p, 0))) as f64)
}

pub(super) fn received_by(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    Some(count_at(&s.delivered, nanos(parameter(p, 0))) as f64)
}

pub(super) fn cwnd_at(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    s.sender_at(nanos(parameter(p, 0))).map(|x| x.cwnd)
}

pub(super) fn flight_at(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    s.sender_at(nanos(parameter(p, 0))).map(|x| x.flight)
}

pub(super) fn rtt_at(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    let rtt = s.sender_at(nanos(parameter(p, 0)))?.rtt_ns;
    (rtt > 0).then(|| rtt as f64 / 1e9)
}

pub(super) fn retransmissions_by(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    Some(
        s.sender_at(nanos(parameter(p, 0)))
            .map_or(0.0, |x| x.retransmissions as f64),
    )
}

pub(super) fn time_to_receive(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    let size = parameter(p, 0);
    s.delivered
        .iter()
        .find(|step| step.1 as f64 >= size)
        .map(|step| step.0 as f64 / 1e9)
}

pub(super) fn time_to_rate(s: &StoredSeries, p: &[f64]) -> Option<f64> {
    let (wanted, window, after) = (
        parameter(p, 0),
        nanos(parameter(p, 1)),
        nanos(parameter(p, 2)),
    );
    // Payload arrives in steps, so the first window that has enough ends with
    // one.
    let first = s.delivered.partition_point(|step| step.0 < after);
    s.delivered[first..]
        .iter()
        .map(|step| step.0)
        .find(|end| {
            let start = end.checked_sub(window).filter(|start| *start >= after);
            start.is_some_and(|start| rate(&s.delivered, start, *end).is_some_and(|r| r >= wanted))
        })
        .map(|end| end as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::StoredSample;

    const SECOND: u64 = 1_000_000_000;

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
        assert_eq!(received_rate(&s, &[1.0, 3.0]), Some(8000.0));
        assert_eq!(received_rate(&s, &[3.0, 1.0]), None);
        assert_eq!(
            peak_received_rate(&s, &[1.0, 0.0, f64::INFINITY]),
            Some(16_000.0)
        );
        assert_eq!(
            peak_received_rate(&s, &[1.0, 2.5, f64::INFINITY]),
            Some(4_000.0),
            "what arrived between the samples at 2 and 4 s, over 2 s"
        );
        assert_eq!(sent_by(&s, &[0.5]), Some(1000.0));
    }

    #[test]
    fn states_are_those_before() {
        let s = series();
        assert_eq!(cwnd_at(&s, &[0.5]), None);
        assert_eq!(cwnd_at(&s, &[9.0]), Some(4.0));
        assert_eq!(rtt_at(&s, &[9.0]), None);
        assert_eq!(time_to_receive(&s, &[2500.0]), Some(2.0));
        assert_eq!(time_to_receive(&s, &[1e9]), None);
        assert_eq!(time_to_rate(&s, &[16_000.0, 1.0, 0.0]), Some(2.0));
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
        let full = |p: [f64; 3]| time_to_rate(&s, &p);
        assert_eq!(full([7_900.0, 1.0, 0.0]), Some(4.0));
        assert_eq!(full([7_900.0, 3.0, 0.0]), Some(6.0));
        // The window lies after the spike: its good start does not count.
        assert_eq!(full([7_900.0, 1.0, 10.0]), Some(16.0));
        assert_eq!(full([7_900.0, 3.0, 12.0]), Some(18.0));
        assert_eq!(full([3_900.0, 1.0, 12.0]), Some(13.0));
        assert_eq!(full([9_000.0, 1.0, 0.0]), None);
    }
}
