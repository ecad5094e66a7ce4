//! What the two ends of a flow over QUIC have come to.

use bentpipe_outcome::{FlowCounts, FlowOutcome, SenderSample};
use bentpipe_quic::controller::View;
use bentpipe_quic::{Host, Sum};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};

/// What they have come to; each end writes its part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Counts of the end that sends the data, and of its control.
    sum: Sum,
    view: Option<View>,
    /// When both ends could send data.
    pub(crate) connected_at: Option<Time>,
    /// Bytes of data that have arrived in order, and when the first and the last did.
    received: u64,
    first_at: Option<Time>,
    last_at: Option<Time>,
    /// The course of that, where it is asked for.
    delivered: Vec<(Time, Bytes)>,
    /// When all of a transfer was acknowledged.
    pub(crate) acknowledged_at: Option<Time>,
}

impl Seen {
    /// Writes down what the sender has come to.
    pub(crate) fn sender(&mut self, now: Time, host: &Host) {
        self.sum = host.sum();
        self.view = host.view();
        if host.may_send() {
            self.connected_at.get_or_insert(now);
        }
        if host.is_acknowledged() {
            self.acknowledged_at.get_or_insert(now);
        }
    }

    /// Writes down what has arrived, a point of its course each `series`.
    pub(crate) fn receiver(&mut self, now: Time, host: &Host, series: Option<Duration>) {
        if host.received() == self.received {
            return;
        }
        self.received = host.received();
        self.first_at.get_or_insert(now);
        self.last_at = Some(now);
        let last = self.delivered.last();
        if let Some(series) = series
            && last.is_none_or(|(at, _)| now >= *at + series)
        {
            self.delivered.push((now, Bytes::new(self.received)));
        }
    }

    /// All that `application` transfers has arrived; false for what transfers no file.
    pub(crate) fn has_all_of(&self, application: &Application) -> bool {
        matches!(application, Application::Transfer { size } if size.get() == self.received)
    }

    /// The course of what arrived, with its last point.
    pub(crate) fn take_course(&mut self) -> Vec<(Time, Bytes)> {
        let mut course = std::mem::take(&mut self.delivered);
        let last = self.last_at.map(|at| (at, Bytes::new(self.received)));
        if let (Some(end), Some(last)) = (course.last().copied(), last)
            && end.1 != last.1
        {
            course.push(last);
        }
        course
    }

    /// The counts of a flow, whose packets at its hosts show only that they are UDP: what its ends
    /// say takes the place of that, where there are any.
    pub(crate) fn counts(&self, of_packets: FlowCounts) -> FlowCounts {
        let Some(view) = self.view else {
            return of_packets;
        };
        FlowCounts {
            delivered: Bytes::new(self.received),
            sent: Bytes::new(self.sum.bytes),
            packets_sent: self.sum.datagrams,
            retransmissions: self.sum.lost,
            retransmitted: Bytes::new(self.sum.lost_bytes),
            timeouts: view.persistent,
            reductions: view.reductions,
            ..of_packets
        }
    }

    /// A sample of the sender, where it has begun.
    pub(crate) fn sample(&self, now: Time) -> Option<SenderSample> {
        let view = self.view?;
        let packets = |bytes: u64| bytes as f64 / f64::from(view.mtu.max(1));
        Some(SenderSample {
            at: now,
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            flight: packets(view.flight),
            rtt: view.smoothed_rtt,
            retransmissions: self.sum.lost,
            spurious_retransmissions: 0,
            phase: view.phase.name(),
        })
    }
}

/// What the ends say of a flow's outcome besides its counts.
pub(crate) fn describe(seen: &Seen, outcome: &mut FlowOutcome) {
    let Some(view) = seen.view else {
        return;
    };
    if seen.acknowledged_at.is_some() {
        outcome.acknowledged = outcome.delivered;
    }
    outcome.first_delivery_at = seen.first_at;
    outcome.last_delivery_at = seen.last_at;
    outcome.spurious_retransmissions = 0;
    outcome.acks_received = seen.sum.acks;
    outcome.min_rtt = view.min_rtt;
    outcome.mean_rtt = view.mean_rtt;
    outcome.max_cwnd = view.max_cwnd;
    outcome.recoveries = view.reductions;
}
