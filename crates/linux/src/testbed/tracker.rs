//! What the packets of a flow say about it, seen at its hosts' devices: the
//! counts that a simulated endpoint keeps itself.
//!
//! A retransmission is payload that ends at or below the highest byte sent
//! before; a spurious one had arrived already. An RTT sample is the time from
//! sending a segment that is sent once to the acknowledgement that covers it
//! (Karn's rule), of the last segment that an acknowledgement covers.

use super::segment::{ACK, SYN, Segment};
use bentpipe_outcome::FlowCounts;
use bentpipe_units::{Bytes, Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// The packets of one flow, of all its connections.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    connection: Connection,
    /// Bytes of the side that sends the data that precede them: its part of TLS' handshake.
    preface: u64,
    /// Of the connections before it, the bytes that arrived in order.
    delivered_before: u64,
    acknowledged_before: u64,
    /// First SYN of the flow.
    pub(crate) opened_at: Option<Time>,
    /// First payload from the side that sends the data.
    pub(crate) first_data_at: Option<Time>,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) last_delivery_at: Option<Time>,
    /// Last acknowledgement of something new.
    pub(crate) last_ack_at: Option<Time>,
    pub(crate) sent: u64,
    pub(crate) packets_sent: u64,
    pub(crate) retransmissions: u64,
    retransmitted: u64,
    pub(crate) spurious: u64,
    pub(crate) acks: u64,
    rtt_sum: u128,
    rtt_samples: u64,
    rtt_min: Option<Duration>,
}

/// The connection that is open.
#[derive(Debug, Default)]
struct Connection {
    /// Port of the side that has opened it.
    opener: Option<u16>,
    /// Number of the first byte of the side that sends the data.
    first: Option<u32>,
    /// Bytes sent so far, up to the highest.
    sent_to: u64,
    acknowledged: u64,
    /// What is not acknowledged: its end, when it was sent, whether once.
    outstanding: VecDeque<(u64, Time, bool)>,
    /// Bytes that have arrived in order.
    arrived_to: u64,
    /// Ranges that have arrived beyond: from, to.
    islands: BTreeMap<u64, u64>,
}

/// Change by a packet that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing changed.
    None,
    /// More has been acknowledged to the side that sends the data.
    Acknowledged,
    /// More has arrived in order.
    Delivered,
}

impl Tracker {
    /// A tracker of connections whose data follow `preface` bytes.
    pub(crate) fn after(preface: u64) -> Tracker {
        Tracker {
            preface,
            ..Tracker::default()
        }
    }

