//! ACK filtering: an acknowledgement supersedes older ones of its connection that still wait for a
//! slow return link.
//!
//! RFC 3449, section 5.2.1: when an ACK is about to be queued, older ACKs of the same connection
//! are removed from the queue. Here all of them are removed, and the new one queues at the tail; an
//! ACK in transmission is not removed. The following must stay, by that section and RFC 3168:
//!
//! - packets with payload, and any flag besides ACK (SYN, ECN echo, CWR, the
//!   answer to a probe);
//! - ACKs with SACK blocks, D-SACK included;
//! - duplicates that wait together: none of several with one number is removed (RFC: not a series
//!   of three);
//! - an ACK with another window than the new one;
//! - any with a number that is not below the new one's;
//! - any under IPsec ([`crate::Ipsec`]), which hides the number.
//!
//! The filter is a mode of a queue and no box on a node: it acts on packets that wait, and a box,
//! which sees packets pass, would need a second queue before the link's. This file has the rule;
//! the simulator applies it when a packet arrives at a queue that filters.
//!
//! It has no parameters. A sender that counts ACKs, not bytes, grows its window more slowly, and an
//! unpaced one sends bursts: see sections 4.6 and 5.3 of the RFC.

use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{flags, priority};

/// The rule, with the memory that it needs while it examines a queue.
#[derive(Clone, Debug, Default)]
pub struct AckFilter {
    /// Numbers that wait more than once.
    repeated: Vec<u64>,
}

impl AckFilter {
    /// Looks at what `waits` while `new` comes, the next first. False if `new`
    /// replaces nothing.
    pub fn look<'a>(&mut self, new: &Packet, waits: impl Iterator<Item = &'a Packet>) -> bool {
        self.repeated.clear();
        if new.payload > 0 || !new.has(flags::ACK) || new.has(flags::SYN) || new.has(flags::PROBE) {
            return false;
        }
        let mut last = None;
        let mut any = false;
        for packet in waits {
            if packet.destination != new.destination || packet.payload > 0 {
                continue;
            }
            let number = packet.acknowledgement;
            if last == Some(number) && self.repeated.last() != Some(&number) {
                self.repeated.push(number);
            }
            last = Some(number);
            any |= supersedes(new, packet);
        }
        any
    }

    /// True if `old`, which waits, goes when `new` comes. [`AckFilter::look`]
    /// has been called for `new`.
    #[must_use]
    pub fn drops(&self, new: &Packet, old: &Packet) -> bool {
        supersedes(new, old) && !self.repeated.contains(&old.acknowledgement)
    }
}

/// True if all that `old` says is in `new`.
fn supersedes(new: &Packet, old: &Packet) -> bool {
    old.destination == new.destination
        && old.payload == 0
        && old.flags == flags::ACK
        && !old.carries(priority::SEALED)
        && old.sack_count == 0
        && old.window == new.window
        && old.acknowledgement < new.acknowledgement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u64) -> Packet {
        let mut packet = Packet::new(2);
        packet.acknowledgement = number;
        packet.flags = flags::ACK;
        packet.window = 64_000;
        packet
    }

    /// The numbers that stay when `new` comes to a queue.
    fn left(waits: &[Packet], new: &Packet) -> Vec<u64> {
        let mut filter = AckFilter::default();
        let some = filter.look(new, waits.iter());
        let stay = waits.iter().filter(|old| !some || !filter.drops(new, old));
        stay.map(|p| p.acknowledgement).collect()
    }

    fn with(number: u64, change: impl FnOnce(&mut Packet)) -> Packet {
        let mut packet = ack(number);
        change(&mut packet);
        packet
    }

    #[test]
    fn an_ack_replaces_all_older_ones() {
        assert_eq!(left(&[ack(1), ack(2), ack(3)], &ack(4)), []);
        assert_eq!(left(&[], &ack(4)), []);
        // Not those that are not older.
        assert_eq!(left(&[ack(1), ack(4), ack(5)], &ack(4)), [4, 5]);
    }

    #[test]
    fn duplicates_that_wait_together_stay() {
        let waits = [ack(1), ack(2), ack(2), ack(2), ack(3)];
        assert_eq!(left(&waits, &ack(4)), [2, 2, 2]);
        // A duplicate drops no ACK with the same number.
        assert_eq!(left(&[ack(1), ack(2)], &ack(2)), [2]);
    }

    #[test]
    fn what_says_more_than_a_number_stays() {
        let new = ack(9);
        for old in [
            with(1, |p| p.sack_count = 1),
            with(1, |p| p.flags |= flags::ECE),
            with(1, |p| p.flags |= flags::CWR),
            with(1, |p| p.flags |= flags::PROBE),
            with(1, |p| p.flags |= flags::SYN),
            with(1, |p| p.window = 1000),
            with(1, |p| p.payload = 100),
            with(1, |p| p.destination = 4),
            with(1, |p| p.priority |= priority::SEALED),
        ] {
            assert_eq!(left(&[old, ack(2)], &new), [1]);
        }
        // The new one may say more.
        assert_eq!(left(&[ack(1)], &with(2, |p| p.sack_count = 2)), []);
        assert_eq!(left(&[ack(1)], &with(2, |p| p.flags |= flags::ECE)), []);
    }

    #[test]
    fn data_and_syns_replace_nothing() {
        for new in [
            with(9, |p| p.payload = 100),
            with(9, |p| p.flags |= flags::SYN),
            with(9, |p| p.flags |= flags::PROBE),
            with(9, |p| p.flags = 0),
        ] {
            assert_eq!(left(&[ack(1)], &new), [1]);
        }
    }
}
