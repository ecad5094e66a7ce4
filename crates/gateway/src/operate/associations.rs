//! The associations that stand, as status and metrics show them.

use super::state::{Path, shown};
use crate::tunnel::association::Lost;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// One association.
pub(super) struct Association {
    pub(super) path: Path,
    /// The WAN that it uses, where there are several.
    pub(super) wan: Option<String>,
    pub(super) since: Instant,
    pub(super) lost: Option<Lost>,
    pub(super) drains: bool,
}

/// The key of the other box, and the WAN where there are several.
type Way = (String, Option<String>);

/// QUIC packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packets {
    /// Those that were sent.
    pub(crate) sent: u64,
    /// Those of them that were lost.
    pub(crate) lost: u64,
}

impl Packets {
    fn add(&mut self, more: Packets) {
        self.sent += more.sent;
        self.lost += more.lost;
    }
}

/// What QUIC says of the association with a box over a WAN. While there are two, as when a new one stands
/// before the old one is dropped, that is the newest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    /// The key of the other box.
    pub(crate) peer: String,
    /// The WAN, where there are several.
    pub(crate) wan: Option<String>,
    pub(crate) rtt: Duration,
    /// The congestion window in bytes.
    pub(crate) window: u64,
    /// Bytes of the largest packet that the path takes.
    pub(crate) mtu: u16,
    /// Those of all associations with the box over the WAN, also of those that have ended.
    pub(crate) packets: Packets,
}

/// All associations.
#[derive(Default)]
pub(super) struct Associations {
    /// By the key of the other box, and a number that grows.
    standing: BTreeMap<(String, u64), Association>,
    /// Packets of those that have ended, so that sums never shrink: Prometheus takes one that does for
    /// a new count, and all of it for an increase.
    ended: BTreeMap<Way, Packets>,
}

impl Associations {
    pub(super) fn insert(&mut self, key: (String, u64), association: Association) {
        self.standing.insert(key, association);
    }

    pub(super) fn get_mut(&mut self, key: &(String, u64)) -> Option<&mut Association> {
        self.standing.get_mut(key)
    }

    pub(super) fn remove(&mut self, key: &(String, u64)) {
        let removed = self.standing.remove(key);
        if let Some(told) = removed.and_then(|one| one.told(&key.0)) {
            self.end(told);
        }
    }

    fn end(&mut self, told: Told) {
        let packets = self.ended.entry((told.peer, told.wan)).or_default();
        packets.add(told.packets);
    }

    pub(super) fn paths(&self) -> Vec<(String, Path)> {
        let all = self.standing.iter();
        all.map(|((peer, _), one)| (peer.clone(), one.path.clone()))
            .collect()
    }

    pub(super) fn status(&self) -> Vec<Value> {
        let all = self.standing.iter();
        all.map(|((peer, _), one)| one.status(peer)).collect()
    }

    /// What QUIC says, once for each box and WAN.
    pub(super) fn told(&self) -> Vec<Told> {
        let all = self.standing.iter();
        self.merged(all.filter_map(|((peer, _), one)| one.told(peer)))
    }

    /// `all`, the oldest first, as one for each box and WAN.
    fn merged(&self, all: impl Iterator<Item = Told>) -> Vec<Told> {
        let mut merged: BTreeMap<Way, Told> = BTreeMap::new();
        for mut told in all {
            let way = (told.peer.clone(), told.wan.clone());
            let older = merged.get(&way).map(|older| older.packets);
            let before = older.or_else(|| self.ended.get(&way).copied());
            told.packets.add(before.unwrap_or_default());
            merged.insert(way, told);
        }
        merged.into_values().collect()
    }
}

impl Association {
    /// `None` over TLS.
    fn told(&self, peer: &str) -> Option<Told> {
        let Path::Quic(connection) = &self.path else {
            return None;
        };
        let path = connection.stats().path;
        Some(Told {
            peer: peer.to_owned(),
            wan: self.wan.clone(),
            rtt: connection.rtt(),
            window: path.cwnd,
            mtu: path.current_mtu,
            packets: Packets {
                sent: path.sent_packets,
                lost: path.lost_packets,
            },
        })
    }

    fn status(&self, peer: &str) -> Value {
        let since = self.since.elapsed().as_secs();
        match &self.path {
            Path::Quic(connection) => {
                let stats = connection.stats();
                json!({
                    "peer": peer,
                    "wan": self.wan,
                    "address": shown(connection.remote_address()),
                    "over": "quic",
                    "lost": self.lost.map(Lost::word),
                    "draining": self.drains,
                    "since_seconds": since,
                    "rtt_seconds": connection.rtt().as_secs_f64(),
                    "window_bytes": stats.path.cwnd,
                    "packets_sent": stats.path.sent_packets,
                    "packets_lost": stats.path.lost_packets,
                    "bytes_sent": stats.udp_tx.bytes,
                    "bytes_received": stats.udp_rx.bytes,
                    "mtu_bytes": stats.path.current_mtu,
                })
            }
            Path::Tls(address) => json!({
                "peer": peer,
                "wan": self.wan,
                "address": shown(*address),
                "over": "tls",
                "since_seconds": since,
            }),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn told(wan: Option<&str>, rtt: u64, sent: u64) -> Told {
        Told {
            peer: "ship".to_owned(),
            wan: wan.map(str::to_owned),
            rtt: Duration::from_millis(rtt),
            window: 1,
            mtu: 1200,
            packets: Packets { sent, lost: 1 },
        }
    }

    #[test]
    fn two_with_one_box_over_one_wan_are_one_whose_counts_only_grow() {
        let mut all = Associations::default();
        let (old, new) = (told(Some("5g"), 90, 1000), told(Some("5g"), 60, 10));
        let other = told(Some("link"), 600, 7);
        let both = all.merged([old.clone(), other.clone(), new.clone()].into_iter());
        let sum = Packets {
            sent: 1010,
            lost: 2,
        };
        let newest = Told {
            packets: sum,
            ..new.clone()
        };
        assert_eq!(both, [newest.clone(), other.clone()]);
        all.end(old);
        assert_eq!(
            all.merged([other.clone(), new].into_iter()),
            [newest, other]
        );
    }
}
