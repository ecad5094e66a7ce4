//! Probes: low-priority packets that a congestion control requests in addition to the window
//! (TCP-Peach's dummy segments, TCP-Peach+'s NIL segments, TP-Planet's NIX segments).
//!
//! They do not count as sent data: not in flight, not for the retransmission
//! timer, not against the window. The receiver answers each at once with an ACK
//! that is marked as the answer.

use super::Core;
use crate::packet::{Packet, Transmit, flags, priority};
use bentpipe_cc::{ProbeContent, ProbePattern, Probes};
use bentpipe_units::{Duration, Time};

/// Probes that are still to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probing {
    /// Intervals that are still to come, in slots the slots.
    left: u32,
    asked: Probes,
    /// Probes of this interval that are still to come, and the time between two.
    in_interval: u32,
    spacing: Duration,
    /// When the next one goes; [`Time::MAX`] with none left, and before there is
    /// a segment to copy.
    deadline: Time,
    /// One past the last segment that a probe carried.
    carried_until: u64,
}

impl Default for Probing {
    fn default() -> Probing {
        Probing {
            left: 0,
            asked: Probes::default(),
            in_interval: 0,
            spacing: Duration::ZERO,
            deadline: Time::MAX,
            carried_until: 0,
        }
    }
}

impl Probing {
    /// True where probes have been asked for and not begun with.
    #[inline]
    fn waits(&self) -> bool {
        self.left > 0 && self.deadline == Time::MAX
    }

    fn stop(&mut self) {
        self.left = 0;
        self.in_interval = 0;
        self.deadline = Time::MAX;
    }

    fn ask(&mut self, probes: Probes) {
        self.stop();
        self.left = probes.count;
        self.asked = probes;
    }

    /// The next interval begins.
    fn enter_interval(&mut self) {
        let Probes { count, pattern, .. } = self.asked;
        self.in_interval = pattern.probes_in(count - self.left, count).max(1);
        self.spacing = self.asked.interval / u64::from(self.in_interval);
        self.left -= 1;
    }

    /// One is sent: when does the next one go?
    fn advance(&mut self) {
        self.in_interval = self.in_interval.saturating_sub(1);
        if self.in_interval == 0 && self.left > 0 {
            self.enter_interval();
        }
        self.deadline = match self.in_interval {
            0 => Time::MAX,
            _ => self.deadline + self.spacing,
        };
    }
}

impl Core {
    /// When the next probe is to go; [`Time::MAX`] if none is.
    #[inline]
    pub(crate) fn probes_at(&self) -> Time {
        self.probing.as_ref().map_or(Time::MAX, |p| p.deadline)
    }

    /// Takes the congestion control's requests about packets that are yet to be
    /// sent.
    pub(crate) fn take_requests(&mut self) {
        let actions = &mut self.window.actions;
        let low_priority = std::mem::take(&mut actions.low_priority);
        if let Some(probes) = actions.probes.take() {
            self.ask_probes(*probes);
        }
        if low_priority > 0 {
            let bytes = u64::from(low_priority) * u64::from(self.mss);
            self.headers.low_priority_until = self.snd.next.saturating_add(bytes);
        }
    }

    fn ask_probes(&mut self, probes: Probes) {
        self.probing.get_or_insert_default().ask(probes);
    }

    /// Begins with probes that have been asked for, once there is a segment to
    /// copy.
    #[inline]
    pub(crate) fn begin_probes<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let has_sent = self.has_sent();
        if let Some(probing) = self.probing.as_mut().filter(|p| p.waits())
            && has_sent
        {
            probing.enter_interval();
            probing.deadline = now + probing.spacing;
            self.send_probes(now, out);
        }
    }

    /// Sends the probes that are due at `now`. A sender whose data has all
    /// arrived has nothing to probe for.
    pub(crate) fn send_probes<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let Some(mut probing) = self.probing.take() else {
            return;
        };
        if self.snd.una == self.snd.offered {
            probing.stop();
        }
        while probing.deadline <= now && !out.is_full() {
            let probe = self.probe(now, &mut probing);
            self.transmit_probe(probe, out);
            if probing.asked.pattern == ProbePattern::Pair {
                let mut high = probe;
                high.priority &= !priority::LOW;
                high.flags |= flags::DUMMY;
                self.transmit_probe(high, out);
            }
            probing.advance();
        }
        self.probing = Some(probing);
    }

    fn transmit_probe<T: Transmit>(&mut self, probe: Packet, out: &mut T) {
        self.counters.probes += 1;
        self.counters.probe_payload += u64::from(probe.payload);
        out.transmit(probe);
    }

    fn probe(&mut self, now: Time, probing: &mut Probing) -> Packet {
        let carried = match probing.asked.content {
            ProbeContent::Copy => None,
            ProbeContent::Unacknowledged => self.board.copy_from(probing.carried_until),
        };
        let mut packet = if let Some(hole) = carried {
            probing.carried_until = hole.start + u64::from(hole.len);
            self.packet(now, hole.start, hole.len)
        } else {
            let end = self.snd.next.min(self.snd.fin);
            let len = end.min(u64::from(self.mss));
            // The MSS fits a u16.
            let mut packet = self.packet(now, end - len, len as u16);
            packet.flags |= flags::DUMMY;
            packet
        };
        packet.flags |= flags::PROBE;
        packet.priority |= priority::LOW;
        packet
    }
}
