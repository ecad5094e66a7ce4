//! Time series of a flow.

use bentpipe_outcome::{FlowSeries, SenderSample};
use bentpipe_tcp::{Endpoint, Snapshot};
use bentpipe_units::{Bytes, Duration, Time};

/// Collects a flow's time series, at most one sample per interval.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) series: FlowSeries,
    interval: Duration,
    next_sender: Time,
    next_delivered: Time,
    next_held: Time,
    last_phase: &'static str,
}

impl Recorder {
    pub(crate) fn new(flow: &str, interval: Duration) -> Recorder {
        Recorder {
            series: FlowSeries {
                flow: flow.to_owned(),
                ..FlowSeries::default()
            },
            interval,
            next_sender: Time::ZERO,
            next_delivered: Time::ZERO,
            next_held: Time::ZERO,
            last_phase: "",
        }
    }

    pub(crate) fn sender(&mut self, now: Time, s: &Snapshot, endpoint: &Endpoint, spurious: u64) {
        let phase = s.phase.name();
        if !self.takes_sender(now, phase) {
            return;
        }
        let counters = endpoint.counters();
        self.series.sender.push(SenderSample {
            at: now,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh,
            flight: s.flight as f64,
            rtt: s.rtt,
            retransmissions: counters.retransmissions,
            spurious_retransmissions: spurious,
            phase,
        });
        self.series.sent.push((now, Bytes::new(counters.payload)));
    }

    /// The same of a QUIC sender, with the payload of UDP that it has sent.
    pub(crate) fn quic(&mut self, sample: SenderSample, sent: Bytes) {
        if self.takes_sender(sample.at, sample.phase) {
            self.series.sent.push((sample.at, sent));
            self.series.sender.push(sample);
        }
    }

    /// True if a sample of the sender is taken now: the interval is over, or the phase another.
    fn takes_sender(&mut self, now: Time, phase: &'static str) -> bool {
        let takes = now >= self.next_sender || phase != self.last_phase;
        if takes {
            self.next_sender = now + self.interval;
            self.last_phase = phase;
        }
        takes
    }

    pub(crate) fn delivered(&mut self, now: Time, bytes: u64, last: bool) {
        if now < self.next_delivered && !last {
            return;
        }
        self.next_delivered = now + self.interval;
        self.series.delivered.push((now, Bytes::new(bytes)));
    }

    pub(crate) fn held(&mut self, now: Time, bytes: Bytes) {
        let changed = self.series.held.last().is_none_or(|&(_, b)| b != bytes);
        if changed && now >= self.next_held {
            self.next_held = now + self.interval;
            self.series.held.push((now, bytes));
        }
    }
}
