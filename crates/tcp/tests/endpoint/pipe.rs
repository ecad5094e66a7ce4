//! Two endpoints and a pipe of constant delay between them, with scripted
//! losses, delays and marks.

use bentpipe_tcp::packet::{ecn, flags};
use bentpipe_tcp::{
    CongestionControlChoice, DelayedAck, Endpoint, HostProfile, Pacing, Packet, Recovery, Transport,
};
use bentpipe_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub(crate) const MSS: u32 = 1000;
pub(crate) const ONE_WAY: Duration = Duration::from_millis(50);

/// A NewReno window over SACK that acknowledges every segment: the plainest
/// transport, for tests to change.
pub(crate) fn plain() -> Transport {
    Transport {
        name: "test".into(),
        congestion_control: CongestionControlChoice::Named("newreno".into()),
        parameters: bentpipe_cc::Parameters::new(),
        profile: HostProfile::Rfc,
        recovery: Recovery::Sack,
        mss: MSS,
        initial_window: 6.0,
        initial_ssthresh: None,
        send_buffer: Bytes::new(1 << 40),
        receive_buffer: Bytes::new(1 << 30),
        delayed_ack: DelayedAck {
            count: 1,
            timer: Duration::from_millis(40),
            quick_acks: 0,
        },
        timestamps: true,
        limited_transmit: false,
        recovery_fix: false,
        undo: false,
        pacing: Pacing::Off,
        ecn: false,
        minimum_rto: None,
        polling: bentpipe_tcp::Polling::default(),
        quic: None,
        tls: None,
        kernel: bentpipe_tcp::KernelSettings::DEFAULT,
    }
}

/// What the pipe does to a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    Delay(Duration),
    Mark,
}

/// A data packet that was sent: when, which segment, and what happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) segment: u64,
    pub(crate) fate: Fate,
}

/// Decides what happens to a packet on its way to an end.
type Script = dyn FnMut(usize, &Packet) -> Fate;

pub(crate) struct Pipe {
    pub(crate) ends: [Endpoint; 2],
    pub(crate) now: Time,
    /// Data packets that were sent, probes left out.
    pub(crate) sent: Vec<Sent>,
    /// Probes that were sent.
    pub(crate) probes: Vec<Sent>,
    queue: BinaryHeap<Reverse<(Time, u64, usize)>>,
    packets: Vec<Packet>,
    order: u64,
    script: Box<Script>,
    /// Time that a byte takes at the transmitter of each direction; zero sends
    /// at once.
    pub(crate) byte_time: Duration,
    pub(crate) one_way: Duration,
    /// Packets that may wait for the transmitter to end 1, besides the one in
    /// transmission.
    pub(crate) limit: Option<usize>,
    /// When each packet in the transmitter to end 1 leaves it.
    leaving: VecDeque<Time>,
    free: [Time; 2],
    /// Every packet to end 1, if a test records them.
    pub(crate) packets_seen: Option<Vec<Packet>>,
    /// Corrupted packets that links tell of with the first transmission of a
    /// segment.
    pub(crate) reports: Vec<(u64, u32)>,
    /// Bytes of a segment in `sent`.
    mss: u64,
}

impl Pipe {
    /// An open connection from end 0 to end 1. `fate` sees every packet and
    /// the end that it goes to.
    pub(crate) fn open(
        transport: &Transport,
        fate: impl FnMut(usize, &Packet) -> Fate + 'static,
    ) -> Pipe {
        let mut pipe = Pipe::closed(transport, fate);
        pipe.ends[0].assume_open();
        pipe.ends[1].assume_open();
        pipe
    }

    pub(crate) fn closed(
        transport: &Transport,
        fate: impl FnMut(usize, &Packet) -> Fate + 'static,
    ) -> Pipe {
        let end = |peer| Endpoint::new(transport, transport.controller().unwrap(), peer);
        Pipe {
            ends: [end(1), end(0)],
            now: Time::ZERO,
            sent: Vec::new(),
            probes: Vec::new(),
            queue: BinaryHeap::new(),
            packets: Vec::new(),
            order: 0,
            script: Box::new(fate),
            byte_time: Duration::ZERO,
            one_way: ONE_WAY,
            limit: None,
            leaving: VecDeque::new(),
            free: [Time::ZERO; 2],
            packets_seen: None,
            reports: Vec::new(),
            mss: u64::from(transport.mss.max(1)),
        }
    }

    pub(crate) fn connect(&mut self) {
        let mut out = Vec::new();
        self.ends[0].open(self.now, &mut out);
        self.carry(out);
    }

