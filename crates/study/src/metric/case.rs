//! One flow in one run, which a metric is computed from.

use bentpipe_outcome::{FlowCounts, FlowLinkCounts, FlowOutcome, Interval, Outcome, Part};
use bentpipe_units::{Duration, Ratio};

/// A flow, perhaps at one link, perhaps in a part of the run.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(super) outcome: &'a Outcome,
    /// Index of the flow.
    pub(super) flow: usize,
    /// Index of the link that was named.
    pub(super) link: Option<usize>,
    /// Index of the flow's crossing of that link.
    pub(super) crossing: Option<usize>,
    pub(super) interval: Interval<'a>,
    /// An interval was named.
    pub(super) is_part: bool,
}

impl<'a> Case<'a> {
    pub(super) fn flow(&self) -> &'a FlowOutcome {
        &self.outcome.flows[self.flow]
    }

    /// Traffic of the flow in the interval.
    pub(super) fn counts(&self) -> FlowCounts {
        self.interval.flow(self.flow)
    }

    /// Traffic on the named link.
    fn at_link(&self) -> Option<FlowLinkCounts> {
        Some(self.interval.crossing(self.crossing?))
    }

    /// The time that rates are taken over: that of the interval, or the
    /// flow's own.
    fn time(&self) -> Duration {
        if self.is_part {
            self.interval.length()
        } else {
            self.flow().active_time(self.outcome.ended_at)
        }
    }

    /// Bits per second of that time; zero if there is none.
    fn rate(&self, bytes: bentpipe_units::Bytes) -> f64 {
        bentpipe_units::Rate::of(bytes, self.time()).bps_f64()
    }

    pub(super) fn goodput(&self) -> f64 {
        self.rate(self.counts().delivered)
    }

    pub(super) fn throughput(&self) -> f64 {
        self.rate(self.counts().sent)
    }

    /// Share of the goodput of all flows.
    pub(super) fn share(&self) -> Option<f64> {
        if !self.is_part {
            return self.outcome.goodput_share(self.flow()).map(Ratio::get);
        }
        let flows = 0..self.outcome.flows.len();
        let total: u64 = flows.map(|f| self.interval.flow(f).delivered.get()).sum();
        (total > 0).then(|| self.counts().delivered.as_f64() / total as f64)
    }

    pub(super) fn retransmission_share(&self) -> f64 {
        let counts = self.counts();
        counts.retransmissions as f64 / counts.packets_sent.max(1) as f64
    }

    /// Mean time between reductions of the window.
    pub(super) fn congestion_epoch(&self) -> f64 {
        let epochs = self.counts().reductions.max(1);
        self.time().as_secs() / epochs as f64
    }

    pub(super) fn wire_share(&self) -> Option<f64> {
        self.interval.wire_share(&self.at_link()?, self.link?)
    }

    pub(super) fn payload_share(&self) -> Option<f64> {
        self.interval.payload_share(self.flow, self.link?)
    }

    /// The metric of that name that the record of flows declares: at the link
    /// that was named, in the interval, or of the whole run.
    pub(super) fn declared(&self, name: &str) -> Option<f64> {
        let at_link = self.at_link().and_then(|counts| counts.metric(name));
        at_link
            .or_else(|| self.counts().metric(name))
            .or_else(|| self.flow().metric(name))
    }

    /// What fairness is about: what the flow took of the link that was named,
    /// or else its goodput.
    pub(super) fn part(&self) -> f64 {
        match self.at_link() {
            Some(counts) => counts.transmitted.as_f64(),
            None => self.goodput(),
        }
    }

    /// Name of [`Case::part`], for messages.
    pub(super) fn what(&self) -> &'static str {
        match self.crossing {
            Some(_) => "the flows took nothing of the link",
            None => "the flows delivered nothing",
        }
    }
}
