//! Round trips counted by data: one ends when what was sent since it began is
//! acknowledged.

use super::Core;
use bentpipe_units::{Bytes, Rate, Time};

/// The current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// It ends when this byte is acknowledged.
    pub(crate) end: u64,
    /// When it began; zero for the first.
    began_at: Time,
    /// Bytes delivered since the round began.
    delivered: u64,
}

impl Core {
    /// Counts `segments` that an ACK delivered. Returns whether a round trip
    /// begins with that ACK and, if so, the delivery rate over the one that
    /// ended, where there was one.
    #[inline]
    pub(crate) fn count_delivered(
        &mut self,
        now: Time,
        advances: bool,
        segments: u64,
    ) -> (bool, Option<Rate>) {
        let round = &mut self.round;
        round.delivered += segments * u64::from(self.mss);
        if !advances || self.snd.una <= round.end {
            return (false, None);
        }
        round.end = self.snd.next;
        let took = now.since(round.began_at);
        let delivered = std::mem::take(&mut round.delivered);
        let first = std::mem::replace(&mut round.began_at, now) == Time::ZERO;
        let rate = (!first && !took.is_zero()).then(|| Rate::of(Bytes::new(delivered), took));
        (true, rate)
    }
}
