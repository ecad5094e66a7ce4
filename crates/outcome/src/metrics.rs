//! Metrics derived from an outcome, each with its definition.

use crate::share::{share, share_of_total};
use crate::{FlowOutcome, FlowSeries, LinkOutcome, Outcome, SenderSample};
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// Jain's fairness index of `shares`: (sum x)^2 / (n sum x^2). 1 when all are
/// equal, 1/n when one has everything. `None` without shares or when all are
/// zero.
///
/// R. Jain, D. Chiu, W. Hawe, *A Quantitative Measure of Fairness and
/// Discrimination for Resource Allocation in Shared Computer Systems*, DEC
/// TR-301, 1984.
#[must_use]
pub fn jain_index(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0_u64, 0.0, 0.0);
    for x in shares {
        n += 1;
        sum += x;
        squares += x * x;
    }
    let index = sum * sum / (n as f64 * squares);
    index.is_finite().then_some(index)
}

impl FlowOutcome {
    /// True if all that was offered arrived and was acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.transfer_time.is_some()
    }

    /// The time that rates are taken over: the transfer time, or for flows
    /// that did not finish or have no end, from their start to the end of the
    /// run.
    #[must_use]
    pub fn active_time(&self, ended_at: Time) -> Duration {
        self.transfer_time
            .unwrap_or_else(|| ended_at.since(self.started_at))
    }

    /// Goodput: payload delivered in order to the receiving application over
    /// the [active time](Self::active_time). No headers, no retransmissions.
    /// Zero if the active time is zero.
    #[must_use]
    pub fn goodput(&self, ended_at: Time) -> Rate {
        Rate::of(self.delivered, self.active_time(ended_at))
    }

    /// Throughput: payload put on the wire, retransmissions included, over the
    /// [active time](Self::active_time).
    #[must_use]
    pub fn throughput(&self, ended_at: Time) -> Rate {
        Rate::of(self.sent, self.active_time(ended_at))
    }

    /// Mean length of a congestion epoch: the time over which rates are taken
    /// by the number of [reductions](Self::reductions). All of that time if
    /// there was none.
    #[must_use]
    pub fn congestion_epoch(&self, ended_at: Time) -> Duration {
        self.active_time(ended_at) / self.reductions.max(1)
    }

    /// Share of what the application offered that was delivered; `None` for
    /// flows without end.
    #[must_use]
    pub fn completion(&self) -> Option<Ratio> {
        let offered = self.offered?;
        Some(if offered == Bytes::ZERO {
            Ratio::ONE
        } else {
            share(self.delivered.get(), offered.get())
        })
    }

    /// Share of the data packets sent that were sent again.
    #[must_use]
    pub fn retransmission_share(&self) -> Ratio {
        share(self.retransmissions, self.packets_sent)
    }

    /// How far the mean RTT lies above the smallest: what queues, media access and detours added on
    /// average.
    #[must_use]
    pub fn rtt_inflation(&self) -> Option<Duration> {
        Some(self.mean_rtt?.saturating_sub(self.min_rtt?))
    }
}

impl LinkOutcome {
    /// Bytes that left the link at the far end (framing not counted) over the
    /// length of the run.
    #[must_use]
    pub fn throughput(&self, ended_at: Time) -> Rate {
        Rate::of(self.delivered_bytes, ended_at.since(Time::ZERO))
    }

    /// Share of the packets offered that the queue dropped.
    #[must_use]
    pub fn queue_drop_share(&self) -> Ratio {
        share(self.queue_drops, self.offered_packets)
    }

    /// Share of the packets that left the queue that the channel lost: the
    /// measured packet error rate.
    #[must_use]
    pub fn channel_loss_share(&self) -> Ratio {
        share(
            self.channel_losses,
            self.delivered_packets.saturating_add(self.channel_losses),
        )
    }
}

impl Outcome {
    /// The flow of that name.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&FlowOutcome> {
        self.flows.iter().find(|f| f.name == name)
    }

    /// The link of that name.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&LinkOutcome> {
        self.links.iter().find(|l| l.name == name)
    }

    /// The [goodput](FlowOutcome::goodput) of one of this run's flows.
    #[must_use]
    pub fn goodput(&self, flow: &FlowOutcome) -> Rate {
        flow.goodput(self.ended_at)
    }

    /// The goodputs of all flows added up.
    #[must_use]
    pub fn total_goodput(&self) -> Rate {
        let sum = self
            .flows
            .iter()
            .fold(0_u64, |s, f| s.saturating_add(self.goodput(f).bps()));
        Rate::from_bps(sum)
    }

    /// The share that one of this run's flows has of the goodput of all;
    /// `None` if nothing was delivered.
    #[must_use]
    pub fn goodput_share(&self, flow: &FlowOutcome) -> Option<Ratio> {
        share_of_total(self.goodput(flow), self.total_goodput())
    }

    /// [Jain's index](jain_index) over the goodputs of all flows; `None` if
    /// nothing was delivered.
    #[must_use]
    pub fn jain_index(&self) -> Option<f64> {
        jain_index(self.flows.iter().map(|f| self.goodput(f).bps_f64()))
    }

    /// The longest transfer time; `None` unless every flow finished.
    #[must_use]
    pub fn longest_transfer_time(&self) -> Option<Duration> {
        let times: Option<Vec<Duration>> = self.flows.iter().map(|f| f.transfer_time).collect();
        times?.into_iter().max()
    }

    /// The outcome without its time series: small enough for a journal.
    #[must_use]
    pub fn without_series(&self) -> Outcome {
        Outcome {
            scenario: self.scenario.clone(),
            seed: self.seed,
            ended_at: self.ended_at,
            events: self.events,
            packet_hops: self.packet_hops,
            flows: self.flows.clone(),
            links: self.links.clone(),
            middleboxes: self.middleboxes.clone(),
            crossings: self.crossings.clone(),
            legs: self.legs.clone(),
            checkpoints: self.checkpoints.clone(),
            series: Vec::new(),
        }
    }
}

