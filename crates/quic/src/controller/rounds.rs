//! Round trips counted by data: one ends when something arrives that was sent
//! after it began.

use bentpipe_units::{Bytes, Duration as Span, Rate};
use std::time::Instant;

/// The current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    began: Option<Instant>,
    delivered: u64,
}

impl Rounds {
    /// Counts `bytes` that arrived, the newest of which were sent at `newest`.
    /// Returns whether a round begins, and the delivery rate over the one that
    /// ended, where there was one.
    pub(super) fn count(
        &mut self,
        now: Instant,
        newest: Instant,
        bytes: u64,
    ) -> (bool, Option<Rate>) {
        self.delivered += bytes;
        if self.began.is_some_and(|began| newest < began) {
            return (false, None);
        }
        let delivered = std::mem::take(&mut self.delivered);
        let ended = self.began.replace(now);
        let rate = ended.map(|began| {
            let took = now.saturating_duration_since(began).as_nanos();
            let took = Span::from_nanos(u64::try_from(took).unwrap_or(u64::MAX));
            Rate::of(Bytes::new(delivered), took)
        });
        (true, rate.filter(|rate| *rate > Rate::ZERO))
    }
}
