use super::*;
use crate::connections::Connections;
use crate::interface::{Pass, Side, Surroundings};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::flags;
use bentpipe_units::Time;

const MSS: u64 = 1000;

struct Bench {
    spoof: Connections<Connection>,
    sent: Vec<Packet>,
    now: Time,
}

impl Bench {
    fn new(cache: u32) -> Bench {
        let settings = SpoofSettings {
            cache,
            ..SpoofSettings::default()
        };
        Bench {
            spoof: Connections::new(settings),
            sent: Vec::new(),
            now: Time::ZERO,
        }
    }

    fn pass(&mut self, side: Side, packet: Packet, room: bool) -> Pass {
        self.now += Duration::from_millis(1);
        let around = Surroundings {
            now: self.now,
            room,
        };
        self.spoof.on_packet(around, side, &packet, &mut self.sent)
    }

    /// Segment `n`, from 1; the ACK that the box answers with.
    fn data(&mut self, n: u64) -> (Pass, Packet) {
        let pass = self.pass(Side::Toward, data(n), true);
        (pass, self.sent.pop().unwrap())
    }

    /// The receiver has everything up to segment `n`.
    fn ack(&mut self, n: u64) -> Pass {
        self.pass(Side::Back, ack(n), true)
    }

    /// Segments that the box has sent.
    fn resent(&mut self) -> Vec<u64> {
        let data = self.sent.iter().filter(|p| p.payload > 0);
        let segments = data.map(|p| p.sequence / MSS + 1).collect();
        self.sent.clear();
        segments
    }
}

fn data(n: u64) -> Packet {
    let mut packet = Packet::new(1);
    packet.sequence = (n - 1) * MSS;
    packet.payload = MSS as u16;
    packet.bytes = MSS as u16 + 52;
    packet.flags = flags::ACK;
    packet.timestamp = 77;
    packet
}

fn ack(n: u64) -> Packet {
    let mut packet = Packet::new(0);
    packet.acknowledgement = n * MSS;
    packet.window = 1_000_000;
    packet.bytes = 52;
    packet.flags = flags::ACK;
    packet
}

#[test]
fn it_answers_for_the_receiver() {
    let mut bench = Bench::new(100);
    for n in 1..=3 {
        let (pass, ack) = bench.data(n);
        assert_eq!(pass, Pass::Forward);
        assert_eq!((ack.destination, ack.acknowledgement), (0, n * MSS));
        assert_eq!((ack.bytes, ack.sack_count, ack.timestamp_echo), (52, 0, 77));
    }
    // The receiver's own ends here.
    assert_eq!(bench.ack(2), Pass::Suppress);
    assert!(bench.sent.is_empty());
    let counters = bench.spoof.counters();
    assert_eq!((counters.acknowledged, counters.suppressed), (3, 1));
}

#[test]
fn losses_of_the_leg_are_its_own() {
    let mut bench = Bench::new(100);
    for n in 1..=5 {
        bench.data(n);
    }
    assert_eq!(bench.ack(1), Pass::Suppress);
    assert_eq!(bench.ack(1), Pass::Suppress);
    assert_eq!(bench.resent(), []);
    assert_eq!(bench.ack(1), Pass::Suppress);
    assert_eq!(bench.resent(), [2]);
    assert_eq!(bench.ack(1), Pass::Suppress);
    assert_eq!(bench.resent(), [], "once for one loss");
    // Lost again: the timer, as often as it takes.
    for _ in 0..30 {
        while bench.sent.is_empty() {
            bench.now = bench.spoof.deadline();
            assert_ne!(bench.now, Time::MAX);
            bench.spoof.on_deadline(bench.now, &mut bench.sent);
        }
        assert_eq!(bench.resent(), [2]);
    }
    assert_eq!(bench.ack(5), Pass::Suppress);
    bench.now = bench.spoof.deadline();
    bench.spoof.on_deadline(bench.now, &mut bench.sent);
    assert_eq!(bench.spoof.deadline(), Time::MAX);
    assert_eq!(bench.spoof.counters().timeouts, 30);
}

