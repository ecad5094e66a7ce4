//! Snoop: a cache at the base station that repairs losses of the wireless leg
//! before they reach the sender.
//!
//! H. Balakrishnan, S. Seshan, E. Amir, R. Katz, *Improving TCP/IP Performance
//! over Wireless Networks*, MobiCom 1995. The rules are those of the agent in
//! ns-2.35 (`tcp/snoop.cc`), which its authors wrote.
//!
//! Data on its way to the leg is copied into a cache, if the queue in front of
//! the leg takes it (what that queue drops is congestion, which the
//! sender must see). An acknowledgement that advances empties the cache up to it and
//! passes. Of the duplicates, the first [`threshold`](SnoopSettings::threshold)
//! pass, the next makes the box send the missing packet again, and it and those
//! that must still follow, one for each packet behind the hole, end here. What
//! the sender has sent again itself it is left to care for: those duplicates
//! pass. A timer sends the oldest packet again when nothing comes back.
//!
//! The box never acknowledges anything itself: the end-to-end meaning of an ACK stays. (That some
//! texts call Snoop a spoofing proxy, and describe one, is a separate box: `crate::spoof`.)
//!
//! | parameter | default | |
//! |---|---|---|
//! | `cache` | 100 packets | a connection |
//! | `threshold` | 1 | duplicates that pass before a local retransmission |
//! | `tick` | 100 ms | the shortest timer |
//! | `srtt`, `rttvar` | 100 ms, 250 ms | before the first sample; the timer is srtt + 4 rttvar |
//! | `gain` | 0.125 | of the averages |
//! | `retransmissions` | 10 | of one packet, by the box |
//! | `variant` | `standard` | `ns-2` has the quirks of ns-2.35 |
//! | `identifies_ipsec` | false | has a hash or a table for flows under IPsec |
//!
//! Readings, where ns-2's agent does what cannot have been intended; the variant
//! `ns-2` does it too:
//!
//! - The counter of duplicates that pass is one for all connections, and an ACK
//!   that advances does not reset it. Here every connection has its own, and it
//!   is reset. (ns-2's is even shared by all agents of a simulation; here by
//!   those of one box.)
//! - The averages take 7/8 of the new sample and 1/8 of the old value. Here it
//!   is the other way round, and the first sample sets them.
//! - With a full cache the number of duplicates to expect is -2: none is
//!   suppressed. Here it is the number of cached packets, as always.
//!
//! What a simulator of packets numbered 0, 1, 2... need not know: a changed
//! window makes an ACK no duplicate, and it passes; SYNs, probes, datagrams and
//! packets without payload are not cached. Connections are distinguished by their
//! endpoints; data may flow either way in one, and only that toward the leg is
//! cached. ns-2's options `integrate_` and `lru_`, off by default, and the
//! explicit loss notification for data that comes *from* the leg are left out:
//! no sender here listens to it.

mod connection;

use bentpipe_units::Duration;
pub(crate) use connection::Connection;

/// Whose Snoop it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum SnoopVariant {
    /// As its authors must have meant it.
    #[default]
    Standard,
    /// As ns-2.35 does it.
    Ns2,
}

impl SnoopVariant {
    /// All variants by name.
    pub const ALL: [(&'static str, SnoopVariant); 2] = [
        ("standard", SnoopVariant::Standard),
        ("ns-2", SnoopVariant::Ns2),
    ];
}

/// Settings of one Snoop box.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SnoopSettings {
    /// Packets in the cache of a connection, at most.
    pub cache: u32,
    /// Duplicate ACKs that pass before one makes the box retransmit.
    pub threshold: u32,
    /// Lower bound of the local retransmission timer.
    pub tick: Duration,
    /// Smoothed round trip of the leg before the first sample.
    pub srtt: Duration,
    /// Its mean deviation before the first sample.
    pub rttvar: Duration,
    /// Gain of both averages, 0 to 1.
    pub gain: f64,
    /// Local retransmissions of one packet, at most.
    pub retransmissions: u32,
    /// Which published rules it follows.
    pub variant: SnoopVariant,
    /// Repairs flows under IPsec, too: by a hash that their packets carry, or a
    /// table ([`crate::Ipsec`]).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub identifies_ipsec: bool,
}

impl Default for SnoopSettings {
    fn default() -> SnoopSettings {
        SnoopSettings {
            cache: 100,
            threshold: 1,
            tick: Duration::from_millis(100),
            srtt: Duration::from_millis(100),
            rttvar: Duration::from_millis(250),
            gain: 0.125,
            retransmissions: 10,
            variant: SnoopVariant::Standard,
            identifies_ipsec: false,
        }
    }
}

#[cfg(test)]
mod tests;
