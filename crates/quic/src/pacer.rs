//! Spacing of packets outside quinn-proto.
//!
//! quinn-proto's own pacer has 5/4 of the window in each smoothed round trip, whatever a control
//! asks for. Where a control has a rate of its own, or the user a gain, quinn-proto's is switched off
//! and this one decides when the endpoint is asked for packets.

use bentpipe_units::{Bytes, Duration, Rate, Time};

/// When packets may leave.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    next: Time,
    /// Something was held back, so that the endpoint must be asked at `next`.
    holds: bool,
}

/// What leaves at once where packets are spaced (draft-ietf-ccwg-bbr, section 4.6.3): that of 1 ms.
const QUANTUM: Duration = Duration::from_millis(1);

impl Pacer {
    /// Whether packets may leave at `now`; if not, [`Pacer::wakes_at`] says when.
    pub(crate) fn admits(&mut self, now: Time) -> bool {
        self.holds = now < self.next;
        !self.holds
    }

    /// Whoever was idle may make up for the time in which `credit` bytes leave at `rate`, and for no
    /// more. To be told at every turn: a larger credit has to be waited for.
    pub(crate) fn limit(&mut self, now: Time, rate: Rate, credit: u64) {
        let credit = rate.transmission_time(Bytes::new(credit));
        let earliest = Time::ZERO + now.since(Time::ZERO).saturating_sub(credit);
        self.next = self.next.max(earliest);
    }

    /// Packets of `bytes` have left, at `rate`.
    pub(crate) fn sent(&mut self, bytes: u64, rate: Rate) {
        self.next += rate.transmission_time(Bytes::new(bytes));
    }

    /// Packets are no longer spaced here.
    pub(crate) fn release(&mut self) {
        self.holds = false;
    }

    /// When what was held back may leave; `None` where nothing was.
    pub(crate) fn wakes_at(&self) -> Option<Time> {
        self.holds.then_some(self.next)
    }

    /// Datagrams of `size` bytes that may leave together, `most` at most.
    pub(crate) fn quantum(rate: Rate, size: u16, most: usize) -> usize {
        let bytes = rate.bps_f64() * QUANTUM.as_secs() / 8.0;
        ((bytes / f64::from(size.max(1))) as usize).clamp(1, most)
    }
}
