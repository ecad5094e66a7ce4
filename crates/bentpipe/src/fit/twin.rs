//! A connection like a captured one: the same link, the same losses, a sender of one's choice.
//!
//! The twin runs the TCP of this workspace over a bottleneck that is fed with what the capture
//! showed: rate, round trip, queue. What the channel lost is lost again, by the number of the
//! transmission, so that a sender with the same congestion control meets its losses at the same
//! places.

use bentpipe_capture::{Builder, History};
use bentpipe_tcp::{Endpoint, Packet, Transport};
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// The link and the work of a twin.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) rate: Rate,
    /// The round trip without queues.
    pub(super) rtt: Duration,
    /// What may wait; `None` if the queue is not known to drop anything.
    pub(super) queue: Option<Bytes>,
    /// The numbers of data packets that the channel loses, in order.
    pub(super) lost: Vec<usize>,
    /// What is transferred.
    pub(super) payload: Bytes,
    /// Ends after this time from the first data on.
    pub(super) until: Duration,
    /// Data packets at most.
    pub(super) most: usize,
}

/// A packet and when it arrives.
type Arrival = (Time, Packet);

/// The bottleneck towards the receiver.
struct Bottleneck<'a> {
    course: &'a Course,
    /// When the transmitter is free.
    free: Time,
    /// Packets that wait: when their transmission begins, and their bytes.
    waiting: VecDeque<(Time, u64)>,
    waiting_bytes: u64,
    /// Data packets so far.
    data: usize,
}

impl Bottleneck<'_> {
    /// When the packet leaves at the far end; `None` if it is lost.
    fn pass(&mut self, now: Time, packet: &Packet) -> Option<Time> {
        while let Some((begins, bytes)) = self.waiting.front().copied()
            && begins <= now
        {
            self.waiting_bytes -= bytes;
            self.waiting.pop_front();
        }
        let bytes = u64::from(packet.bytes);
        let number = self.data;
        self.data += usize::from(packet.payload > 0);
        if self.free > now {
            let limit = self.course.queue.map_or(u64::MAX, Bytes::get);
            if self.waiting_bytes + bytes > limit {
                return None;
            }
            self.waiting.push_back((self.free, bytes));
            self.waiting_bytes += bytes;
        }
        let begins = self.free.max(now);
        self.free = begins + self.course.rate.transmission_time(Bytes::new(bytes));
        let lost = packet.payload > 0 && self.course.lost.binary_search(&number).is_ok();
        (!lost).then(|| self.free + self.course.rtt.scaled(0.5))
    }
}

/// What `transport` does on that course, as a capture at the sender would show it; `None` if
/// the transport cannot be built.
pub(super) fn run(transport: &Transport, course: &Course) -> Option<History> {
    let mut sender = Endpoint::new(transport, transport.controller().ok()?, 1);
    let mut receiver = Endpoint::new(transport, transport.controller().ok()?, 0);
    let mut link = Bottleneck {
        course,
        free: Time::ZERO,
        waiting: VecDeque::new(),
        waiting_bytes: 0,
        data: 0,
    };
    let back = course.rtt.scaled(0.5);
    let (mut there, mut here): (VecDeque<Arrival>, VecDeque<Arrival>) = Default::default();
    let mut builder = Builder::new(transport.mss, transport.header_bytes(), true);
    builder.handshake(None, true);
    let (mut now, mut begun) = (Time::ZERO, None);
    let mut out: Vec<Packet> = Vec::new();
    sender.write_last(now, course.payload, &mut out);
    receiver.open(now, &mut out);
    here.extend(out.drain(..).map(|packet| (now + back, packet)));
    loop {
        let arrival = |queue: &VecDeque<Arrival>| queue.front().map_or(Time::MAX, |(at, _)| *at);
        let times = [
            arrival(&there),
            arrival(&here),
            sender.deadline(),
            receiver.deadline(),
        ];
        let next = times.into_iter().min().unwrap_or(Time::MAX);
        let late = |from: Time| next.since(from) > course.until;
        if next == Time::MAX || begun.is_some_and(late) || link.data >= course.most {
            break;
        }
        if begun.is_none() && next.since(Time::ZERO) > course.until + course.rtt.scaled(4.0) {
            break;
        }
        now = now.max(next);
        if times[0] == next {
            if let Some((_, packet)) = there.pop_front() {
                receiver.on_packet(now, &packet, &mut out);
            }
            here.extend(out.drain(..).map(|packet| (now + back, packet)));
        } else if times[3] == next {
            receiver.on_deadline(now, &mut out);
            here.extend(out.drain(..).map(|packet| (now + back, packet)));
        } else {
            if times[1] == next {
                if let Some((_, packet)) = here.pop_front() {
                    note_ack(&mut builder, now, &packet);
                    sender.on_packet(now, &packet, &mut out);
                }
            } else {
                sender.on_deadline(now, &mut out);
            }
            for packet in out.drain(..) {
                if packet.payload > 0 {
                    begun = begun.or(Some(now));
                    builder.data(now.as_secs(), packet.sequence, u32::from(packet.payload));
                }
                if let Some(arrives) = link.pass(now, &packet) {
                    there.push_back((arrives, packet));
                }
            }
        }
    }
    Some(builder.build())
}

fn note_ack(builder: &mut Builder, now: Time, packet: &Packet) {
    let absolute = |offset: u32| {
        let offset = i64::from(offset.cast_signed());
        packet.acknowledgement.wrapping_add_signed(offset)
    };
    let blocks = packet.sack.map(|b| (absolute(b.start), absolute(b.end)));
    let blocks = &blocks[..usize::from(packet.sack_count).min(blocks.len())];
    builder.ack(
        now.as_secs(),
        packet.acknowledgement,
        blocks,
        None,
        packet.payload == 0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_capture::Link;

    fn course() -> Course {
        Course {
            rate: Rate::from_mbps(5),
            rtt: Duration::from_millis(100),
            queue: Some(Bytes::new(60_000)),
            lost: vec![40, 41, 400],
            payload: Bytes::new(3_000_000),
            until: Duration::from_secs(60),
            most: 100_000,
        }
    }

    #[test]
    fn a_twin_shows_the_link_that_it_ran_over() {
        let history = run(
            &super::super::control::candidate("reno").unwrap(),
            &course(),
        )
        .unwrap();
        assert_eq!(history.payload, 3_000_000);
        let link = Link::of(&history).unwrap();
        assert!((link.rate.value / 5e6 - 1.0).abs() < 0.01, "{link:?}");
        assert!((link.rtt.value / 0.1 - 1.0).abs() < 0.01, "{link:?}");
        assert_eq!(link.losses.lost_by_channel, [40, 41, 400], "{link:?}");
        assert_eq!(link.losses.dropped, 0, "{link:?}");
        // It never filled its queue; without losses of the channel it does.
        assert!(
            link.queue.is_bound() && link.queue.value < 60_000.0,
            "{link:?}"
        );
        let clean = Course {
            lost: Vec::new(),
            payload: Bytes::new(20_000_000),
            ..course()
        };
        let history = run(&super::super::control::candidate("reno").unwrap(), &clean).unwrap();
        let link = Link::of(&history).unwrap();
        assert!(
            link.losses.dropped > 0 && link.losses.channel.count == 0,
            "{link:?}"
        );
        assert_eq!(link.queue.value, 60_000.0, "{link:?}");
    }
}
