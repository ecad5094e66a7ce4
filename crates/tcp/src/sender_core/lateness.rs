//! What Linux does about packets that are spaced and come late.
//!
//! Source: its internal pacing (`tcp_update_skb_after_send`), which makes up for
//! timers that run late. What leaves later than the last interval said has its own
//! interval shortened by as much, but by no more than half of it; so the first
//! interval after an idle time is half of the others. The first nine packets of
//! a connection are not spaced.

use bentpipe_units::{Duration, Time};

/// The packet from which on they are spaced.
pub(crate) const UNPACED: u64 = 10;

/// How late the packets that leave now are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lateness {
    /// When the next packet could leave.
    due: Time,
    /// The remaining backlog.
    late: Duration,
}

impl Lateness {
    /// Something leaves at `now`.
    pub(crate) fn begin(&mut self, now: Time) {
        self.late = now.since(self.due);
    }

    /// The interval that comes in place of this one.
    pub(crate) fn shorten(&mut self, interval: Duration) -> Duration {
        let by = (interval / 2).min(self.late);
        self.late = self.late.saturating_sub(by);
        interval.saturating_sub(by)
    }

    /// The next packet may leave at `due`.
    pub(crate) fn end(&mut self, due: Time) {
        self.due = due;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_shortened_by_half_at_most() {
        let ms = Duration::from_millis;
        let mut lateness = Lateness::default();
        lateness.end(Time::ZERO + ms(100));
        lateness.begin(Time::ZERO + ms(500));
        // Two packets that leave together.
        assert_eq!(lateness.shorten(ms(44)), ms(22));
        assert_eq!(lateness.shorten(ms(44)), ms(22));
        lateness.end(Time::ZERO + ms(544));
        lateness.begin(Time::ZERO + ms(554));
        assert_eq!(lateness.shorten(ms(44)), ms(34));
        assert_eq!(lateness.shorten(ms(44)), ms(44));
    }
}
