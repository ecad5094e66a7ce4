//! The state of one bonded connection: no I/O, and the time is an argument.
//!
//! Data goes to the subflow that delivers it first. A slower one takes what lies so far behind that
//! the faster ones get there only when it has arrived: of what waits it leaves to each faster one what
//! that sends in the difference of their delays. A connection with less than that waiting uses the
//! fastest alone, so that a slower subflow never makes it later; one with more uses all, and what
//! arrives is almost in order. (Guan and others proposed the same in "Slide together", STMS, ATC '19,
//! for MPTCP.) At the end a faster subflow that has nothing left repeats what it would still deliver
//! sooner.

mod next;

pub(super) use next::Next;

use super::frame::Frame;
use super::incoming::Incoming;
use super::meter::Meter;
use super::outgoing::{Index, Outgoing};
use super::path::Way;
use crate::CloseReason;
use crate::tunnel::budget::Promise;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Bytes that arrive before they are acknowledged, and the time that they may wait for it.
const ACK_BYTES: u64 = 32 << 10;
const ACK_DELAY: Duration = Duration::from_millis(15);

/// One way of the connection.
#[derive(Debug)]
pub(super) struct Subflow {
    path: Arc<dyn Way>,
    /// It has not been lost.
    lives: bool,
    /// Wakes what writes to it.
    pub(super) wake: Arc<Notify>,
    /// Frames that go before all others.
    control: VecDeque<Frame>,
    heard: Instant,
    meter: Meter,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    pub(super) subflows: Vec<Subflow>,
    promise: Promise,
    window: u64,
    /// The other box knows the connection.
    pub(super) is_known: bool,
    /// It has gone.
    pub(super) is_gone: bool,
    /// The request is known. Without it the connection ends with its last subflow.
    pub(super) is_served: bool,
    /// When an acknowledgement is due, and over which subflow it has to go, if over one.
    ack: Option<Instant>,
    ack_by: Option<Index>,
    unacknowledged: u64,
    /// The other box has cut its direction, or wants no more of this one's.
    pub(super) reset: Option<CloseReason>,
    pub(super) stopped: Option<CloseReason>,
    /// This box has cut its direction, or wants no more of the other's.
    cut: Option<CloseReason>,
    unwanted: Option<CloseReason>,
    /// The connection is lost.
    pub(super) failed: Option<CloseReason>,
    /// When something arrived last, and when the last subflow was lost.
    heard: Instant,
    alone: Option<Instant>,
    /// What half of the connection is to look, and what waits for its end.
    pub(super) wakes_reader: bool,
    pub(super) wakes_ends: bool,
}

impl State {
    /// `takes` is what the other box takes at the start, and `promise` what this one does, unless
    /// `window` says otherwise.
    pub(super) fn new(
        takes: u64,
        mut promise: Promise,
        window: Option<u64>,
        now: Instant,
    ) -> State {
        let promised = promise.renew();
        State {
            outgoing: Outgoing::new(takes),
            incoming: Incoming::new(window.unwrap_or(promised)),
            subflows: Vec::new(),
            promise,
            window: promised,
            is_known: false,
            is_gone: false,
            is_served: window.is_none(),
            ack: None,
            ack_by: None,
            unacknowledged: 0,
            reset: None,
            stopped: None,
            cut: None,
            unwanted: None,
            failed: None,
            heard: now,
            alone: None,
            wakes_reader: false,
            wakes_ends: false,
        }
    }

    /// What this box takes at the start.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// Adds a subflow.
    pub(super) fn add(&mut self, path: Arc<dyn Way>, now: Instant) -> (Index, Arc<Notify>) {
        let wake = Arc::new(Notify::new());
        let cut = self.cut.map(|why| Frame::Reset(why.code()));
        let stop = self.unwanted.map(|why| Frame::Stop(why.code()));
        self.subflows.push(Subflow {
            path,
            lives: true,
            wake: Arc::clone(&wake),
            control: cut.into_iter().chain(stop).collect(),
            heard: now,
            meter: Meter::default(),
        });
        self.alone = None;
        self.is_gone = false;
        self.tell_again(now);
        self.wake_all();
        (self.subflows.len() - 1, wake)
    }

    /// What a subflow that was lost may have carried is said again.
    fn tell_again(&mut self, now: Instant) {
        if self.is_known && !self.has_arrived() {
            self.ack = Some(now);
            self.ack_by = None;
        }
    }

    pub(super) fn wake_all(&self) {
        for subflow in self.living() {
            subflow.wake.notify_one();
        }
    }

    fn living(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows.iter().filter(|it| it.lives)
    }

    /// Whether one that lives is on this path.
    pub(super) fn uses(&self, path: &Arc<dyn Way>) -> bool {
        self.living().any(|it| Arc::ptr_eq(&it.path, path))
    }

    /// Number of subflows that live.
    pub(super) fn lives(&self) -> usize {
        self.living().count()
    }

    /// When something arrived last.
    pub(super) const fn heard(&self) -> Instant {
        self.heard
    }

    /// Since when there has been none.
    pub(super) const fn alone(&self) -> Option<Instant> {
        self.alone
    }

    /// Both directions have ended, and the other box knows.
    pub(super) fn is_done(&self) -> bool {
        self.outgoing.is_complete() && self.has_arrived() && self.ack.is_none()
    }

