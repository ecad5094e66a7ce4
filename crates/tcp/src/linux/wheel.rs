//! Expiry of the kernel's timers: later than set, by the granularity of the timer wheel.
//!
//! Source: the documentation of the kernel's timers (kernel/time/timer.c describes the wheel:
//! levels of 64 slots, each level eight times as coarse as the one below), and runs on kernels of
//! 6.12 and 6.18 with 250 ticks a second, as most distributions build them
//! ([`crate::KernelSettings`] has others). Retransmission
//! timeouts, probes, the wait for reordering, delayed ACKs and SYNs use the wheel; pacing and the
//! ACKs of data above a gap have exact timers.
//!
//! A timer is set in whole ticks from the tick that has begun, and expires with the slot after the
//! one that it falls into: up to 4 ms late below a quarter of a second, 32 ms below 2 s, 256 ms
//! below 16 s and 2 s below 129 s.
//!
//! Our reading: ticks and slots count from the start of the run. On a real machine their phase is
//! random, so that timeouts differ from run to run by up to a slot.

use bentpipe_units::{Duration, Time};

/// What the first level reaches, ticks; the next ones eight times as far each.
const FIRST_LEVEL: u64 = 63;

/// Each level is coarser than the one below by this many bits.
const LEVEL_BITS: u32 = 3;

/// Levels of the wheel.
const LEVELS: u32 = 9;

/// When a timer runs out that is set at `now` for `at`, where the kernel's clock ticks every
/// `tick`.
pub(crate) fn expiry(tick: Duration, now: Time, at: Time) -> Time {
    if at == Time::MAX {
        return at;
    }
    let tick = tick.as_nanos().max(1);
    let began = now.as_nanos() / tick;
    let ticks = at.as_nanos().saturating_sub(now.as_nanos()).div_ceil(tick);
    let expires = began + ticks;
    let mut level = 0;
    while level + 1 < LEVELS && ticks >= FIRST_LEVEL << (level * LEVEL_BITS) {
        level += 1;
    }
    let grain = level * LEVEL_BITS;
    Time::from_nanos((((expires >> grain) + 1) << grain).saturating_mul(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(now_ms: u64, wait_ms: u64) -> u64 {
        after_with(4, now_ms, wait_ms)
    }

    fn after_with(tick_ms: u64, now_ms: u64, wait_ms: u64) -> u64 {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let tick = Duration::from_millis(tick_ms);
        expiry(tick, at(now_ms), at(now_ms + wait_ms)).as_nanos() / 1_000_000
    }

    #[test]
    fn a_delayed_ack_is_up_to_a_tick_late() {
        assert_eq!(after(0, 40), 44);
        assert_eq!(after(3, 40), 44);
        assert_eq!(after(4, 40), 48);
        assert_eq!(after(0, 41), 48);
    }

    /// Timeouts of a kernel of 6.18 in an outage: 360 ms, then twice as long each
    /// time, ran out 368, 736, 1472, 3072 and 5888 ms later from slot to slot.
    #[test]
    fn longer_timers_are_coarser() {
        assert_eq!(after(0, 360), 384);
        assert_eq!(after(3200, 720) - 3200, 736);
        assert_eq!(after(3200, 1440) - 3200, 1472);
        assert_eq!(after(5120, 2880) - 5120, 3072);
        assert_eq!(after(5120, 5760) - 5120, 5888);
        assert_eq!(after(0, 30_000), 30_720);
    }

    /// With HZ = 1000 the slots are a quarter as wide.
    #[test]
    fn a_faster_clock_is_finer() {
        assert_eq!(after_with(1, 0, 40), 41);
        assert_eq!(after_with(1, 0, 300), 304);
    }

    #[test]
    fn no_timer_stays_none() {
        assert_eq!(
            expiry(Duration::from_millis(4), Time::ZERO, Time::MAX),
            Time::MAX
        );
    }
}
