//! The clock of the timestamps option (RFC 7323): microseconds in 32 bits.

use super::Packet;
use bentpipe_units::Time;

/// `t` as a timestamp option carries it.
#[inline]
pub(crate) fn timestamp(t: Time) -> u32 {
    // Truncation is the wrap of a 32-bit timestamp clock.
    (t.as_nanos() / 1_000) as u32
}

/// True if timestamp `a` is older than `b`.
#[inline]
pub(crate) fn is_older(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// When the packet was sent whose timestamp `packet`, which arrived at `now`,
/// echoes.
#[inline]
pub(crate) fn echoed_at(now: Time, packet: &Packet) -> Time {
    let age_us = timestamp(now).wrapping_sub(packet.timestamp_echo);
    let ns = now.as_nanos() / 1_000 * 1_000;
    Time::from_nanos(ns.saturating_sub(u64::from(age_us) * 1_000))
}
