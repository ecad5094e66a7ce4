//! Time in frames, frames in slots: TDMA, DAMA and CF-DAMA.
//!
//! A frame begins with its minislots, if the rule has any; the data slots share
//! the rest. What a terminal sends in a slot is as many packets, and pieces of
//! one, as fit: a packet may go on in the terminal's next slot.
//!
//! Fixed TDMA: the slots, counted from the start of time, belong to the
//! terminals in turn. It has no source but the textbook.
//!
//! Requests (DAMA, CF-DAMA) state what the queue holds when they are made: at
//! the start of the frame in minislots, at the end of the slot where they ride
//! on a packet. They take the delay to the scheduler, and a decision that is to
//! hold for a slot is made that long before it.

use super::cf_dama::Assigner;
use super::dama::Allocator;
use super::{AccessSettings, Common, MediumSettings, Ports, Requests, Scheduler};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// Doublings of the pause after request collisions, at most.
const MOST_DOUBLINGS: u32 = 5;

#[derive(Clone, Debug)]
pub(super) struct Framed {
    frame: Duration,
    /// Length of the minislots together.
    control: Duration,
    slots: u32,
    slot: Duration,
    /// Bytes on the wire in a slot, and before them.
    payload: u64,
    overhead: u64,
    minislot: Bytes,
    rate: Rate,
    /// From a terminal to the scheduler.
    delay: Duration,
    owners: Owners,
    stations: Vec<Station>,
    /// Stations that have something.
    busy: usize,
    /// What happens next: frame, and 0 for its minislots or 1 on for its slots.
    next: (u64, u32),
}

/// Who owns the slots.
#[derive(Clone, Debug)]
enum Owners {
    Fixed,
    Dama {
        allocator: Allocator,
        /// Requests on their way, the first to arrive first.
        on_the_way: VecDeque<(Time, u32, u64)>,
    },
    CfDama {
        assigner: Assigner,
        requests: Requests,
        /// Stations that found their minislot, in one frame.
        picks: Vec<(u32, u32)>,
    },
}

#[derive(Clone, Debug)]
struct Station {
    busy: bool,
    /// Slots asked for and not given yet.
    outstanding: u64,
    /// Random requests: collisions in a row, and the pause after the last.
    collided: u32,
    silent_until: Time,
    silent_frames: u64,
    stream: Stream,
}

impl Framed {
    pub(super) fn new(
        settings: &MediumSettings,
        terminals: usize,
        seed: u64,
        name: &str,
    ) -> Framed {
        let frame = settings.frame().copied();
        let (length, slots) = frame.map_or((Duration::from_millis(1), 1), |f| (f.length, f.slots));
        let length = length.max(Duration::from_nanos(1));
        let slots = slots.max(1);
        let control = settings.control(terminals).min(length);
        let delay = |scheduler: &Scheduler| match scheduler {
            Scheduler::Ground => settings.one_way_delay,
            Scheduler::OnBoard { to_satellite } => *to_satellite,
        };
        let (owners, delay) = match &settings.access {
            AccessSettings::Dama { scheduler, .. } => (
                Owners::Dama {
                    allocator: Allocator::new(terminals),
                    on_the_way: VecDeque::new(),
                },
                delay(scheduler),
            ),
            AccessSettings::CfDama {
                scheduler,
                requests,
                ..
            } => (
                Owners::CfDama {
                    assigner: Assigner::new(terminals),
                    requests: *requests,
                    picks: Vec::new(),
                },
                delay(scheduler),
            ),
            _ => (Owners::Fixed, Duration::ZERO),
        };
        let station = |i: usize| Station {
            busy: false,
            outstanding: 0,
            collided: 0,
            silent_until: Time::ZERO,
            silent_frames: 0,
            stream: Stream::new(seed, &format!("medium {name} terminal {}", i + 1)),
        };
        Framed {
            frame: length,
            control,
            slots,
            slot: length.saturating_sub(control) / u64::from(slots),
            payload: settings.slot_payload(terminals).get().max(1),
            overhead: frame.map_or(0, |f| f.overhead.get()),
            minislot: frame.map_or(Bytes::ZERO, |f| f.minislot),
            rate: settings.rate,
            delay,
            owners,
            stations: (0..terminals).map(station).collect(),
            busy: 0,
            next: (0, 0),
        }
    }

    fn frame_start(&self, frame: u64) -> Time {
        Time::from_nanos(frame.saturating_mul(self.frame.as_nanos()))
    }

    /// When something of this number happens.
    fn time_of(&self, (frame, index): (u64, u32)) -> Time {
        let start = self.frame_start(frame);
        match index {
            0 => start,
            slot => start + self.control + self.slot * u64::from(slot - 1),
        }
    }