#[test]
fn what_is_lost_before_it_the_sender_hears_of() {
    let mut bench = Bench::new(100);
    assert_eq!(bench.data(1).1.acknowledgement, MSS);
    let blocks = |ack: &Packet| -> Vec<(u32, u32)> {
        let blocks = &ack.sack[..usize::from(ack.sack_count)];
        blocks.iter().map(|b| (b.start, b.end)).collect()
    };
    let third = bench.data(3).1;
    assert_eq!(third.acknowledgement, MSS);
    assert_eq!(blocks(&third), [(1000, 2000)]);
    assert_eq!(third.bytes, 52 + 12);
    bench.data(4);
    let sixth = bench.data(6).1;
    assert_eq!(blocks(&sixth), [(4000, 5000), (1000, 3000)]);
    bench.data(8);
    bench.data(10);
    // Four runs, the one that grew last first, then the highest.
    let fifth = bench.data(5).1;
    assert_eq!(blocks(&fifth), [(1000, 5000), (8000, 9000), (6000, 7000)]);
    let second = bench.data(2).1;
    assert_eq!(second.acknowledgement, 6 * MSS);
    assert_eq!(blocks(&second), [(3000, 4000), (1000, 2000)]);
    // What it has it does not forward again.
    assert_eq!(bench.data(4).0, Pass::Suppress);
}

#[test]
fn congestion_behind_it_is_the_senders() {
    let mut bench = Bench::new(100);
    bench.data(1);
    assert_eq!(bench.pass(Side::Toward, data(2), false), Pass::Forward);
    assert!(bench.sent.is_empty(), "nobody answers for it");
    assert_eq!(bench.data(3).1.acknowledgement, MSS);
    // It arrived nevertheless, and the receiver acknowledges it.
    assert_eq!(bench.ack(2), Pass::Suppress);
    assert_eq!(bench.sent.pop().unwrap().acknowledgement, 3 * MSS);
}

#[test]
fn a_full_cache_shuts_the_window_and_opens_it_again() {
    let mut bench = Bench::new(4);
    bench.pass(
        Side::Back,
        {
            let mut syn = ack(0);
            syn.flags |= flags::SYN;
            syn
        },
        true,
    );
    let windows: Vec<u32> = (1..=4).map(|n| bench.data(n).1.window).collect();
    assert_eq!(windows, [3000, 2000, 1000, 0]);
    // A segment less is not worth an ACK; two are.
    assert_eq!(bench.ack(1), Pass::Suppress);
    assert!(bench.sent.is_empty());
    assert_eq!(bench.ack(2), Pass::Suppress);
    let update = bench.sent.pop().unwrap();
    assert_eq!((update.acknowledgement, update.window), (4 * MSS, 2000));
}

#[test]
fn the_receivers_window_is_the_limit() {
    let mut bench = Bench::new(100);
    let mut syn = ack(0);
    syn.flags |= flags::SYN;
    syn.window = 3000;
    assert_eq!(bench.pass(Side::Back, syn, true), Pass::Forward);
    let windows: Vec<u32> = (1..=3).map(|n| bench.data(n).1.window).collect();
    assert_eq!(windows, [2000, 1000, 0]);
}

#[test]
fn blocks_and_partial_acks_say_what_else_is_missing() {
    let mut bench = Bench::new(100);
    for n in 1..=12 {
        bench.data(n);
    }
    // 2, 5 and 9 are lost; without SACK one after the other.
    for _ in 0..3 {
        assert_eq!(bench.ack(1), Pass::Suppress);
    }
    assert_eq!(bench.resent(), [2]);
    assert_eq!(bench.ack(4), Pass::Suppress);
    assert_eq!(bench.resent(), [5]);
    // With a block: 6 to 8, and 10 to 12.
    let mut sack = ack(5);
    sack.acknowledgement = 4 * MSS;
    sack.sack[0].start = 5000;
    sack.sack[0].end = 8000;
    sack.sack[1].start = 1000;
    sack.sack[1].end = 4000;
    sack.sack_count = 2;
    assert_eq!(bench.pass(Side::Back, sack, true), Pass::Suppress);
    assert_eq!(bench.resent(), [9]);
    assert_eq!(bench.pass(Side::Back, sack, true), Pass::Suppress);
    assert_eq!(bench.resent(), [], "once");
    // A duplicate report marks nothing.
    let mut report = ack(4);
    report.sack[0].start = 0_u32.wrapping_sub(2000);
    report.sack[0].end = 0_u32.wrapping_sub(1000);
    report.sack_count = 1;
    assert_eq!(bench.pass(Side::Back, report, true), Pass::Suppress);
    assert_eq!(bench.resent(), []);
}
