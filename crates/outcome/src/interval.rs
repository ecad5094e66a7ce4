//! An interval of a run: the traffic of flows in it and their shares of links.

use crate::{
    Checkpoint, FlowCounts, FlowLinkCounts, FlowLinkStats, FlowOutcome, Outcome, jain_index,
};
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// An interval of a run, such as all of it but the warm-up. What is counted
/// lies after its start (exclusive) and up to its end (inclusive).
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    outcome: &'a Outcome,
    from: Time,
    to: Time,
    before: State<'a>,
    after: State<'a>,
}

/// Counters at one end of an interval.
#[derive(Clone, Copy, Debug)]
enum State<'a> {
    Nothing,
    Noted(&'a Checkpoint),
    Everything,
}

/// The run has no [checkpoint](Checkpoint) at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run noted nothing at {0}; ask for a checkpoint there")]
pub struct NoCheckpoint(pub Time);

impl Outcome {
    /// All of the run.
    #[must_use]
    pub fn whole(&self) -> Interval<'_> {
        Interval {
            outcome: self,
            from: Time::ZERO,
            to: self.ended_at,
            before: State::Nothing,
            after: State::Everything,
        }
    }

    /// The interval from `from` to `to`; [`Time::MAX`] is the end of the run.
    /// Nothing more happens in a run that has ended before.
    ///
    /// # Errors
    /// If the run has no checkpoint at one of them.
    pub fn interval(&self, from: Time, to: Time) -> Result<Interval<'_>, NoCheckpoint> {
        let state = |at: Time| {
            if at == Time::ZERO {
                return Ok(State::Nothing);
            }
            if at >= self.ended_at {
                return Ok(State::Everything);
            }
            let checkpoint = self.checkpoints.iter().find(|c| c.at == at);
            checkpoint.map(State::Noted).ok_or(NoCheckpoint(at))
        };
        let to = if to == Time::MAX { self.ended_at } else { to };
        Ok(Interval {
            outcome: self,
            from,
            to,
            before: state(from)?,
            after: state(to)?,
        })
    }

    /// The crossings of a flow, as a range of [`Outcome::crossings`].
    #[must_use]
    pub fn crossings_of(&self, flow: usize) -> std::ops::Range<usize> {
        let start = self.crossings.partition_point(|c| c.flow < flow);
        let end = self.crossings.partition_point(|c| c.flow <= flow);
        start..end
    }

    /// The index of what a flow did to a link; `None` if the link is not on
    /// its way.
    #[must_use]
    pub fn crossing(&self, flow: usize, link: usize) -> Option<usize> {
        self.crossings_of(flow)
            .find(|i| self.crossings[*i].link == link)
    }
}

