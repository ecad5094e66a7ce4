//! Trains of ACKs through a box.

use super::*;
use crate::connections::Connections;
use crate::interface::{Pass, Side, Surroundings};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::flags;
use bentpipe_units::Time;

const SEGMENT: u64 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn around(ms: u64) -> Surroundings {
    Surroundings {
        now: at(ms),
        room: true,
    }
}

/// A box that data of one connection has passed.
fn working(settings: ReconstructionSettings) -> Connections<Connection> {
    let mut acks = Connections::new(settings);
    let mut data = Packet::new(1);
    data.payload = SEGMENT as u16;
    data.flags = flags::ACK;
    let mut out: Vec<Packet> = Vec::new();
    let pass = acks.on_packet(around(0), Side::Toward, &data, &mut out);
    assert_eq!((pass, out.len()), (Pass::Forward, 0));
    acks
}

/// An ACK of the first `segments`.
fn ack(segments: u64) -> Packet {
    let mut packet = Packet::new(0);
    packet.acknowledgement = segments * SEGMENT;
    packet.flags = flags::ACK;
    packet.window = 64_000;
    packet
}

/// What leaves for the sender while these come, each at its time in ms: time in
/// ms, and segments.
fn leaves(acks: &mut Connections<Connection>, comes: &[(u64, Packet)]) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    let mut note = |now: Time, packets: &[Packet]| {
        let each = packets.iter().map(|p| p.acknowledgement / SEGMENT);
        left.extend(each.map(|number| (now.as_nanos() / 1_000_000, number)));
    };
    let timers =
        |acks: &mut Connections<Connection>, until: Time, note: &mut dyn FnMut(Time, &[Packet])| {
            while acks.deadline() < until {
                let (now, mut out) = (acks.deadline(), Vec::new());
                acks.on_deadline(now, &mut out);
                note(now, &out);
            }
        };
    for (ms, packet) in comes {
        timers(acks, at(*ms), &mut note);
        let mut out = Vec::new();
        let pass = acks.on_packet(around(*ms), Side::Back, packet, &mut out);
        note(at(*ms), &out);
        if pass == Pass::Forward {
            note(at(*ms), &[*packet]);
        }
    }
    timers(acks, Time::MAX, &mut note);
    left
}

#[test]
fn the_worked_example_four_acks_for_one_25_ms_apart() {
    let mut acks = working(ReconstructionSettings::default());
    let comes = [(100, ack(2)), (200, ack(10)), (300, ack(18))];
    let left = leaves(&mut acks, &comes);
    let expected = [
        (100, 2),
        (200, 4),
        (225, 6),
        (250, 8),
        (275, 10),
        (300, 12),
        (325, 14),
        (350, 16),
        (375, 18),
    ];
    assert_eq!(left, expected);
    assert_eq!(
        (acks.counters().acknowledged, acks.counters().suppressed),
        (8, 2)
    );
}

#[test]
fn acks_of_a_receiver_that_nothing_filtered_pass_untouched() {
    let mut acks = working(ReconstructionSettings::default());
    let comes: Vec<_> = (1..20).map(|i| (10 * i, ack(2 * i))).collect();
    let expected: Vec<_> = (1..20).map(|i| (10 * i, 2 * i)).collect();
    assert_eq!(leaves(&mut acks, &comes), expected);
    assert_eq!(acks.counters().acknowledged, 0);
}

#[test]
fn a_backlog_shrinks_the_spacing_and_drains() {
    let mut acks = working(ReconstructionSettings::default());
    // The third comes while one of the four of the second still waits: five in
    // all, within the mean time of 7/8 x 100 ms + 1/8 x 60 ms = 95 ms.
    let comes = [(100, ack(2)), (200, ack(10)), (260, ack(18))];
    let left = leaves(&mut acks, &comes);
    assert_eq!(left[..4], [(100, 2), (200, 4), (225, 6), (250, 8)]);
    let times: Vec<u64> = left[4..].iter().map(|(ms, _)| *ms).collect();
    assert_eq!(times, [269, 288, 307, 326, 345]);
    assert_eq!(left.last(), Some(&(345, 18)));
}

#[test]
fn what_says_more_than_a_number_passes_behind_what_is_held() {
    let mut acks = working(ReconstructionSettings::default());
    // A duplicate, then an ECN echo.
    let mut echo = ack(30);
    echo.flags |= flags::ECE;
    let comes = [
        (100, ack(2)),
        (200, ack(10)),
        (210, ack(10)),
        (300, echo),
        (310, ack(28)),
    ];
    let left = leaves(&mut acks, &comes);
    let expected = [(100, 2), (200, 4), (210, 10), (210, 10), (300, 30)];
    assert_eq!(left, expected, "what came late ended at the box");
}

#[test]
fn the_window_keeps_its_right_edge_and_no_ack_exceeds_the_receivers() {
    let mut acks = working(ReconstructionSettings::default());
    let mut out = Vec::new();
    for (ms, segments) in [(100, 2), (200, 11)] {
        let _ = acks.on_packet(around(ms), Side::Back, &ack(segments), &mut out);
    }
    while acks.deadline() < Time::MAX {
        acks.on_deadline(acks.deadline(), &mut out);
    }
    let numbers: Vec<u64> = out.iter().map(|p| p.acknowledgement / SEGMENT).collect();
    assert_eq!(numbers, [4, 6, 8, 10, 11]);
    let edges = out.iter().map(|p| p.acknowledgement + u64::from(p.window));
    assert!(edges.eq([75_000; 5]));
}

#[test]
fn a_fixed_spacing_is_kept_and_a_pause_is_no_sample() {
    let fixed = ReconstructionSettings {
        spacing: Some(Duration::from_millis(10)),
        threshold: 4,
        ..ReconstructionSettings::default()
    };
    let left = leaves(&mut working(fixed), &[(100, ack(4)), (200, ack(16))]);
    assert_eq!(left, [(100, 4), (200, 8), (210, 12), (220, 16)]);
    // 900 ms without an ACK: without a sample the spacing is none, and all of
    // them leave together.
    let mut acks = working(ReconstructionSettings::default());
    let left = leaves(&mut acks, &[(100, ack(2)), (1000, ack(8))]);
    assert_eq!(left, [(100, 2), (1000, 4), (1000, 6), (1000, 8)]);
}
