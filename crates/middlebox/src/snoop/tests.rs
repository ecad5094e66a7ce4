use super::*;
use crate::connections::Connections;
use crate::interface::{Pass, Side, Surroundings};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{ecn, flags};
use bentpipe_units::Time;

const MSS: u64 = 1000;

/// A box, what it sent, and the clock.
struct Bench {
    snoop: Connections<Connection>,
    sent: Vec<Packet>,
    now: Time,
}

impl Bench {
    fn new(settings: SnoopSettings) -> Bench {
        Bench {
            snoop: Connections::new(settings),
            sent: Vec::new(),
            now: Time::ZERO,
        }
    }

    fn after(&mut self, ms: u64) -> &mut Bench {
        self.now += Duration::from_millis(ms);
        self
    }

    fn pass(&mut self, side: Side, packet: Packet, room: bool) -> Pass {
        let around = Surroundings {
            now: self.now,
            room,
        };
        self.snoop.on_packet(around, side, &packet, &mut self.sent)
    }

    /// Segment `n`, from 1, of flow 0.
    fn data(&mut self, n: u64) {
        assert_eq!(self.pass(Side::Toward, data(1, n), true), Pass::Forward);
    }

    /// The receiver has everything up to segment `n`.
    fn ack(&mut self, n: u64) -> Pass {
        self.pass(Side::Back, ack(0, n), true)
    }

    /// Lets time pass until the box sends, or has no timer; that time.
    fn time_out(&mut self) -> Time {
        // A deadline that moved later may be called for nothing.
        loop {
            self.now = self.snoop.deadline();
            self.snoop.on_deadline(self.now, &mut self.sent);
            if !self.sent.is_empty() || self.snoop.deadline() == Time::MAX {
                return self.now;
            }
        }
    }

    /// The segments that the box sent since the last call.
    fn resent(&mut self) -> Vec<u64> {
        let segments = self.sent.iter().map(|p| p.sequence / MSS + 1).collect();
        self.sent.clear();
        segments
    }
}

fn data(destination: u32, n: u64) -> Packet {
    let mut packet = Packet::new(destination);
    packet.sequence = (n - 1) * MSS;
    packet.payload = MSS as u16;
    packet.bytes = MSS as u16 + 40;
    packet.flags = flags::ACK;
    packet
}

fn ack(destination: u32, n: u64) -> Packet {
    let mut packet = Packet::new(destination);
    packet.acknowledgement = n * MSS;
    packet.bytes = 40;
    packet.flags = flags::ACK;
    packet
}

fn standard() -> Bench {
    Bench::new(SnoopSettings::default())
}

fn ns2() -> Bench {
    Bench::new(SnoopSettings {
        variant: SnoopVariant::Ns2,
        ..SnoopSettings::default()
    })
}

/// 1 to 5 cached, 2 lost: ACK 1, a duplicate that passes, one that makes the
/// box send 2 again, one that is awaited, ACK 5. The sender sees one duplicate.
#[test]
fn a_loss_costs_the_sender_one_duplicate() {
    for mut bench in [standard(), ns2()] {
        (1..=5).for_each(|n| bench.data(n));
        bench.after(50);
        assert_eq!(bench.ack(1), Pass::Forward);
        assert_eq!(bench.ack(1), Pass::Forward);
        assert_eq!(bench.resent(), []);
        assert_eq!(bench.ack(1), Pass::Suppress);
        assert_eq!(bench.resent(), [2]);
        assert_eq!(bench.ack(1), Pass::Suppress);
        assert_eq!(bench.ack(5), Pass::Forward);
        assert_eq!(bench.resent(), []);
        let counters = bench.snoop.counters();
        assert_eq!((counters.cached, counters.suppressed), (5, 2));
        assert_eq!(counters.local_retransmissions, 1);
    }
}

#[test]
fn what_the_sender_sends_again_it_hears_of() {
    let mut bench = standard();
    (1..=6).for_each(|n| bench.data(n));
    bench.ack(1);
    bench.data(2);
    for _ in 0..4 {
        assert_eq!(bench.ack(1), Pass::Forward);
    }
    assert_eq!(bench.resent(), []);
}

#[test]
fn what_never_came_here_is_the_senders() {
    // 2 was lost before the box.
    let mut bench = standard();
    [1, 3, 4, 5].into_iter().for_each(|n| bench.data(n));
    bench.ack(1);
    for _ in 0..4 {
        assert_eq!(bench.ack(1), Pass::Forward);
    }
    // Late, it is at the head and marked as the sender's.
    bench.data(2);
    assert_eq!(bench.ack(1), Pass::Forward);
    assert_eq!(bench.ack(1), Pass::Forward);
    assert_eq!(bench.resent(), []);
}

