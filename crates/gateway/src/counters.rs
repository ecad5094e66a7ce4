//! The gateway's counters: one declaration, from which the metrics, the status and its JSON follow.

use crate::CloseReason;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a number is a number of; inside it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A number of bytes.
    Bytes,
    /// Microseconds; printed as seconds.
    Microseconds,
    /// A rate in bits per second.
    BitsPerSecond,
}

/// How a number moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Prometheus counter: it only grows.
    Counter,
    /// It rises and falls.
    Gauge,
}

/// One number of the list, as its declaration describes it.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its name, as metrics and JSON write it, without prefix and unit.
    pub name: &'static str,
    /// Whether it only grows or also falls.
    pub kind: Kind,
    /// Unit of the number.
    pub unit: Unit,
    /// Help text for Prometheus and the status.
    pub meaning: &'static str,
}

/// A number that any thread may change.
#[derive(Debug, Default)]
pub struct Number(AtomicU64);

impl Number {
    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Takes `n` away; it does not go below zero.
    pub fn subtract(&self, n: u64) {
        // The closure never refuses.
        let _ = self
            .0
            .fetch_update(Relaxed, Relaxed, |value| Some(value.saturating_sub(n)));
    }

    /// Sets it.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Sets it, unless it is larger.
    pub fn raise(&self, value: u64) {
        self.0.fetch_max(value, Relaxed);
    }

    /// Current value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Counts one up until the guard is dropped: for gauges of what exists.
    pub fn hold(&self) -> Held<'_> {
        self.increment();
        Held(self)
    }
}

/// Counts one thing while it exists: see [`Number::hold`].
#[derive(Debug)]
pub struct Held<'a>(&'a Number);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.subtract(1);
    }
}

macro_rules! counters {
    ($($kind:ident $name:ident: $unit:ident, $meaning:literal;)*) => {
        /// Every number of one gateway.
        #[derive(Debug, Default)]
        pub struct Counters {
            $(#[doc = $meaning] pub $name: Number,)*
            cut: [Number; CloseReason::ALL.len()],
        }

        impl Counters {
            /// Every number with its declaration and value.
            pub fn list(&self) -> impl Iterator<Item = (&'static Described, u64)> {
                const DECLARED: &[Described] = &[$(Described {
                    name: stringify!($name),
                    kind: Kind::$kind,
                    unit: Unit::$unit,
                    meaning: $meaning,
                }),*];
                let values = [$(self.$name.get()),*];
                DECLARED.iter().zip(values)
            }
        }
    };
}

counters! {
    Counter connections_opened: Count, "TCP connections that the gateway has taken";
    Gauge connections_active: Count, "TCP connections that it has now";
    Counter connections_ended: Count, "connections that both hosts ended in order";
    Counter connections_bypassed: Count, "connections that passed directly, because a limit was reached or the other box did not answer";
    Counter connections_turned_away: Count, "connections that were reset before they began, because a limit was reached or the other box did not answer";
    Counter bytes_to_satellite: Bytes, "payload that went into the satellite link";
    Counter bytes_from_satellite: Bytes, "payload that came out of the satellite link";
    Counter udp_flows: Count, "flows of UDP that the gateway has carried, each from one address and port to another";
    Gauge udp_flows_active: Count, "flows of UDP that it knows now";
    Counter udp_flows_forgotten: Count, "flows of UDP that were forgotten for new ones, because there were too many";
    Counter udp_to_satellite: Count, "datagrams of UDP that went into the satellite link";
    Counter udp_from_satellite: Count, "datagrams of UDP that came out of the satellite link";
    Counter bytes_udp_to_satellite: Bytes, "what they were, with a few bytes each that say whose they are";
    Counter bytes_udp_from_satellite: Bytes, "payload of UDP that came out of the satellite link";
    Counter udp_dropped: Count, "datagrams of UDP that were dropped: beyond what their subscriber has of the link, or while nothing carries them";
    Counter udp_refused: Count, "datagrams of UDP that this hub refused: by its policy, or because too many flows are known";
    Counter udp_too_long: Count, "datagrams of UDP that were dropped because the path between the boxes carries shorter ones only, or parts of one";
    Gauge beside_bits_per_second: BitsPerSecond, "what leaves beside the tunnel through the interfaces to the satellite that `[link]` names, IP packets and all";
    Gauge memory_held: Bytes, "payload that is held for connections: sent and not acknowledged, or not read by its host";
    Gauge readers_stalled: Count, "connections whose host takes nothing of what has arrived for it";
    Counter readers_cut: Count, "connections cut because their host took nothing and memory was short";
    Gauge associations_active: Count, "other boxes with which an association stands";
    Counter associations_opened: Count, "associations that were established";
    Counter associations_lost: Count, "associations that ended, in order or not";
    Counter repairs_sent: Count, "packets sent after the last ones before a pause, from which the other box restores what is lost of those";
    Counter packets_restored: Count, "lost packets that this box has restored from repairs";
    Counter hubs_changed: Count, "times that new connections of a terminal went to another of its hubs";
    Counter outages: Count, "times that nothing passed in one direction or both for longer than a second and two round trips";
    Counter peers_rejected: Count, "QUIC handshakes that failed, such as with a key that is not among the peers or another version; those that were not completed in time are not counted";
    Counter fallback_connections: Count, "connections carried by TLS over TCP because UDP did not pass";
    Gauge fallback_active: Count, "other boxes that are reached by TLS over TCP now";
    Counter reloads: Count, "configurations that were put into force while running";
    Counter reloads_refused: Count, "configurations that were refused while running, because of an error in the file";
    Counter records_dropped: Count, "connections and flows of UDP of which no record was written, because the disk did not keep up";
    Counter log_lines_suppressed: Count, "lines that were not logged because too many of their kind came in a short time";
}

impl Counters {
    /// Connections cut short for this reason.
    #[must_use]
    pub fn cut(&self, why: CloseReason) -> &Number {
        // The reasons are numbered from 1 without gaps, which a test holds.
        &self.cut[(why.code() as usize - 1).min(CloseReason::ALL.len() - 1)]
    }

    /// Every reason with the connections that it cut short.
    pub fn cuts(&self) -> impl Iterator<Item = (CloseReason, u64)> {
        CloseReason::ALL
            .iter()
            .map(|&why| (why, self.cut(why).get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_reason_has_a_number_of_its_own() {
        let counters = Counters::default();
        for (i, &why) in CloseReason::ALL.iter().enumerate() {
            counters.cut(why).add(i as u64 + 1);
        }
        for (i, (_, count)) in counters.cuts().enumerate() {
            assert_eq!(count, i as u64 + 1);
        }
    }

    #[test]
    fn gauges_fall_back_when_what_they_count_is_gone() {
        let counters = Counters::default();
        let held = counters.connections_active.hold();
        assert_eq!(counters.connections_active.get(), 1);
        drop(held);
        counters.connections_active.subtract(5);
        assert_eq!(counters.connections_active.get(), 0);
    }

    #[test]
    fn names_are_unique() {
        let counters = Counters::default();
        let names: HashSet<_> = counters.list().map(|(it, _)| it.name).collect();
        assert_eq!(names.len(), counters.list().count());
    }
}