impl Interval<'_> {
    /// Start of the interval.
    #[must_use]
    pub fn from(&self) -> Time {
        self.from
    }

    /// End of the interval.
    #[must_use]
    pub fn to(&self) -> Time {
        self.to
    }

    /// How long it is.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to.since(self.from)
    }

    /// Traffic of a flow in it.
    #[must_use]
    pub fn flow(&self, flow: usize) -> FlowCounts {
        let at = |state: State<'_>| match state {
            State::Nothing => FlowCounts::default(),
            State::Noted(checkpoint) => checkpoint.flows.get(flow).copied().unwrap_or_default(),
            State::Everything => {
                let flow = self.outcome.flows.get(flow);
                flow.map(FlowOutcome::counts).unwrap_or_default()
            }
        };
        at(self.after).since(&at(self.before))
    }

    /// Traffic of a flow on a link in it, by the index of the crossing.
    #[must_use]
    pub fn crossing(&self, crossing: usize) -> FlowLinkCounts {
        let at = |state: State<'_>| match state {
            State::Nothing => FlowLinkCounts::default(),
            State::Noted(checkpoint) => checkpoint
                .crossings
                .get(crossing)
                .copied()
                .unwrap_or_default(),
            State::Everything => {
                let crossing = self.outcome.crossings.get(crossing);
                crossing.map(FlowLinkStats::counts).unwrap_or_default()
            }
        };
        at(self.after).since(&at(self.before))
    }

    /// Goodput of a flow: payload delivered in order over the length of the
    /// interval, whether the flow lasted as long or not.
    #[must_use]
    pub fn goodput(&self, flow: usize) -> Rate {
        Rate::of(self.flow(flow).delivered, self.length())
    }

    /// `bytes` as a share of what a link could carry; `None` for an interval
    /// of no length or a link without rate.
    fn share(&self, bytes: Bytes, link: usize) -> Option<f64> {
        let rate = self.outcome.links.get(link)?.rate;
        let could = rate.bps_f64() * self.length().as_secs() / 8.0;
        (could > 0.0).then(|| bytes.as_f64() / could)
    }

    /// Share of a link that a crossing took: the bytes transmitted (payload,
    /// headers and framing, retransmissions, lost by the channel or not) over
    /// what the link could carry. Packets count when their transmission ends.
    /// `None` for an interval of no length.
    #[must_use]
    pub fn wire_share(&self, counts: &FlowLinkCounts, link: usize) -> Option<f64> {
        self.share(counts.transmitted, link)
    }

    /// Share of a link's rate that became payload delivered by a flow, once
    /// and in order. `None` for an interval of no length.
    #[must_use]
    pub fn payload_share(&self, flow: usize, link: usize) -> Option<f64> {
        self.share(self.flow(flow).delivered, link)
    }

    /// Unused share of a link: one less the wire shares of all
    /// flows. `None` for an interval of no length.
    #[must_use]
    pub fn unused(&self, link: usize) -> Option<f64> {
        let transmitted = self.transmitted().get(link).copied();
        self.unused_beside(transmitted.unwrap_or(Bytes::ZERO), link)
    }

    /// Unused share of a link over which all flows together have transmitted this much; see
    /// [`Interval::transmitted`]. `None` for an interval of no length.
    #[must_use]
    pub fn unused_beside(&self, transmitted: Bytes, link: usize) -> Option<f64> {
        // A packet that began before the interval counts as a whole.
        Some((1.0 - self.share(transmitted, link)?).max(0.0))
    }

    /// What all flows together have transmitted over each link.
    #[must_use]
    pub fn transmitted(&self) -> Vec<Bytes> {
        let mut sums = vec![Bytes::ZERO; self.outcome.links.len()];
        for (i, crossing) in self.outcome.crossings.iter().enumerate() {
            if let Some(sum) = sums.get_mut(crossing.link) {
                *sum += self.crossing(i).transmitted;
            }
        }
        sums
    }

    /// [Jain's index](jain_index) over the payload that these flows delivered;
    /// `None` if that is nothing.
    #[must_use]
    pub fn jain_of_payload(&self, flows: impl IntoIterator<Item = usize>) -> Option<f64> {
        jain_index(flows.into_iter().map(|f| self.flow(f).delivered.as_f64()))
    }

    /// [Jain's index](jain_index) over what these crossings took of one link;
    /// `None` if that is nothing.
    #[must_use]
    pub fn jain_of_wire(&self, crossings: impl IntoIterator<Item = usize>) -> Option<f64> {
        let bytes = crossings.into_iter().map(|c| self.crossing(c).transmitted);
        jain_index(bytes.map(Bytes::as_f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::samples::shared;

    const SECOND: u64 = 1_000_000_000;

    fn at(s: u64) -> Time {
        Time::from_nanos(s * SECOND)
    }

    /// Two flows of 600 kB and 150 kB on the wire in 10 s of 1 Mbit/s, that is
    /// 1250 kB; by 4 s 100 kB each.
    #[test]
    fn shares_of_a_link_by_hand() {
        let o = shared();
        let share = |span: Interval<'_>, c: usize| span.wire_share(&span.crossing(c), 0).unwrap();
        assert_eq!(share(o.whole(), 0), 0.48);
        assert_eq!(share(o.whole(), 1), 0.12);
        assert!((o.whole().unused(0).unwrap() - 0.4).abs() < 1e-12);
        let transmitted = o.whole().transmitted();
        assert_eq!(
            o.whole().unused_beside(transmitted[0], 0),
            o.whole().unused(0)
        );
        // 500 kB and 50 kB in the last 6 s, that is 750 kB.
        let late = o.interval(at(4), Time::MAX).unwrap();
        assert_eq!(late.length(), Duration::from_secs(6));
        assert!((share(late, 0) - 500.0 / 750.0).abs() < 1e-12);
        assert!((late.unused(0).unwrap() - 200.0 / 750.0).abs() < 1e-12);
        // Payload: 540 kB and 135 kB; 90 kB each by 4 s.
        assert_eq!(o.whole().payload_share(0, 0), Some(0.432));
        assert_eq!(late.goodput(0), Rate::from_bps(600_000));
        let early = o.interval(Time::ZERO, at(4)).unwrap();
        assert_eq!(early.goodput(1), Rate::from_bps(180_000));
        assert_eq!(early.flow(1).retransmissions, 1);
        assert_eq!(late.flow(1).retransmissions, 2);
    }

    #[test]
    fn fairness_in_an_interval() {
        let o = shared();
        // (4 + 1)^2 / (2 (16 + 1))
        assert_eq!(o.whole().jain_of_wire([0, 1]), Some(25.0 / 34.0));
        assert_eq!(o.whole().jain_of_payload([0, 1]), Some(25.0 / 34.0));
        let early = o.interval(Time::ZERO, at(4)).unwrap();
        assert_eq!(early.jain_of_wire([0, 1]), Some(1.0));
        assert_eq!(o.whole().jain_of_payload([1]), Some(1.0));
    }

    #[test]
    fn an_interval_needs_its_checkpoints() {
        let o = shared();
        assert_eq!(
            o.interval(at(5), Time::MAX).unwrap_err(),
            NoCheckpoint(at(5))
        );
        // A run that has ended adds nothing, but time passes.
        let beyond = o.interval(at(4), at(20)).unwrap();
        assert_eq!(beyond.length(), Duration::from_secs(16));
        assert_eq!(beyond.flow(0).delivered, Bytes::new(450_000));
        let after = o.interval(at(20), at(30)).unwrap();
        assert_eq!(after.flow(0).delivered, Bytes::ZERO);
        assert_eq!(after.unused(0), Some(1.0));
        assert_eq!(o.interval(at(4), at(4)).unwrap().unused(0), None);
    }

    #[test]
    fn crossings_are_found() {
        let o = shared();
        assert_eq!(o.crossings_of(1), 1..2);
        assert_eq!((o.crossing(1, 0), o.crossing(1, 1)), (Some(1), None));
        assert!(o.crossings_of(9).is_empty());
    }
}
