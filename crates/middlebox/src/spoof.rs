//! The spoofing proxy: a box that acknowledges for the receiver.
//!
//! J. Salamanca's thesis (2008, sections 2 and 3.4) calls Snoop a *spoofing PEP*,
//! and in places describes one: it "is responsible for local acknowledgments and
//! retransmission over the satellite network". Snoop itself never acknowledges
//! ([`crate::snoop`]); this box is that reading, kept apart. Spoofing as such is
//! RFC 3135, sections 2.1 and 3.1.1 (J. Ishac, M. Allman, MILCOM 2001, measure
//! it).
//!
//! What the thesis leaves open, and the reading:
//!
//! - **One connection.** Sequence numbers, options and the receiver's window stay
//!   end to end; there is no second TCP behind the box and no congestion control
//!   toward the leg. (Two connections are a split proxy: `crate::split`.)
//! - Data in order is put into the cache, forwarded, and acknowledged at once, each
//!   packet. What comes out of order is cached too and acknowledged with SACK
//!   blocks. What the queue in front of the leg has no room for is not cached and
//!   not acknowledged: that is congestion, and the sender's business. The
//!   receiver's own ACKs end at the box.
//! - **The window** that the box advertises is the receiver's, but no more than what
//!   its cache still takes, so that a full cache holds the sender back; a change
//!   from less than two packets to more is announced at once.
//! - **Losses** of the leg are the box's alone: it sends a packet again when
//!   `threshold` + 1 duplicates ask for it, or as many packets are reported above it
//!   by SACK; when a repair uncovers it (as NewReno's partial ACKs); and when the
//!   timer runs out (srtt + 4 rttvar, gains as in RFC 6298, at least `tick`), which it
//!   does as often as it takes: the sender has dropped what was acknowledged to it.
//! - An ECN mark that data got before the box is echoed on the ACK for it; one that
//!   it gets behind the box ends there with the receiver's ACK.
//!
//! The end-to-end meaning of an ACK is lost: a sender is done when the box has
//! everything. A transfer's time ends when the receiver has it all, as it does
//! over a split PEP.

mod connection;

use bentpipe_units::Duration;
pub(crate) use connection::Connection;

/// Parameters of the spoofing proxy.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SpoofSettings {
    /// Packets in the cache of a connection, at most.
    pub cache: u32,
    /// Duplicate ACKs of the receiver that are ignored before one makes the box
    /// retransmit.
    pub threshold: u32,
    /// Lower bound of the local retransmission timer.
    pub tick: Duration,
}

impl Default for SpoofSettings {
    fn default() -> SpoofSettings {
        SpoofSettings {
            cache: 1000,
            threshold: 1,
            tick: Duration::from_millis(100),
        }
    }
}

#[cfg(test)]
mod tests;
