//! Media: channels that several terminals share.
//!
//! A terminal's access to a medium is a link
//! ([`LinkPlan::shares_medium`](crate::LinkPlan::shares_medium)), with its queue, its channel and
//! its counters; only the transmitter is not its own. The [`Medium`] is the rule of access: it
//! decides whose packet goes when, and in which pieces. Like an event-driven link it reads no
//! clock: the driver offers it packets and polls it when its [`Medium::next_event`] is due, and it
//! then computes what happened in between at the times at which it happened, so that extra polls
//! change nothing. A medium has one event at a time however many terminals it has, and none while
//! no terminal has anything to send.
//!
//! | rule | file |
//! |---|---|
//! | fixed TDMA | `framed.rs` |
//! | TDMA with proportional DAMA | `dama.rs` |
//! | CF-DAMA | `cf_dama.rs` |
//! | slotted and unslotted ALOHA | `aloha.rs` |
//!
//! A packet that comes at the instant at which a slot begins is too late for it. All terminals are
//! equally far from the satellite. A terminal's channel models the downlink to the hub: with ALOHA
//! the terminal receives its own packet whether the channel destroys it for the hub or not.

mod aloha;
mod cf_dama;
mod counters;
mod dama;
mod framed;
mod round;
mod settings;
mod shared;

pub use counters::AccessCounters;
pub use settings::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler,
};
pub use shared::SharedLink;

use crate::{Link, PacketMeta, Verdict};
use aloha::Aloha;
use bentpipe_units::{Duration, Rate, Time};
use framed::Framed;
use std::collections::VecDeque;

/// The rule by which terminals share a channel, at work.
#[derive(Clone, Debug)]
pub struct Medium {
    rule: Rule,
    common: Common,
}

#[derive(Clone, Debug)]
enum Rule {
    Framed(Box<Framed>),
    Aloha(Box<Aloha>),
}

/// State common to all rules.
#[derive(Clone, Debug)]
struct Common {
    rate: Rate,
    /// One-way delay of the hop.
    hop: Duration,
    access: Vec<AccessCounters>,
    /// Arrivals and whose they are, the next first.
    due: VecDeque<(Time, u32)>,
    /// Terminals whose links may have verdicts.
    with_verdicts: VecDeque<u32>,
}

/// The terminals' links, wherever they are.
#[derive(Debug)]
pub struct Ports<'a, P> {
    links: &'a mut [Link<P>],
    /// The link of each terminal.
    at: &'a [u32],
}

impl<'a, P: Copy> Ports<'a, P> {
    /// Terminal `i` is link number `at[i]` of `links`.
    ///
    /// # Panics
    /// Calls that use these ports panic where a number is out of range.
    #[must_use]
    pub const fn new(links: &'a mut [Link<P>], at: &'a [u32]) -> Ports<'a, P> {
        Ports { links, at }
    }

    fn link(&mut self, terminal: u32) -> &mut Link<P> {
        &mut self.links[self.at[terminal as usize] as usize]
    }
}

impl Common {
    /// The packet that `terminal` holds has gone: its last byte at `end`.
    fn done<P: Copy>(&mut self, ports: &mut Ports<'_, P>, terminal: u32, end: Time) {
        let Some(finished) = ports.link(terminal).port_done(end) else {
            return;
        };
        let access = &mut self.access[terminal as usize];
        let delay = finished.delay + self.hop;
        access.sent += 1;
        access.delay += delay;
        access.max_delay = access.max_delay.max(delay);
        match finished.arrival {
            Some(at) => self.due.push_back((at, terminal)),
            None => self.note_verdicts(ports, terminal),
        }
    }

    /// The link of `terminal` may have verdicts.
    fn note_verdicts<P: Copy>(&mut self, ports: &mut Ports<'_, P>, terminal: u32) {
        if ports.link(terminal).port_has_verdict() && self.with_verdicts.back() != Some(&terminal) {
            self.with_verdicts.push_back(terminal);
        }
    }
}

