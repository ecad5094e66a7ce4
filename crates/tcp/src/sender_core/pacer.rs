//! Packet spacing: when the next packet may leave.

use super::Core;
use super::lateness::{self, Lateness};
use crate::options::Pacing;
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// The turns of a connection that shares a sender with others ([`crate::Endpoint::wait_for_turns`]).
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Packets that may still leave in this turn.
    left: u32,
    /// Something may leave as soon as there is a turn.
    is_wanted: bool,
}

/// The pacer of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    setting: Pacing,
    /// When the next packet may leave; [`Time::MAX`] while none is held back.
    deadline: Time,
    /// Segments of the initial burst that are still to be sent.
    burst_left: u32,
    /// Segments that may still leave with the last one.
    quantum_left: u32,
    /// Present where Linux spaces the packets.
    lateness: Option<Box<Lateness>>,
    /// Present where packets leave in turns, which then are all the spacing there is.
    turn: Option<Turn>,
}

impl Pacer {
    pub(super) fn new(setting: Pacing, as_linux: bool) -> Pacer {
        Pacer {
            setting,
            deadline: Time::MAX,
            burst_left: match setting {
                Pacing::Off => 0,
                Pacing::Window { initial_burst, .. } => initial_burst,
            },
            quantum_left: 0,
            lateness: as_linux.then(Box::default),
            turn: None,
        }
    }

    /// When a packet that is held back may leave.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    pub(super) fn stop(&mut self) {
        self.deadline = Time::MAX;
        self.turn = self.turn.map(|_| Turn::default());
    }

    /// From now on packets leave in turns.
    pub(crate) fn wait_for_turns(&mut self) {
        self.turn = Some(Turn::default());
    }

    /// True where packets leave in turns.
    #[inline]
    pub(crate) fn takes_turns(&self) -> bool {
        self.turn.is_some()
    }

    /// Whether something waits for a turn; `None` where packets do not leave in turns.
    pub(crate) fn wants_turn(&self) -> Option<bool> {
        self.turn.map(|turn| turn.is_wanted)
    }

    /// Notes whether something waits for a turn.
    pub(crate) fn ask_turn(&mut self, is_wanted: bool) {
        if let Some(turn) = &mut self.turn {
            turn.is_wanted = is_wanted;
        }
    }

    /// As many `packets` may leave now, until this is called with none.
    pub(crate) fn set_turn(&mut self, packets: u32) {
        if let Some(turn) = &mut self.turn {
            turn.left = packets;
        }
    }
}

impl Core {
    /// True where packets are spaced.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.window.pacing_rate.is_some()
            || self.pacer.setting != Pacing::Off
            || self.pacer.takes_turns()
    }

    /// The rate at which packets leave now; `None` sends as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.window.pacing_rate {
            return Some(rate);
        }
        let Pacing::Window { gain, .. } = self.pacer.setting else {
            return None;
        };
        // Ticks of 10 ms are for timers: they would stretch a short RTT.
        let rtt = self.rtt.fine();
        if rtt.is_zero() {
            return None;
        }
        let bits = self.window.cwnd * f64::from(self.mss + self.headers.bytes) * 8.0;
        Some(Rate::from_bps_f64(gain * bits / rtt.as_secs()))
    }

    /// True if pacing lets a packet leave at `now`; otherwise the deadline is
    /// set. When it has passed, a quantum may leave.
    pub(crate) fn pacing_permits(&mut self, now: Time) -> bool {
        let pacer = &mut self.pacer;
        if let Some(turn) = pacer.turn {
            return turn.left > 0;
        }
        if pacer.deadline == Time::MAX || now >= pacer.deadline {
            pacer.quantum_left = self.window.send_quantum;
            if let Some(lateness) = &mut pacer.lateness {
                lateness.begin(now);
            }
            return true;
        }
        pacer.quantum_left > 0
    }

    /// Nothing may leave with the last packet any more: what goes together was decided without
    /// the quantum.
    pub(crate) fn end_quantum(&mut self) {
        self.pacer.quantum_left = 0;
    }

    /// Moves the deadline by the time that a packet with `payload` bytes takes.
    pub(crate) fn note_paced(&mut self, now: Time, payload: u32) {
        let pacer = &mut self.pacer;
        if let Some(turn) = &mut pacer.turn {
            turn.left = turn.left.saturating_sub(1);
            return;
        }
        pacer.quantum_left = pacer.quantum_left.saturating_sub(1);
        if let Some(lateness) = &mut pacer.lateness {
            if self.counters.packets - self.earlier.packets < lateness::UNPACED {
                lateness.end(now);
                return;
            }
        } else if pacer.burst_left > 0 {
            pacer.burst_left -= 1;
            return;
        }
        let Some(rate) = self.pacing_rate() else {
            return;
        };
        // The controller's own rate counts payload.
        let bytes = match self.window.pacing_rate {
            Some(_) => payload,
            None => payload + self.headers.bytes,
        };
        let mut interval = rate.transmission_time(Bytes::new(u64::from(bytes)));
        let pacer = &mut self.pacer;
        if let Some(lateness) = &mut pacer.lateness {
            interval = lateness.shorten(interval);
        }
        // An idle sender earns no credit: it starts from now.
        let from = if pacer.deadline == Time::MAX {
            now
        } else {
            pacer.deadline
        };
        pacer.deadline = from.max(now) + interval.min(Duration::from_secs(60));
        if let Some(lateness) = &mut pacer.lateness {
            lateness.end(pacer.deadline);
        }
    }

    /// Nothing more can leave for now: the deadline stays only if pacing holds
    /// a packet back.
    #[inline]
    pub(crate) fn pacing_done(&mut self, now: Time, paced: bool) {
        if !paced || self.pacer.deadline <= now {
            self.pacer.deadline = Time::MAX;
        }
    }
}
