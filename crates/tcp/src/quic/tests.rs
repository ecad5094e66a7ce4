//! A stream over a pipe of 100 ms each way, with a turn every millisecond.

use crate::{Endpoint, Packet, Transmit, Transport};
use bentpipe_units::{Bytes, Duration, Time};

const ONE_WAY: Duration = Duration::from_millis(100);

struct Out(Vec<Packet>);

impl Transmit for Out {
    fn transmit(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

/// Sends `segments` full segments; `lost` says which data packets, counted from
/// zero, do not arrive. Returns when all had arrived, in milliseconds, and the sender.
fn run(segments: u64, lost: impl Fn(u64) -> bool) -> (u64, Endpoint) {
    let transport = Transport::of_tunnel();
    let end = |peer| {
        let mut end = Endpoint::new(&transport, transport.controller().unwrap(), peer);
        end.assume_window(Bytes::new(16_000_000));
        end.assume_stream(ONE_WAY * 2);
        end
    };
    let (mut from, mut to) = (end(1), end(0));
    let size = Bytes::new(segments * u64::from(transport.mss));
    let mut out = Out(Vec::new());
    from.write_last(Time::ZERO, size, &mut out);
    let mut pipe: Vec<(Time, Packet)> = Vec::new();
    let mut number = 0;
    for ms in 0..5_000 {
        let now = Time::ZERO + Duration::from_millis(ms);
        let due: Vec<Packet> = pipe
            .extract_if(.., |(at, _)| *at <= now)
            .map(|p| p.1)
            .collect();
        for packet in due {
            match packet.destination {
                0 => from.on_packet(now, &packet, &mut out),
                _ => to.on_packet(now, &packet, &mut out),
            }
        }
        for end in [&mut from, &mut to] {
            if end.deadline() <= now {
                end.on_deadline(now, &mut out);
            }
        }
        if to.delivered() == size {
            return (ms, from);
        }
        if from.wants_turn() {
            from.take_turn(now, &mut out);
        }
        for packet in out.0.drain(..) {
            let is_data = packet.destination == 1 && packet.payload > 0;
            let drops = is_data && lost(number);
            number += u64::from(is_data);
            if !drops {
                pipe.push((now + ONE_WAY, packet));
            }
        }
    }
    panic!("{} of {size} after 5 s", to.delivered());
}

#[test]
fn a_stream_takes_its_time_and_one_way() {
    let (ms, from) = run(50, |_| false);
    assert_eq!(ms, 49 + 100);
    assert_eq!(from.counters().retransmissions, 0);
    assert_eq!(from.counters().timeouts, 0);
}

/// The packet threshold: three later ones, and the copy arrives a round trip after
/// the third has.
#[test]
fn a_loss_is_found_by_three_later_packets() {
    let (ms, from) = run(50, |n| n == 10);
    // Packet 13 is the third after it; its ACK is back at 13 + 200.
    assert_eq!(ms, 13 + 200 + 100);
    assert_eq!(from.counters().retransmissions, 1);
    assert_eq!(from.counters().recoveries, 1);
}

/// The time threshold: with one later packet alone, nine eighths of a round trip.
#[test]
fn a_loss_near_the_end_is_found_by_time() {
    let (ms, from) = run(50, |n| n == 48);
    let after = ms - 48 - 100;
    // The delay of ACKs is in the round trip.
    assert!((225..245).contains(&after), "{after} ms");
    assert_eq!(from.counters().timeouts, 0);
}

/// The tail: a probe timeout after the last packet, srtt + 1 ms + 25 ms and the
/// deviation, which the delay of ACKs raises.
#[test]
fn a_lost_tail_is_probed() {
    let (ms, from) = run(50, |n| n == 49);
    assert_eq!(from.counters().timeouts, 1);
    let after = ms - 49 - 100;
    assert!((226..270).contains(&after), "{after} ms");
}

/// A copy that is lost is found lost by what was sent after it.
#[test]
fn a_lost_copy_is_sent_again() {
    // Packet 213 is the copy of packet 10.
    let (ms, from) = run(500, |n| n == 10 || n == 214);
    assert_eq!(ms, 500 + 1 + 100, "it hides behind the rest");
    assert_eq!(from.counters().retransmissions, 2);
    assert_eq!(from.counters().timeouts, 0);
}