impl Medium {
    /// The medium called `name`, with `terminals` of them, in the run with seed
    /// `seed`.
    #[must_use]
    pub fn new(settings: &MediumSettings, terminals: usize, seed: u64, name: &str) -> Medium {
        let rule = match &settings.access {
            AccessSettings::Aloha(aloha) => Rule::Aloha(Box::new(Aloha::new(
                aloha,
                settings.one_way_delay,
                terminals,
                seed,
                name,
            ))),
            _ => Rule::Framed(Box::new(Framed::new(settings, terminals, seed, name))),
        };
        Medium {
            rule,
            common: Common {
                rate: settings.rate,
                hop: settings.one_way_delay,
                access: vec![AccessCounters::default(); terminals],
                due: VecDeque::new(),
                with_verdicts: VecDeque::new(),
            },
        }
    }

    /// Offers a packet to a terminal at `now`. Calls must not go back in time.
    /// [`Verdict::Waits`] or [`Verdict::QueueDrop`].
    pub fn offer<P: Copy>(
        &mut self,
        ports: &mut Ports<'_, P>,
        now: Time,
        terminal: usize,
        packet: P,
        offered: PacketMeta,
    ) -> Verdict {
        self.advance(ports, now);
        let terminal = terminal as u32;
        let verdict = ports.link(terminal).enqueue(now, packet, offered);
        self.common.note_verdicts(ports, terminal);
        if verdict == Verdict::Waits {
            match &mut self.rule {
                Rule::Framed(framed) => framed.has_more(now, terminal),
                Rule::Aloha(aloha) => aloha.has_more(now, terminal),
            }
            self.advance(ports, now);
        }
        verdict
    }

    /// Lets happen what happens up to `now`.
    pub fn advance<P: Copy>(&mut self, ports: &mut Ports<'_, P>, now: Time) {
        match &mut self.rule {
            Rule::Framed(framed) => framed.advance(&mut self.common, ports, now),
            Rule::Aloha(aloha) => aloha.advance(&mut self.common, ports, now),
        }
    }

    /// When the driver must call [`Medium::deliver_due`] next; never while nothing is in flight and
    /// no terminal has anything to send. Unlike a link's, this may become earlier with an offer.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let arrival = self.common.due.front().map(|(at, _)| *at);
        let other = match &self.rule {
            Rule::Framed(framed) => framed.next_event(),
            Rule::Aloha(aloha) => aloha.next_event(),
        };
        match (arrival, other) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes the first packet that has arrived at the far end by `now` off the
    /// medium, with the terminal that it came from. To be called until there
    /// is none, or until [`Medium::next_event`] is later than `now`.
    pub fn deliver_due<P: Copy>(
        &mut self,
        ports: &mut Ports<'_, P>,
        now: Time,
    ) -> Option<(usize, P)> {
        self.advance(ports, now);
        let &(at, terminal) = self.common.due.front()?;
        if at > now {
            return None;
        }
        self.common.due.pop_front();
        let packet = ports.link(terminal).deliver_due(now)?;
        Some((terminal as usize, packet))
    }

    /// What became of a packet that waited, the first that has not been returned yet: see
    /// [`Link::poll_verdict`]. To be called until there is none, after every offer and
    /// look.
    pub fn poll_verdict<P: Copy>(
        &mut self,
        ports: &mut Ports<'_, P>,
    ) -> Option<(usize, P, Verdict)> {
        while let Some(&terminal) = self.common.with_verdicts.front() {
            if let Some((packet, verdict)) = ports.link(terminal).poll_verdict() {
                return Some((terminal as usize, packet, verdict));
            }
            self.common.with_verdicts.pop_front();
        }
        None
    }

    /// Counters of a terminal's access to the medium.
    #[must_use]
    pub fn access(&self, terminal: usize) -> AccessCounters {
        self.common
            .access
            .get(terminal)
            .copied()
            .unwrap_or_default()
    }

    /// As above, summed over all terminals.
    #[must_use]
    pub fn total(&self) -> AccessCounters {
        let all = self.common.access.iter();
        all.fold(AccessCounters::default(), |sum, one| sum + *one)
    }
}
