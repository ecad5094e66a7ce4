//! Counters of a terminal's access to the medium.

use bentpipe_units::Duration;

/// What one terminal has done so far, in addition to the [`crate::Counters`] of its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCounters {
    /// Requests for slots that it sent.
    pub requests: u64,
    /// Those of them that met another one.
    pub request_collisions: u64,
    /// Slots that it used and had not asked for: preassigned, free, or left
    /// over.
    pub free_slots: u64,
    /// Slots that it was given on request.
    pub demand_slots: u64,
    /// Those of them in which it had nothing left to send.
    pub unused_slots: u64,
    /// Transmissions of packets, whole ones with ALOHA.
    pub transmissions: u64,
    /// Transmissions that met another one (ALOHA).
    pub collisions: u64,
    /// Packets that were given up after too many collisions; they count as
    /// losses of the channel, too.
    pub given_up: u64,
    /// Packets sent to the end.
    pub sent: u64,
    /// Sum over these of the time from entry into the queue to arrival.
    pub delay: Duration,
    /// The longest such time.
    pub max_delay: Duration,
}

impl AccessCounters {
    /// Mean time from entry into the queue to arrival; zero if nothing was
    /// sent.
    #[must_use]
    pub fn mean_delay(&self) -> Duration {
        if self.sent == 0 {
            Duration::ZERO
        } else {
            self.delay / self.sent
        }
    }
}

impl core::ops::Add for AccessCounters {
    type Output = AccessCounters;

    fn add(self, other: AccessCounters) -> AccessCounters {
        AccessCounters {
            requests: self.requests + other.requests,
            request_collisions: self.request_collisions + other.request_collisions,
            free_slots: self.free_slots + other.free_slots,
            demand_slots: self.demand_slots + other.demand_slots,
            unused_slots: self.unused_slots + other.unused_slots,
            transmissions: self.transmissions + other.transmissions,
            collisions: self.collisions + other.collisions,
            given_up: self.given_up + other.given_up,
            sent: self.sent + other.sent,
            delay: self.delay + other.delay,
            max_delay: self.max_delay.max(other.max_delay),
        }
    }
}