    fn after(&self, (frame, index): (u64, u32)) -> (u64, u32) {
        if index == self.slots {
            (frame + 1, 0)
        } else {
            (frame, index + 1)
        }
    }

    /// True if nothing happens until a terminal has something to send.
    fn is_idle(&self) -> bool {
        self.busy == 0
            && match &self.owners {
                Owners::Fixed => true,
                Owners::Dama {
                    allocator,
                    on_the_way,
                } => {
                    // Requested slots are granted, even if they are no longer needed.
                    let given = self.next.1 == 0 || allocator.owner(self.next.1 - 1).is_none();
                    allocator.is_idle() && on_the_way.is_empty() && given
                }
                Owners::CfDama { assigner, .. } => assigner.is_idle(),
            }
    }

    pub(super) fn next_event(&self) -> Option<Time> {
        (!self.is_idle()).then(|| self.time_of(self.next))
    }

    /// A packet waits at `terminal`; all up to `now` has happened.
    pub(super) fn has_more(&mut self, now: Time, terminal: u32) {
        if self.is_idle() {
            self.wake(now);
        }
        let station = &mut self.stations[terminal as usize];
        self.busy += usize::from(!station.busy);
        station.busy = true;
    }

    /// Skips the slots up to `now` that no terminal needed.
    fn wake(&mut self, now: Time) {
        let asleep_from = self.next;
        if self.time_of(asleep_from) > now {
            return;
        }
        // The last frame that has begun, then the last slot.
        let frame = now.as_nanos() / self.frame.as_nanos();
        let into = now.since(self.frame_start(frame));
        let index = match into.as_nanos().checked_sub(self.control.as_nanos()) {
            None => 0,
            Some(_) if self.slot.is_zero() => self.slots,
            Some(data) => {
                let slot = data / self.slot.as_nanos() + 1;
                slot.min(u64::from(self.slots)) as u32
            }
        };
        self.next = self.after((frame, index)).max(asleep_from);
        // Slots before one of these.
        let before = |(frame, index): (u64, u32)| {
            frame * u64::from(self.slots) + u64::from(index.saturating_sub(1))
        };
        let skipped = before(self.next) - before(asleep_from);
        match &mut self.owners {
            Owners::Fixed => {}
            Owners::Dama { allocator, .. } => allocator.clear(),
            Owners::CfDama { assigner, .. } => assigner.skip(skipped),
        }
    }

    pub(super) fn advance<P: Copy>(
        &mut self,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
        now: Time,
    ) {
        while !self.is_idle() {
            let at = self.time_of(self.next);
            if at > now {
                break;
            }
            match self.next {
                (_, 0) => self.begin_frame(at, common, ports),
                (_, slot) => self.use_slot(slot - 1, at, common, ports),
            }
            self.next = self.after(self.next);
        }
    }

    /// Allocation and requests at the start of a frame.
    fn begin_frame<P: Copy>(&mut self, at: Time, common: &mut Common, ports: &mut Ports<'_, P>) {
        match &mut self.owners {
            Owners::Fixed => {}
            Owners::Dama {
                allocator,
                on_the_way,
            } => {
                while let Some(&(arrives, terminal, slots)) = on_the_way.front()
                    && arrives + self.delay <= at
                {
                    allocator.request(terminal, slots);
                    on_the_way.pop_front();
                }
                allocator.allocate(self.slots);
                self.ask_in_turn(at, common, ports);
            }
            Owners::CfDama { requests, .. } => match *requests {
                Requests::Preassigned => self.ask_in_turn(at, common, ports),
                Requests::Random { minislots } => {
                    self.ask_at_random(at, minislots.max(1), common, ports);
                }
                Requests::Piggyback => {}
            },
        }
    }

    /// When minislot number `i` of a frame that begins at `at` has arrived at
    /// the scheduler.
    fn minislot_arrives(&self, at: Time, i: u32) -> Time {
        let bytes = Bytes::new(self.minislot.get() * (u64::from(i) + 1));
        at + self.rate.transmission_time(bytes) + self.delay
    }

    /// Slots that the queue of `terminal` takes beyond those asked for.
    fn need<P: Copy>(&self, terminal: u32, ports: &mut Ports<'_, P>) -> u64 {
        let backlog = ports.link(terminal).port_backlog().get();
        let slots = backlog.div_ceil(self.payload);
        slots.saturating_sub(self.stations[terminal as usize].outstanding)
    }

    /// Each terminal asks in its own minislot.
    fn ask_in_turn<P: Copy>(&mut self, at: Time, common: &mut Common, ports: &mut Ports<'_, P>) {
        for terminal in 0..self.stations.len() as u32 {
            if self.stations[terminal as usize].busy {
                let arrives = self.minislot_arrives(at, terminal);
                self.ask(terminal, arrives, common, ports);
            }
        }
    }

