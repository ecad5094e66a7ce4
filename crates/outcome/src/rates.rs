//! Rates from cumulative counts.

use crate::FlowSeries;
use bentpipe_units::Duration;

impl FlowSeries {
    /// The rates at which data was delivered in order: see [`window_rates`].
    #[must_use]
    pub fn rates(&self, window: Duration) -> Vec<WindowRate> {
        let steps = self.delivered.iter();
        let steps: Vec<(u64, u64)> = steps.map(|(at, n)| (at.as_nanos(), n.get())).collect();
        window_rates(&steps, window.as_nanos())
    }
}

/// The mean rate over a window of a cumulative count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRate {
    /// The beginning of its interval, nanoseconds: where the previous one ends.
    pub from_ns: u64,
    /// The end of that time and of the window, nanoseconds.
    pub to_ns: u64,
    /// Bytes per second, over the window.
    pub bytes_per_second: f64,
}

/// The mean rates of a cumulative count from the first sample to the last.
/// `samples` are times in nanoseconds and bytes so far, in ascending order.
///
/// A window begins and ends at a sample and is never shorter than `window` unless
/// all of the samples are: its rate is the number of bytes between two samples over
/// the time between them. A count that is sampled more rarely than once a window
/// therefore yields longer windows, and never a rate above that at which the bytes
/// arrived. A pause of a window or more is a window of its own, and one that a pause
/// or the last sample ends too early reaches back over those before it.
#[must_use]
pub fn window_rates(samples: &[(u64, u64)], window: u64) -> Vec<WindowRate> {
    let window = window.max(1);
    let mut rates: Vec<WindowRate> = Vec::new();
    // The rate over the shortest window that ends at sample `last`, for the time
    // since sample `first`.
    let mut add = |first: usize, last: usize| {
        let to = samples[last];
        let reach = to.0.saturating_sub(window);
        let start = samples[..=first].partition_point(|s| s.0 <= reach);
        let from = samples[start.saturating_sub(1)];
        let span = to.0.saturating_sub(from.0).max(1);
        rates.push(WindowRate {
            from_ns: samples[first].0,
            to_ns: to.0,
            bytes_per_second: to.1.saturating_sub(from.1) as f64 * 1e9 / span as f64,
        });
    };
    let mut first = 0;
    for next in 1..samples.len() {
        let pause = samples[next].0.saturating_sub(samples[next - 1].0) >= window;
        if pause && first < next - 1 {
            add(first, next - 1);
            first = next - 1;
        }
        if samples[next].0.saturating_sub(samples[first].0) >= window {
            add(first, next);
            first = next;
        }
    }
    if first + 1 < samples.len() {
        add(first, samples.len() - 1);
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_rate_is_that_between_samples() {
        let samples = [(0, 0), (SECOND, 4000), (3 * SECOND, 5000)];
        let rates: Vec<_> = window_rates(&samples, SECOND)
            .iter()
            .map(|r| (r.to_ns / SECOND, r.bytes_per_second))
            .collect();
        assert_eq!(rates, [(1, 4000.0), (3, 500.0)]);
        assert!(window_rates(&[], SECOND).is_empty());
        assert!(window_rates(&[(5, 7)], SECOND).is_empty());
    }

    #[test]
    fn rare_samples_of_a_steady_flow_give_its_rate() {
        // 10 Mbit/s sampled every 10 s and a packet: windows of 500 ms must not
        // credit ten seconds of bytes to one of them.
        for interval in [10 * SECOND, SECOND, SECOND / 100] {
            let spacing = interval + 1_200_000;
            let samples: Vec<_> = (1..50).map(|i| (i * spacing, i * spacing / 800)).collect();
            let rates = window_rates(&samples, SECOND / 2);
            assert!(!rates.is_empty());
            for r in rates {
                assert!((r.bytes_per_second - 1.25e6).abs() < 10.0, "{r:?}");
            }
        }
    }

    #[test]
    fn a_pause_is_a_window_of_its_own() {
        // A packet every 10 ms for 1.2 s, nothing until 6 s, and again.
        let busy = |start: u64, sent: u64| {
            (0..=120).map(move |i| (start + i * SECOND / 100, (sent + i) * 1000))
        };
        let samples: Vec<_> = busy(0, 0).chain(busy(6 * SECOND, 121)).collect();
        let rates = window_rates(&samples, SECOND / 2);
        let slow: Vec<_> = rates.iter().filter(|r| r.bytes_per_second < 5e4).collect();
        assert_eq!(slow.len(), 1, "{rates:?}");
        assert_eq!(
            (slow[0].from_ns, slow[0].to_ns),
            (SECOND * 6 / 5, 6 * SECOND)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The windows are side by side up to the last sample, and no rate is above the fastest between two neighbouring samples.
        #[test]
        fn no_rate_exceeds_the_fastest_between_samples(
            steps in prop::collection::vec((1..5 * SECOND, 0..1_000_000_u64), 1..60),
            window in 1..8 * SECOND,
        ) {
            let mut samples = vec![(0, 0)];
            let mut fastest: f64 = 0.0;
            for (time, bytes) in steps {
                let (at, so_far) = samples[samples.len() - 1];
                samples.push((at + time, so_far + bytes));
                fastest = fastest.max(bytes as f64 * 1e9 / time as f64);
            }
            let whole = samples[samples.len() - 1].0;
            let rates = window_rates(&samples, window);
            prop_assert_eq!(rates.last().map(|r| r.to_ns), Some(whole));
            let mut end = 0;
            for r in rates {
                prop_assert_eq!(r.from_ns, end);
                end = r.to_ns;
                prop_assert!(r.bytes_per_second <= fastest * (1.0 + 1e-9));
            }
        }
    }
}