#[test]
fn what_the_queue_drops_is_not_cached() {
    let mut bench = standard();
    bench.data(1);
    let pass = bench.pass(Side::Toward, data(1, 2), false);
    assert_eq!(pass, Pass::Forward);
    bench.data(3);
    bench.ack(1);
    (0..3).for_each(|_| assert_eq!(bench.ack(1), Pass::Forward));
    assert_eq!(bench.resent(), []);
    assert_eq!(bench.snoop.counters().overflow, 1);
}

#[test]
fn the_timer_sends_the_oldest_again_ten_times() {
    let mut bench = standard();
    bench.data(1);
    bench.data(2);
    // Without a sample: 100 ms + 4 x 250 ms.
    for k in 1..=10 {
        assert_eq!(
            bench.time_out(),
            Time::ZERO + Duration::from_millis(1100) * k
        );
        assert_eq!(bench.resent(), [1]);
    }
    bench.time_out();
    assert_eq!(bench.resent(), []);
    assert_eq!(bench.snoop.deadline(), Time::MAX);
    assert_eq!(bench.snoop.counters().timeouts, 10);
    // What comes next arms it again, for nothing: the head has had its share.
    bench.data(3);
    bench.time_out();
    assert_eq!(bench.resent(), []);
}

#[test]
fn averages_of_the_two_variants() {
    // One sample of 40 ms. ns-2: srtt = 12.5 + 35 = 47.5 ms, rttvar = 7.5 / 8
    // + 7 / 8 x 250 = 219.6875 ms. Standard: 40 and 20 ms, timer 120 ms. The
    // timer that the ACK armed still has the first estimate.
    for (mut bench, timer) in [(standard(), 120_000), (ns2(), 926_250)] {
        bench.data(1);
        bench.data(2);
        bench.after(40).ack(1);
        let armed = bench.now + Duration::from_millis(1100);
        assert_eq!(bench.time_out(), armed);
        assert_eq!(bench.time_out(), armed + Duration::from_micros(timer));
    }
}

#[test]
fn the_timer_is_never_shorter_than_a_tick() {
    let mut bench = standard();
    bench.data(1);
    bench.after(1).ack(1);
    bench.data(2);
    let sent = bench.now;
    assert_eq!(bench.time_out(), sent + Duration::from_millis(100));
}

#[test]
fn one_counter_for_all_is_a_quirk_of_ns2() {
    // A single duplicate of flow 0, then a loss of flow 1.
    for (mut bench, first) in [(standard(), Pass::Forward), (ns2(), Pass::Suppress)] {
        (1..=4).for_each(|n| bench.data(n));
        bench.ack(1);
        assert_eq!(bench.ack(1), Pass::Forward);
        for n in 1..=4 {
            let _ = bench.pass(Side::Toward, data(3, n), true);
        }
        let _ = bench.pass(Side::Back, ack(2, 1), true);
        assert_eq!(bench.pass(Side::Back, ack(2, 1), true), first);
    }
}

#[test]
fn a_full_cache_loses_count_in_ns2() {
    let full = SnoopSettings {
        cache: 4,
        ..SnoopSettings::default()
    };
    for (variant, later) in [
        (SnoopVariant::Standard, Pass::Suppress),
        (SnoopVariant::Ns2, Pass::Forward),
    ] {
        let mut bench = Bench::new(SnoopSettings { variant, ..full });
        (1..=6).for_each(|n| bench.data(n));
        assert_eq!(bench.snoop.counters().overflow, 2);
        bench.ack(0);
        assert_eq!(bench.ack(0), Pass::Suppress);
        assert_eq!(bench.resent(), [1]);
        assert_eq!(bench.ack(0), later);
    }
}

#[test]
fn what_is_no_duplicate_passes() {
    let mut bench = standard();
    (1..=5).for_each(|n| bench.data(n));
    bench.ack(1);
    for window in [10, 20, 30] {
        let mut update = ack(0, 1);
        update.window = window;
        assert_eq!(bench.pass(Side::Back, update, true), Pass::Forward);
    }
    let mut data_back = data(0, 1);
    data_back.acknowledgement = MSS;
    data_back.window = 30;
    assert_eq!(bench.pass(Side::Back, data_back, true), Pass::Forward);
    let mut datagram = Packet::new(1);
    (datagram.payload, datagram.ecn) = (1000, ecn::NOT_CAPABLE);
    assert_eq!(bench.pass(Side::Toward, datagram, true), Pass::Forward);
    assert_eq!(bench.snoop.counters().cached, 5);
    assert_eq!(bench.resent(), []);
}

#[test]
fn a_syn_begins_a_new_connection() {
    let mut bench = standard();
    bench.data(1);
    let mut syn = Packet::new(1);
    syn.flags = flags::SYN;
    assert_eq!(bench.pass(Side::Toward, syn, true), Pass::Forward);
    bench.time_out();
    assert_eq!(bench.resent(), []);
}
