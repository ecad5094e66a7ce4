//! ALOHA, slotted and unslotted.
//!
//! Sources: N. Abramson, *The ALOHA system*, AFIPS FJCC, 1970 (unslotted); L.
//! Roberts, *ALOHA packet system with and without slots and capture*, ACM CCR
//! 5(2), 1975 (slotted); the rules of sending again are those of ns-2's
//! `Mac/Sat/UnslottedAloha` (satellite/satlink.cc).
//!
//! A terminal sends the packet at the head of its queue at once (slotted: when
//! the next slot begins). Two transmissions that overlap destroy each other. A
//! bent pipe repeats everything, so a terminal hears its own packet one hop
//! later; it then takes the next. If it has not heard it `timeout` after its
//! last bit, it pauses for an exponential time and sends it again, and after
//! `retransmissions` of these it gives the packet up.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | slot | none (unslotted) | time |
//! | timeout | 270 ms | after the last bit |
//! | mean_backoff | 1 s | |
//! | retransmissions | 3 | |
//! | spread | 2 ms | of the times after which terminals hear themselves |
//!
//! Terminals are not equally far from the satellite. Were they, those that
//! always have something to send would send again exactly one hop after a
//! success, and all that ever succeeded would keep out of each other's way for
//! ever: the channel would carry half as much again as the formula allows.
//! Where the satellite hears them is what counts, so a distance only changes
//! when a terminal hears itself: a part of `spread` later, drawn once.
//!
//! Where we part from ns-2: its terminals have places and its receivers judge
//! collisions where they are; as they all hear the satellite, that is the
//! satellite's judgement. Its header of 16 bytes per packet is the link's
//! framing here. A time-out shorter than the hop would make every packet go at
//! least twice; it counts as the hop.

use super::{AlohaSettings, Common, Ports};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub(super) struct Aloha {
    slot: Option<Duration>,
    hop: Duration,
    timeout: Duration,
    mean_backoff: f64,
    retransmissions: u32,
    stations: Vec<Station>,
    /// What will happen, the first first; at most one entry a station.
    agenda: BinaryHeap<Reverse<(Time, Step, u32)>>,
    /// Stations that transmit.
    on_air: Vec<u32>,
}

/// What happens to a station. At the same instant, transmissions end before
/// others begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Its transmission ends.
    End,
    /// It has heard its packet, or not.
    Hear,
    /// Its transmission begins.
    Begin,
}

#[derive(Clone, Debug)]
struct Station {
    /// It has something on the agenda.
    busy: bool,
    collided: bool,
    /// Times that its packet was sent again.
    again: u32,
    /// How much later than the nearest it hears itself.
    farther: Duration,
    stream: Stream,
}

impl Aloha {
    pub(super) fn new(
        settings: &AlohaSettings,
        hop: Duration,
        terminals: usize,
        seed: u64,
        name: &str,
    ) -> Aloha {
        let station = |i: usize| {
            let mut stream = Stream::new(seed, &format!("medium {name} terminal {}", i + 1));
            Station {
                busy: false,
                collided: false,
                again: 0,
                farther: settings.spread.scaled(stream.uniform()),
                stream,
            }
        };
        Aloha {
            slot: settings.slot.filter(|slot| !slot.is_zero()),
            hop,
            timeout: settings.timeout.max(hop + settings.spread),
            mean_backoff: settings.mean_backoff.as_secs(),
            retransmissions: settings.retransmissions,
            stations: (0..terminals).map(station).collect(),
            agenda: BinaryHeap::new(),
            on_air: Vec::new(),
        }
    }

    pub(super) fn next_event(&self) -> Option<Time> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    /// The first instant from `ready` on at which a transmission may begin.
    fn begins(&self, ready: Time) -> Time {
        match self.slot {
            None => ready,
            Some(slot) => {
                let slots = ready.as_nanos().div_ceil(slot.as_nanos());
                Time::from_nanos(slots.saturating_mul(slot.as_nanos()))
            }
        }
    }

    /// A packet waits at `terminal`; all up to `now` has happened.
    pub(super) fn has_more(&mut self, now: Time, terminal: u32) {
        if !self.stations[terminal as usize].busy {
            self.stations[terminal as usize].busy = true;
            self.plan(self.begins(now), Step::Begin, terminal);
        }
    }

    fn plan(&mut self, at: Time, step: Step, terminal: u32) {
        self.agenda.push(Reverse((at, step, terminal)));
    }

    pub(super) fn advance<P: Copy>(
        &mut self,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
        now: Time,
    ) {
        while let Some(&Reverse((at, step, terminal))) = self.agenda.peek() {
            if at > now {
                break;
            }
            self.agenda.pop();
            match step {
                Step::Begin => self.begin(at, terminal, common, ports),
                Step::End => self.end(at, terminal, common, ports),
                Step::Hear => self.hear(at, terminal, common, ports),
            }
        }
    }

    fn begin<P: Copy>(
        &mut self,
        at: Time,
        terminal: u32,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        let taken = ports.link(terminal).port_take(at);
        common.note_verdicts(ports, terminal);
        if !taken {
            self.stations[terminal as usize].busy = false;
            return;
        }
        common.access[terminal as usize].transmissions += 1;
        let alone = self.on_air.is_empty();
        for &other in &self.on_air {
            self.stations[other as usize].collided = true;
        }
        self.stations[terminal as usize].collided = !alone;
        self.on_air.push(terminal);
        let bytes = Bytes::new(ports.link(terminal).port_left());
        let ends = at + common.rate.transmission_time(bytes);
        self.plan(ends, Step::End, terminal);
    }

    fn end<P: Copy>(
        &mut self,
        at: Time,
        terminal: u32,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        self.on_air.retain(|other| *other != terminal);
        let wait = if self.stations[terminal as usize].collided {
            common.access[terminal as usize].collisions += 1;
            self.timeout
        } else {
            common.done(ports, terminal, at);
            self.hop + self.stations[terminal as usize].farther
        };
        self.plan(at + wait, Step::Hear, terminal);
    }

    fn hear<P: Copy>(
        &mut self,
        at: Time,
        terminal: u32,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        let station = &mut self.stations[terminal as usize];
        if station.collided && station.again < self.retransmissions {
            station.again += 1;
            let pause = station.stream.exponential(self.mean_backoff);
            let ready = at + Duration::from_secs_f64(pause);
            self.plan(self.begins(ready), Step::Begin, terminal);
            return;
        }
        if station.collided {
            common.access[terminal as usize].given_up += 1;
            ports.link(terminal).port_give_up(at);
            common.note_verdicts(ports, terminal);
        }
        station.again = 0;
        if ports.link(terminal).port_packets() > 0 {
            self.plan(self.begins(at), Step::Begin, terminal);
        } else {
            station.busy = false;
        }
    }
}