    /// Bytes of data that arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        (self.delivered_before + self.connection.arrived_to).saturating_sub(self.preface)
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        (self.acknowledged_before + self.connection.acknowledged).saturating_sub(self.preface)
    }

    /// What its packets say of the counters of a flow.
    pub(crate) fn counts(&self) -> FlowCounts {
        FlowCounts {
            delivered: Bytes::new(self.delivered()),
            sent: Bytes::new(self.sent),
            packets_sent: self.packets_sent,
            retransmissions: self.retransmissions,
            retransmitted: Bytes::new(self.retransmitted),
            ..FlowCounts::default()
        }
    }

    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        self.rtt_min
    }

    pub(crate) fn mean_rtt(&self) -> Option<Duration> {
        let mean = self.rtt_sum.checked_div(u128::from(self.rtt_samples))?;
        Some(Duration::from_nanos(mean as u64))
    }

    /// A packet leaves a host: `forth` from the side that sends the data.
    pub(crate) fn leaves(&mut self, at: Time, forth: bool, segment: &Segment) {
        match *segment {
            Segment::Udp { payload } if forth => {
                self.first_data_at.get_or_insert(at);
                self.sent += u64::from(payload);
                self.packets_sent += 1;
            }
            Segment::Udp { .. } => {}
            Segment::Tcp {
                source_port,
                destination_port,
                sequence,
                flags,
                payload,
                ..
            } => {
                if flags & SYN != 0 {
                    let opens = flags & ACK == 0;
                    if opens {
                        self.opens(at, source_port);
                    }
                    let opener = if opens { source_port } else { destination_port };
                    if forth && self.connection.opener == Some(opener) {
                        self.connection.first = Some(sequence.wrapping_add(1));
                    }
                }
                if forth && payload > 0 && self.is_current(source_port, destination_port) {
                    self.sends(at, sequence, payload);
                }
            }
        }
    }

    /// A packet arrives at a host.
    pub(crate) fn arrives(&mut self, at: Time, forth: bool, segment: &Segment) -> Change {
        match *segment {
            Segment::Udp { payload } if forth => {
                self.connection.arrived_to += u64::from(payload);
                self.delivery(at);
                Change::Delivered
            }
            Segment::Udp { .. } => Change::None,
            Segment::Tcp {
                source_port,
                destination_port,
                sequence,
                acknowledgement,
                flags,
                payload,
            } => {
                if !self.is_current(source_port, destination_port) {
                    return Change::None;
                }
                if forth {
                    return self.takes(at, sequence, payload);
                }
                if flags & ACK == 0 || flags & SYN != 0 {
                    return Change::None;
                }
                self.acks += 1;
                self.acknowledges(at, acknowledgement)
            }
        }
    }

    fn is_current(&self, a: u16, b: u16) -> bool {
        self.connection.opener.is_some_and(|o| o == a || o == b)
    }

    /// A SYN: a new connection, unless it is the same one again.
    fn opens(&mut self, at: Time, port: u16) {
        self.opened_at.get_or_insert(at);
        if self.connection.opener == Some(port) {
            return;
        }
        self.delivered_before += self.connection.arrived_to;
        self.acknowledged_before += self.connection.acknowledged;
        self.connection = Connection {
            opener: Some(port),
            ..Connection::default()
        };
    }

    fn sends(&mut self, at: Time, sequence: u32, payload: u32) {
        let connection = &mut self.connection;
        let Some(first) = connection.first else {
            return;
        };
        self.sent += u64::from(payload);
        self.packets_sent += 1;
        let from = unwrapped(connection.sent_to, first, sequence);
        let to = from + u64::from(payload);
        if to > self.preface {
            self.first_data_at.get_or_insert(at);
        }
        if to > connection.sent_to {
            connection.sent_to = to;
            connection.outstanding.push_back((to, at, true));
            return;
        }
        self.retransmissions += 1;
        self.retransmitted += u64::from(payload);
        let outstanding = &mut connection.outstanding;
        let begin = outstanding.partition_point(|(end, ..)| *end <= from);
        for entry in outstanding.iter_mut().skip(begin) {
            entry.2 = false;
            if entry.0 >= to {
                break;
            }
        }
    }

    fn acknowledges(&mut self, at: Time, acknowledgement: u32) -> Change {
        let connection = &mut self.connection;
        let Some(first) = connection.first else {
            return Change::None;
        };
        let to = unwrapped(connection.acknowledged, first, acknowledgement);
        // The FIN takes a number, too.
        let to = to.min(connection.sent_to);
        if to <= connection.acknowledged {
            return Change::None;
        }
        connection.acknowledged = to;
        self.last_ack_at = Some(at);
        let mut last = None;
        while let Some(entry) = connection.outstanding.front()
            && entry.0 <= to
        {
            last = connection.outstanding.pop_front();
        }
        if let Some((_, sent_at, true)) = last {
            let rtt = at.since(sent_at);
            self.rtt_sum += u128::from(rtt.as_nanos());
            self.rtt_samples += 1;
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |min| min.min(rtt)));
        }
        Change::Acknowledged
    }

    fn takes(&mut self, at: Time, sequence: u32, payload: u32) -> Change {
        let connection = &mut self.connection;
        let (Some(first), true) = (connection.first, payload > 0) else {
            return Change::None;
        };
        let from = unwrapped(connection.arrived_to, first, sequence);
        let to = from + u64::from(payload);
        let covered = |(start, end): (&u64, &u64)| *start <= from && to <= *end;
        let before = connection.islands.range(..=from).next_back();
        if to <= connection.arrived_to || before.is_some_and(covered) {
            self.spurious += 1;
            return Change::None;
        }
        if from > connection.arrived_to {
            connection.add_island(from, to);
            return Change::None;
        }
        connection.arrived_to = to;
        while let Some((&start, &end)) = connection.islands.first_key_value()
            && start <= connection.arrived_to
        {
            connection.arrived_to = connection.arrived_to.max(end);
            connection.islands.pop_first();
        }
        self.delivery(at);
        Change::Delivered
    }

    fn delivery(&mut self, at: Time) {
        if self.delivered() == 0 {
            return;
        }
        self.first_delivery_at.get_or_insert(at);
        self.last_delivery_at = Some(at);
    }
}

impl Connection {
    /// Bytes `from..to` have arrived beyond a hole.
    fn add_island(&mut self, mut from: u64, mut to: u64) {
        if let Some((&start, &end)) = self.islands.range(..=from).next_back()
            && end >= from
        {
            (from, to) = (start, to.max(end));
        }
        while let Some((&start, &end)) = self.islands.range(from..=to).next() {
            to = to.max(end);
            self.islands.remove(&start);
        }
        self.islands.insert(from, to);
    }
}