    /// `terminal` asks for what it needs.
    fn ask<P: Copy>(
        &mut self,
        terminal: u32,
        arrives: Time,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        let slots = self.need(terminal, ports);
        if slots == 0 {
            return;
        }
        common.access[terminal as usize].requests += 1;
        self.stations[terminal as usize].outstanding += slots;
        match &mut self.owners {
            Owners::Fixed => {}
            Owners::Dama { on_the_way, .. } => on_the_way.push_back((arrives, terminal, slots)),
            Owners::CfDama { assigner, .. } => assigner.request(arrives, terminal, slots),
        }
    }

    /// Whoever needs slots picks a minislot.
    fn ask_at_random<P: Copy>(
        &mut self,
        at: Time,
        minislots: u32,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        let mut picks = match &mut self.owners {
            Owners::CfDama { picks, .. } => std::mem::take(picks),
            _ => Vec::new(),
        };
        picks.clear();
        for terminal in 0..self.stations.len() as u32 {
            if !self.stations[terminal as usize].busy || self.need(terminal, ports) == 0 {
                continue;
            }
            let station = &mut self.stations[terminal as usize];
            if station.silent_until > at {
                continue;
            }
            if station.silent_frames > 0 {
                station.silent_frames -= 1;
                continue;
            }
            let pick = (station.stream.uniform() * f64::from(minislots)) as u32;
            picks.push((pick, terminal));
        }
        picks.sort_unstable();
        for group in picks.chunk_by(|a, b| a.0 == b.0) {
            let ends = self.minislot_arrives(at, group[0].0);
            if let [(_, terminal)] = group {
                self.stations[*terminal as usize].collided = 0;
                self.ask(*terminal, ends, common, ports);
                continue;
            }
            // Heard after one hop, wherever the scheduler is.
            let heard = ends + common.hop.saturating_sub(self.delay);
            for (_, terminal) in group {
                let access = &mut common.access[*terminal as usize];
                access.requests += 1;
                access.request_collisions += 1;
                let station = &mut self.stations[*terminal as usize];
                station.collided = (station.collided + 1).min(MOST_DOUBLINGS);
                let frames = f64::from(1u32 << station.collided);
                station.silent_until = heard;
                station.silent_frames = (station.stream.uniform() * frames) as u64;
            }
        }
        if let Owners::CfDama { picks: place, .. } = &mut self.owners {
            *place = picks;
        }
    }

    /// Data slot `index` of the frame begins at `at`.
    fn use_slot<P: Copy>(
        &mut self,
        index: u32,
        at: Time,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) {
        let mut piggyback = false;
        let owner = match &mut self.owners {
            Owners::Fixed if self.stations.is_empty() => None,
            Owners::Fixed => {
                let slot = self.next.0 * u64::from(self.slots) + u64::from(index);
                Some(((slot % self.stations.len() as u64) as u32, false))
            }
            Owners::Dama { allocator, .. } => allocator.owner(index),
            Owners::CfDama {
                assigner, requests, ..
            } => {
                piggyback = *requests == Requests::Piggyback;
                Some(assigner.assign(at, self.delay))
            }
        };
        let Some((terminal, asked)) = owner else {
            return;
        };
        let station = &mut self.stations[terminal as usize];
        if asked {
            station.outstanding = station.outstanding.saturating_sub(1);
        }
        let used = station.busy && self.send(terminal, at, common, ports);
        let access = &mut common.access[terminal as usize];
        access.demand_slots += u64::from(asked);
        access.unused_slots += u64::from(asked && !used);
        access.free_slots += u64::from(!asked && used);
        if used && piggyback && self.stations[terminal as usize].busy {
            self.ask(terminal, at + self.slot + self.delay, common, ports);
        }
    }

    /// `terminal` sends what fits into its slot; false if it had nothing.
    fn send<P: Copy>(
        &mut self,
        terminal: u32,
        at: Time,
        common: &mut Common,
        ports: &mut Ports<'_, P>,
    ) -> bool {
        let mut used = 0;
        let gone = |used: u64| {
            at + self
                .rate
                .transmission_time(Bytes::new(self.overhead + used))
        };
        while used < self.payload && ports.link(terminal).port_take(gone(used)) {
            let left = ports.link(terminal).port_left();
            let piece = left.min(self.payload - used);
            used += piece;
            common.access[terminal as usize].transmissions += 1;
            if piece < left {
                ports.link(terminal).port_send(piece);
                break;
            }
            common.done(ports, terminal, gone(used));
        }
        common.note_verdicts(ports, terminal);
        if ports.link(terminal).port_packets() == 0 {
            self.stations[terminal as usize].busy = false;
            self.busy -= 1;
        }
        used > 0
    }
}