/// The last value at or before `at`; zero before the first.
fn value_at(samples: &[(Time, Bytes)], at: Time) -> Bytes {
    let after = samples.partition_point(|s| s.0 <= at);
    after.checked_sub(1).map_or(Bytes::ZERO, |i| samples[i].1)
}

impl FlowSeries {
    /// Payload delivered by `at`.
    #[must_use]
    pub fn delivered_by(&self, at: Time) -> Bytes {
        value_at(&self.delivered, at)
    }

    /// Goodput over `from` (exclusive) to `to` (inclusive): for what a flow
    /// got once it had settled, or during a handover.
    #[must_use]
    pub fn goodput_between(&self, from: Time, to: Time) -> Rate {
        Rate::of(
            self.delivered_by(to) - self.delivered_by(from),
            to.since(from),
        )
    }

    /// The sender's state at `at`: the last sample at or before it.
    #[must_use]
    pub fn sender_at(&self, at: Time) -> Option<&SenderSample> {
        self.sender[..self.sender.partition_point(|s| s.at <= at)].last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::{flow, outcome};

    #[test]
    fn jain_of_the_textbook() {
        let index = jain_index([1.0, 2.0, 3.0]).unwrap();
        assert!((index - 0.857_142_857).abs() < 1e-9);
        assert_eq!(jain_index([5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index([1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index([]), None);
        assert_eq!(jain_index([0.0, 0.0]), None);
    }

    #[test]
    fn goodput_of_a_finished_flow_is_over_its_transfer_time() {
        let f = flow("a");
        // 3 MB in 12.5 s, though the run went on to 60 s.
        assert_eq!(
            f.goodput(Time::from_nanos(60_000_000_000)),
            Rate::from_bps(1_920_000)
        );
    }

    #[test]
    fn goodput_of_an_unfinished_flow_is_over_the_rest_of_the_run() {
        let mut f = flow("a");
        f.transfer_time = None;
        f.started_at = Time::from_nanos(20_000_000_000);
        assert_eq!(
            f.goodput(Time::from_nanos(60_000_000_000)),
            Rate::from_bps(600_000)
        );
        assert_eq!(f.goodput(Time::ZERO), Rate::ZERO);
    }

    #[test]
    fn throughput_counts_what_was_sent_again() {
        let mut f = flow("a");
        f.sent = Bytes::new(3_300_000);
        assert_eq!(f.throughput(Time::MAX), Rate::from_bps(2_112_000));
    }

    #[test]
    fn an_epoch_ends_with_a_reduction() {
        let mut f = flow("a");
        assert_eq!(f.congestion_epoch(Time::MAX), Duration::from_millis(12_500));
        f.reductions = 5;
        assert_eq!(f.congestion_epoch(Time::MAX), Duration::from_millis(2_500));
    }

    #[test]
    fn shares_of_a_run_add_up() {
        let o = outcome();
        let sum: f64 = o
            .flows
            .iter()
            .filter_map(|f| o.goodput_share(f))
            .map(Ratio::get)
            .sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(o.longest_transfer_time(), None);
    }

    #[test]
    fn series_are_steps() {
        let s = FlowSeries {
            delivered: vec![
                (Time::from_nanos(1_000_000_000), Bytes::new(1000)),
                (Time::from_nanos(2_000_000_000), Bytes::new(3000)),
            ],
            ..FlowSeries::default()
        };
        assert_eq!(s.delivered_by(Time::ZERO), Bytes::ZERO);
        assert_eq!(
            s.delivered_by(Time::from_nanos(1_500_000_000)),
            Bytes::new(1000)
        );
        let rate = s.goodput_between(
            Time::from_nanos(1_000_000_000),
            Time::from_nanos(3_000_000_000),
        );
        assert_eq!(rate, Rate::from_bps(8000));
        assert!(s.sender_at(Time::MAX).is_none());
    }
}
