//! What a box gives QUIC ahead of time: as much as a busy machine needs, and so little that who goes next
//! is decided late.

use std::time::Duration;

/// Bytes of a stream that take precedence over what others have sent more of.
pub const YOUNG: u64 = 64 << 10;
/// What QUIC may have to send, as time on the link: longer than a busy machine takes to give it more.
pub const AHEAD: Duration = Duration::from_millis(80);
/// The same, bytes, at least.
const LEAST_AHEAD: u64 = 32 << 10;
/// Parts of that in one turn; and its limits, bytes.
const TURNS: u64 = 8;
const TURN: (u64, u64) = (8 << 10, 256 << 10);
/// Part of what leaves that is taken for headers; they are a little less.
pub const HEADERS: u64 = 25;
/// Datagrams that are about to be given to QUIC, bytes: a few packets.
pub const LEAVING: u64 = 8 << 10;
/// Datagrams that quinn may have to send, as time on the link.
pub const DATAGRAMS_AHEAD: Duration = Duration::from_millis(15);
/// The limits of that, bytes.
const DATAGRAMS_SENT: (u64, u64) = (32 << 10, 1 << 20);

/// What QUIC may have to send, and what of it is one turn, bytes: of a link that takes so many in [`AHEAD`].
#[must_use]
pub fn ahead(bytes: u64) -> (u64, u64) {
    let ahead = bytes.max(LEAST_AHEAD);
    (ahead, (ahead / TURNS).clamp(TURN.0, TURN.1))
}

/// Bytes of datagrams that quinn may have to send, on a link that takes so many in [`DATAGRAMS_AHEAD`].
#[must_use]
pub fn datagrams_ahead(bytes: u64) -> u64 {
    bytes.clamp(DATAGRAMS_SENT.0, DATAGRAMS_SENT.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_link_has_a_few_packets_ahead_and_a_fast_one_few_turns() {
        assert_eq!(ahead(0), (32 << 10, 8 << 10));
        assert_eq!(ahead(200_000), (200_000, 25_000));
        assert_eq!(ahead(10 << 20), (10 << 20, 256 << 10));
        assert_eq!(
            [0, 100_000, 5 << 20].map(datagrams_ahead),
            [32 << 10, 100_000, 1 << 20]
        );
    }
}