    /// Nothing more comes.
    pub(super) fn has_arrived(&self) -> bool {
        self.incoming.is_complete() || self.unwanted.is_some() || self.reset.is_some()
    }

    /// Takes a frame that has arrived by subflow `by`.
    pub(super) fn arrived(&mut self, by: Index, frame: Frame, now: Instant) {
        self.is_known = true;
        self.heard = now;
        if let Some(subflow) = self.subflows.get_mut(by) {
            subflow.path.note_heard(now);
            // One over which the other box only asks whether it works may do so in one direction.
            if !matches!(frame, Frame::Ack(_)) {
                subflow.heard = now;
            }
        }
        match frame {
            Frame::Data { offset, bytes } => {
                if self.unwanted.is_some() || self.reset.is_some() {
                    return;
                }
                let length = bytes.len() as u64;
                match self.incoming.insert(offset, bytes) {
                    Err(_) => self.fail(CloseReason::Failed),
                    Ok(true) => {
                        self.unacknowledged += length;
                        self.wakes_reader = true;
                        self.acknowledge(now);
                    }
                    // The other box does not know that it is here.
                    Ok(false) => {
                        self.ack_by = Some(by);
                        self.ack_at(now);
                    }
                }
            }
            Frame::End(offset) => {
                if self.unwanted.is_some() || self.reset.is_some() {
                    return;
                }
                if self.incoming.end_at(offset).is_err() {
                    return self.fail(CloseReason::Failed);
                }
                self.wakes_reader = true;
                self.ack_at(now);
            }
            Frame::Ack(ack) => {
                if !self.outgoing.acknowledge(&ack) && self.stopped.is_none() {
                    return self.fail(CloseReason::Failed);
                }
                self.wakes_ends = true;
                self.wake_all();
            }
            Frame::Reset(code) => {
                let why = CloseReason::from_code(code.into());
                self.reset.get_or_insert(why);
                self.incoming.clear();
                self.ack = None;
                self.wakes_reader = true;
                self.wake_all();
            }
            Frame::Stop(code) => {
                let why = CloseReason::from_code(code.into());
                self.stopped.get_or_insert(why);
                self.outgoing.abandon();
                self.wakes_ends = true;
                self.wake_all();
            }
        }
    }

    fn acknowledge(&mut self, now: Instant) {
        let is_much = self.unacknowledged >= ACK_BYTES || self.incoming.is_complete();
        match self.ack {
            _ if is_much => self.ack_at(now),
            None => self.ack_at(now + ACK_DELAY),
            Some(_) => {}
        }
    }

    fn ack_at(&mut self, at: Instant) {
        self.ack = Some(self.ack.map_or(at, |known| known.min(at)));
        self.wake_all();
    }

    /// The next bytes for the host, at most `most`.
    pub(super) fn receive(&mut self, most: usize) -> Option<Bytes> {
        let bytes = self.incoming.take(most)?;
        if self.incoming.allowed() < self.window / 2 && !self.incoming.is_complete() {
            self.window = self.promise.renew();
            self.incoming.allow(self.window);
            // The other box may wait for it and have nothing to send, so that nobody would miss it.
            let ack = Frame::Ack(self.acknowledgement());
            self.tell(&ack);
        }
        Some(bytes)
    }

    /// The sending direction is cut.
    pub(super) fn cut(&mut self, why: CloseReason) {
        if self.outgoing.is_complete() {
            return;
        }
        self.cut = Some(why);
        self.outgoing.abandon();
        self.tell(&Frame::Reset(why.code()));
    }

    /// Nothing more is wanted.
    pub(super) fn stop(&mut self, why: CloseReason) {
        if self.has_arrived() {
            return;
        }
        self.unwanted = Some(why);
        self.incoming.clear();
        self.ack = None;
        self.tell(&Frame::Stop(why.code()));
    }

    /// Says something over all subflows.
    fn tell(&mut self, frame: &Frame) {
        for subflow in self.subflows.iter_mut().filter(|it| it.lives) {
            subflow.control.push_back(frame.clone());
        }
        self.wake_all();
    }

    /// The other box has ended a subflow: it has all of this direction, and this box all of its own.
    pub(super) fn ended(&mut self) {
        if !self.has_arrived() || !self.outgoing.is_finished() {
            return self.fail(CloseReason::Failed);
        }
        self.outgoing.abandon();
        self.ack = None;
        self.wakes_ends = true;
        self.wake_all();
    }

    /// Subflow `by` is lost; what it has not delivered goes over another.
    pub(super) fn lost(&mut self, by: Index, now: Instant) {
        let Some(subflow) = self.subflows.get_mut(by) else {
            return;
        };
        subflow.lives = false;
        subflow.control.clear();
        self.outgoing.lose(by);
        if self.lives() == 0 {
            self.alone = Some(now);
        }
        self.tell_again(now);
        self.wake_all();
    }

    /// The connection is lost.
    pub(super) fn fail(&mut self, why: CloseReason) {
        if self.is_done() {
            return;
        }
        self.failed.get_or_insert(why);
        self.wakes_reader = true;
        self.wakes_ends = true;
        self.wake_all();
    }
}

#[cfg(test)]
mod tests;