    /// Gives a test access to end `end` now.
    pub(crate) fn act(
        &mut self,
        end: usize,
        act: impl FnOnce(&mut Endpoint, Time, &mut Vec<Packet>),
    ) {
        let mut out = Vec::new();
        act(&mut self.ends[end], self.now, &mut out);
        self.carry(out);
    }

    /// End 0 sends `segments` full segments.
    pub(crate) fn write(&mut self, segments: u64) {
        let mut out = Vec::new();
        self.ends[0].write(self.now, Bytes::new(segments * u64::from(MSS)), &mut out);
        self.carry(out);
    }

    fn carry(&mut self, packets: Vec<Packet>) {
        for mut p in packets {
            let to = p.destination as usize;
            if to == 1 && self.is_full(p) {
                continue;
            }
            let fate = (self.script)(to, &p);
            if let (1, Some(seen)) = (to, &mut self.packets_seen) {
                seen.push(p);
            }
            if to == 1 && p.payload > 0 {
                let segment = p.sequence / self.mss;
                if let Some(i) = self.reports.iter().position(|r| r.0 == segment) {
                    p.report_corruption(self.reports.remove(i).1);
                }
                let list = if p.has(flags::PROBE) {
                    &mut self.probes
                } else {
                    &mut self.sent
                };
                list.push(Sent {
                    at: self.now,
                    segment,
                    fate,
                });
            }
            let free = &mut self.free[to];
            *free = (*free).max(self.now) + self.byte_time * u64::from(p.bytes);
            if to == 1 && self.limit.is_some() {
                self.leaving.push_back(*free);
            }
            let extra = match fate {
                Fate::Drop => continue,
                Fate::Delay(extra) => extra,
                Fate::Mark => {
                    if p.ecn == ecn::CAPABLE {
                        p.ecn = ecn::MARKED;
                    }
                    Duration::ZERO
                }
                Fate::Deliver => Duration::ZERO,
            };
            self.order += 1;
            self.packets.push(p);
            let at = *free + self.one_way + extra;
            self.queue
                .push(Reverse((at, self.order, self.packets.len() - 1)));
        }
    }

    /// True if the transmitter to end 1 drops `packet`, which counts as sent.
    fn is_full(&mut self, packet: Packet) -> bool {
        let Some(limit) = self.limit else {
            return false;
        };
        while self.leaving.front().is_some_and(|&at| at < self.now) {
            self.leaving.pop_front();
        }
        let full = self.leaving.len() > limit;
        if let (true, Some(seen)) = (full, &mut self.packets_seen) {
            seen.push(packet);
        }
        full
    }

    /// Does the next thing that happens before `end`; false if nothing does.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let arrival = self.queue.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let timers = [self.ends[0].deadline(), self.ends[1].deadline()];
        let next = arrival.min(timers[0]).min(timers[1]);
        if next > end {
            return false;
        }
        self.now = next;
        let mut out = Vec::new();
        if arrival == next {
            let Some(Reverse((_, _, i))) = self.queue.pop() else {
                return false;
            };
            let packet = self.packets[i];
            self.ends[packet.destination as usize].on_packet(next, &packet, &mut out);
        } else {
            let end = usize::from(timers[1] == next && timers[0] != next);
            self.ends[end].on_deadline(next, &mut out);
        }
        self.carry(out);
        true
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.step(end) {}
        self.now = end;
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.ends[0].snapshot().cwnd
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.ends[0].snapshot().ssthresh
    }

    /// Segments sent in each round trip of twice the one-way delay.
    pub(crate) fn rounds(&self) -> Vec<usize> {
        let rtt = 2 * ONE_WAY.as_nanos();
        let mut rounds = Vec::new();
        for s in &self.sent {
            let round = (s.at.as_nanos() / rtt) as usize;
            rounds.resize(rounds.len().max(round + 1), 0);
            rounds[round] += 1;
        }
        rounds
    }
}

/// Drops the first transmission of the given segments.
pub(crate) fn drop_once(segments: &[u64]) -> impl FnMut(usize, &Packet) -> Fate + use<> {
    let mut left = segments.to_vec();
    move |_, p| {
        let segment = p.sequence / u64::from(MSS);
        match left.iter().position(|&s| s == segment) {
            Some(i) if p.payload > 0 => {
                left.remove(i);
                Fate::Drop
            }
            _ => Fate::Deliver,
        }
    }
}

pub(crate) fn is_syn(p: &Packet) -> bool {
    p.has(flags::SYN)
}