/// The place in the stream of the byte numbered `number`, whose first byte has
/// the number `first`: the one nearest to `near`.
fn unwrapped(near: u64, first: u32, number: u32) -> u64 {
    // The 32 bits that wrap; the difference is at most half of them.
    let relative = number.wrapping_sub(first);
    let distance = relative.wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISN: u32 = u32::MAX - 1000;

    fn tcp(forth: bool, flags: u8, sequence: u32, acknowledgement: u32, payload: u32) -> Segment {
        let ports = if forth {
            (40_000, 5001)
        } else {
            (5001, 40_000)
        };
        Segment::Tcp {
            source_port: ports.0,
            destination_port: ports.1,
            sequence,
            acknowledgement,
            flags,
            payload,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Segment `n` of 1000 bytes, and the acknowledgement of the `n` before it.
    fn data(n: u32) -> Segment {
        tcp(true, ACK, ISN.wrapping_add(1 + 1000 * n), 1, 1000)
    }

    fn ack(n: u32) -> Segment {
        tcp(false, ACK, 1, ISN.wrapping_add(1 + 1000 * n), 0)
    }

    fn open() -> Tracker {
        let mut tracker = Tracker::default();
        tracker.leaves(at(0), true, &tcp(true, SYN, ISN, 0, 0));
        tracker
    }

    #[test]
    fn a_loss_free_exchange_is_counted_across_the_wrap() {
        let mut tracker = open();
        for n in 0..3 {
            tracker.leaves(at(10 + u64::from(n)), true, &data(n));
        }
        for n in 0..3 {
            let change = tracker.arrives(at(260 + u64::from(n)), true, &data(n));
            assert_eq!(change, Change::Delivered);
        }
        assert_eq!(
            tracker.arrives(at(510), false, &ack(2)),
            Change::Acknowledged
        );
        assert_eq!(tracker.arrives(at(520), false, &ack(2)), Change::None);
        assert_eq!(
            tracker.arrives(at(531), false, &ack(3)),
            Change::Acknowledged
        );
        assert_eq!((tracker.delivered(), tracker.acknowledged()), (3000, 3000));
        assert_eq!(
            (tracker.packets_sent, tracker.sent, tracker.acks),
            (3, 3000, 3)
        );
        assert_eq!((tracker.retransmissions, tracker.spurious), (0, 0));
        assert_eq!(tracker.min_rtt(), Some(Duration::from_millis(499)));
        assert_eq!(tracker.mean_rtt(), Some(Duration::from_millis(509)));
        assert_eq!(
            (tracker.opened_at, tracker.first_data_at),
            (Some(at(0)), Some(at(10)))
        );
        assert_eq!(tracker.last_ack_at, Some(at(531)));
    }

    #[test]
    fn what_is_sent_again_gives_no_rtt_and_counts_as_spurious_if_it_was_there() {
        let mut tracker = open();
        for n in [0, 1, 2, 0] {
            tracker.leaves(at(10), true, &data(n));
        }
        assert_eq!(tracker.retransmissions, 1);
        // The first one is lost; its repetition comes last, and once more.
        assert_eq!(tracker.arrives(at(20), true, &data(1)), Change::None);
        assert_eq!(tracker.arrives(at(20), true, &data(2)), Change::None);
        assert_eq!(tracker.arrives(at(30), true, &data(2)), Change::None);
        assert_eq!(tracker.spurious, 1);
        assert_eq!(tracker.delivered(), 0);
        assert_eq!(tracker.arrives(at(40), true, &data(0)), Change::Delivered);
        assert_eq!(tracker.delivered(), 3000);
        tracker.arrives(at(50), false, &ack(1));
        assert_eq!(tracker.min_rtt(), None);
        tracker.arrives(at(60), false, &ack(3));
        assert_eq!(tracker.min_rtt(), Some(Duration::from_millis(50)));
    }

    #[test]
    fn the_fin_is_no_payload() {
        let mut tracker = open();
        tracker.leaves(at(1), true, &data(0));
        let fin = tcp(false, ACK, 1, ISN.wrapping_add(1002), 0);
        tracker.arrives(at(2), false, &fin);
        assert_eq!(tracker.acknowledged(), 1000);
    }

    #[test]
    fn a_further_connection_adds_to_those_before() {
        let mut tracker = open();
        tracker.leaves(at(1), true, &data(0));
        tracker.arrives(at(2), true, &data(0));
        tracker.arrives(at(3), false, &ack(1));
        let other = |flags, sequence, payload| Segment::Tcp {
            source_port: 40_001,
            destination_port: 5001,
            sequence,
            acknowledgement: 0,
            flags,
            payload,
        };
        tracker.leaves(at(4), true, &other(SYN, 5, 0));
        tracker.leaves(at(5), true, &other(ACK, 6, 500));
        tracker.arrives(at(6), true, &other(ACK, 6, 500));
        // Late from the first one: not of this connection.
        assert_eq!(tracker.arrives(at(7), true, &data(1)), Change::None);
        assert_eq!((tracker.delivered(), tracker.acknowledged()), (1500, 1000));
        assert_eq!(tracker.opened_at, Some(at(0)));
    }

    #[test]
    fn the_side_that_is_called_may_send_the_data() {
        let mut tracker = Tracker::default();
        tracker.leaves(at(0), false, &tcp(false, SYN, 77, 0, 0));
        tracker.leaves(at(5), true, &tcp(true, SYN | ACK, ISN, 78, 0));
        tracker.leaves(at(9), true, &data(0));
        assert_eq!(tracker.arrives(at(12), true, &data(0)), Change::Delivered);
        assert_eq!(tracker.first_data_at, Some(at(9)));
    }

    #[test]
    fn islands_join() {
        let mut connection = Connection::default();
        for (from, to) in [(10, 20), (30, 40), (20, 30), (5, 12), (50, 60)] {
            connection.add_island(from, to);
        }
        let islands: Vec<(u64, u64)> = connection.islands.into_iter().collect();
        assert_eq!(islands, [(5, 40), (50, 60)]);
    }
}
