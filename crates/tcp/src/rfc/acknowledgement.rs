//! Acknowledgements: what one brings, and what it does in each state.

use super::{DUPLICATE_THRESHOLD, Rfc, State};
use crate::options::Recovery;
use crate::packet::{Packet, Transmit, echoed_at, flags, priority};
use crate::profile::StackKind;
use crate::scoreboard::Acked;
use crate::sender_core::Core;
use bentpipe_cc::{Ack, Repair};
use bentpipe_units::Time;

/// Changes to the scoreboard by an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Something is newly acknowledged cumulatively.
    advances: bool,
    acked: Acked,
    /// Segments newly acknowledged selectively, and when the newest of those
    /// that were sent once was sent.
    sacked: u32,
    sacked_sent_at: Option<Time>,
    /// Segments newly found lost.
    lost: u32,
    duplicate: bool,
}

impl Rfc {
    /// Processes an acknowledgement that arrived at `now`.
    pub(super) fn acknowledged<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) {
        if packet.acknowledgement > s.snd.next {
            return; // Acknowledges what was never sent.
        }
        let answers = packet.has(flags::PROBE);
        s.take_error_count(packet);
        s.counters.acks += 1;
        s.counters.probe_answers += u64::from(answers);
        let flight_before = count(s.board.flight()) - self.arrived;
        let progress = self.update_record(s, now, packet);
        let mut ack = self.describe(s, now, packet, &progress, flight_before, false);
        let advances = progress.advances;
        if advances || ack.duplicate || answers {
            s.cc.on_sample(&ack, &mut s.window);
        }
        s.take_feedback(now, packet);
        self.detect_spurious(s, packet, advances);

        match self.state {
            State::Open => self.acknowledged_open(s, now, &mut ack, advances, out),
            State::Recovery => self.acknowledged_recovery(s, now, &ack, advances, out),
            State::Loss => self.acknowledged_loss(s, &ack, advances),
        }
        if s.options.recovery == Recovery::Snack {
            self.resend_named(s, now, out);
        }
        if s.headers.ecn && packet.has(flags::ECE) {
            self.on_congestion_echo(s, now);
        }
        if s.options.owns_window {
            s.cc.on_control(&ack, self.repair(), &mut s.window);
        }
        if s.has_actions() {
            self.perform_actions(s, now, out);
        }
        if advances {
            self.restart_timer(s, now);
        }
        self.send_permitted(s, now, out);
        s.note_max_cwnd();
    }

    /// True if an ACK only advances while nothing is being repaired: nothing in
    /// it or in the state of the connection asks for more than growth.
    #[inline(always)]
    pub(super) fn is_plain(&self, s: &Core, packet: &Packet) -> bool {
        const UNUSUAL: u8 = flags::PROBE | flags::ECE;
        packet.acknowledgement > s.snd.una
            && packet.acknowledgement <= s.snd.next
            && packet.flags & UNUSUAL == 0
            && packet.sack_count == 0
            && packet.priority == priority::NORMAL
            && self.state == State::Open
            && self.duplicate_acks == 0
            && s.board.is_clean()
            && self.undo.is_none()
            && s.rate.is_none()
            && s.is_simple
    }

    /// [`Rfc::acknowledged`] for a plain ACK: the same calls of the congestion
    /// control with the same arguments.
    pub(super) fn acknowledged_plainly<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) {
        s.counters.acks += 1;
        s.snd.window = u64::from(packet.window);
        s.snd.una = packet.acknowledgement;
        let flight_before = s.board.outstanding();
        let acked = s.board.acknowledge_clean(s.snd.una);
        let progress = Progress {
            advances: true,
            acked,
            ..Progress::default()
        };
        let ack = self.describe(s, now, packet, &progress, count(flight_before), true);
        s.cc.on_sample(&ack, &mut s.window);
        s.cc.on_ack(&ack, &mut s.window);
        if s.has_actions() {
            self.perform_actions(s, now, out);
        }
        s.restart_timer(now);
        self.send_now(s, now, out);
        s.note_max_cwnd();
    }

    /// Takes the acknowledged segments off the record and finds losses.
    // Once an ACK, from one place: a call costs more than what it does.
    #[inline(always)]
    fn update_record(&mut self, s: &mut Core, now: Time, packet: &Packet) -> Progress {
        let window_before = s.snd.window;
        s.snd.window = u64::from(packet.window);
        // The receiving half of Linux tunes its window by what data echoes.
        if s.rules.stack == StackKind::Linux && packet.acknowledgement >= s.snd.una {
            s.headers.echo = packet.timestamp;
        }
        let mut progress = Progress {
            advances: packet.acknowledgement > s.snd.una,
            ..Progress::default()
        };
        if progress.advances {
            progress.acked = s.acknowledge(packet.acknowledgement);
        }
        self.note_duplicate_report(packet);
        let selective = s.options.recovery.uses_sack();
        if selective {
            (progress.sacked, progress.sacked_sent_at) = s.take_sack_blocks(packet);
            progress.lost = s.board.find_lost(Rfc::loss_rule(s)) + self.find_lost_again(s);
        } else if s.options.recovery == Recovery::Snack {
            progress.lost = self.take_snack(s, now, packet);
        }
        progress.duplicate = !progress.advances
            && !packet.has(flags::PROBE)
            && s.board.outstanding() > 0
            && packet.payload == 0
            && window_before == s.snd.window
            && (progress.sacked > 0 || (!selective && packet.acknowledgement == s.snd.una));
        if s.options.recovery == Recovery::Snack {
            self.count_arrived(s, progress.acked.segments, progress.duplicate);
        }
        progress
    }

    /// The ACK as the congestion control receives it; takes its RTT sample.
    /// `plain` where the record is clean.
    #[inline(always)]
    fn describe(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        progress: &Progress,
        flight_before: f64,
        plain: bool,
    ) -> Ack {
        let rtt_from = rtt_sample_start(s, now, packet, progress);
        if let Some(sent) = rtt_from {
            s.rtt.sample(sent, now, s.window.cwnd);
        }
        let delivered = self.delivered(s, progress);
        let outstanding = s.board.outstanding();
        let flight = if plain { outstanding } else { s.board.flight() };
        let (round_start, delivery_rate) =
            s.count_delivered(now, progress.advances, u64::from(delivered));
        let rate_sample = match &mut s.rate {
            _ if plain => None,
            None => None,
            Some(rate) => rate.sample(now, s.rtt.smallest(), s.mss),
        };
        Ack {
            now,
            acked: f64::from(progress.acked.segments),
            delivered: f64::from(delivered),
            duplicate: progress.duplicate,
            rtt: rtt_from.map(|sent| now.since(sent)),
            min_rtt: s.rtt.smallest(),
            smoothed_rtt: s.rtt.smoothed(),
            delivery_rate,
            rate_sample,
            lost: f64::from(progress.lost),
            probes: u32::from(packet.answers_probe(false)),
            high_probes: u32::from(packet.answers_probe(true)),
            congestion_echo: packet.has(flags::ECE),
            flight_before,
            flight: count(flight) - self.arrived,
            outstanding: count(outstanding),
            head: s.board.head(),
            cwnd_limited: self.window_limited || s.rules.grows_when_application_limited,
            round_start,
            in_recovery: self.state == State::Recovery,
            receive_window: s.receive_window(),
            mss: s.mss,
        }
    }

    /// Segments that an ACK says have arrived.
    #[inline(always)]
    fn delivered(&self, s: &Core, progress: &Progress) -> u32 {
        let counts_duplicates =
            s.rules.stack == StackKind::Linux && !s.options.recovery.uses_sack();
        if counts_duplicates {
            self.delivered_unnamed(progress.acked.segments, progress.duplicate)
        } else {
            progress.acked.delivered + progress.sacked
        }
    }

    /// The window grows by what an ACK that advances acknowledges; on Linux by what has arrived
    /// since the one before.
    #[inline(always)]
    fn grow(s: &mut Core, ack: &Ack) {
        if s.rules.stack == StackKind::Linux {
            let acked = ack.delivered;
            s.cc.on_ack(&Ack { acked, ..*ack }, &mut s.window);
        } else {
            s.cc.on_ack(ack, &mut s.window);
        }
    }

    /// What is being repaired, as a congestion control that owns the window
    /// receives it.
    fn repair(&self) -> Repair {
        match self.state {
            State::Open => Repair::None,
            State::Recovery => Repair::Recovery,
            State::Loss => Repair::Timeout,
        }
    }

    /// Restarts the timer for an ACK that advances; without SACK, once in a
    /// recovery.
    #[inline]
    fn restart_timer(&mut self, s: &mut Core, now: Time) {
        let recovery = s.options.recovery;
        let selective = recovery.uses_sack() || recovery == Recovery::Snack;
        let recovers = self.state == State::Recovery;
        if !(recovers && self.impatient && !selective) {
            s.restart_timer(now);
        }
        self.impatient |= recovers;
    }

    fn acknowledged_open<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        ack: &mut Ack,
        advances: bool,
        out: &mut T,
    ) {
        if advances {
            self.duplicate_acks = 0;
        } else if ack.duplicate {
            self.duplicate_acks += 1;
            self.add_unnamed(s);
        }
        let lost = if s.options.recovery.uses_sack() {
            // Three duplicate ACKs count even when short segments keep the
            // scoreboard below its threshold.
            if !s.board.any_lost()
                && self.duplicate_acks >= DUPLICATE_THRESHOLD
                && s.board.lose_head()
            {
                ack.lost += 1.0;
                ack.flight -= 1.0;
            }
            s.board.any_lost()
        } else if s.options.recovery == Recovery::Snack {
            // A loss that is being repaired, or corruption, reduces nothing.
            ack.lost > 0.0 && s.snd.una >= self.reduced_until && !self.corrupted
        } else {
            // The careful variant of RFC 6582: duplicates of a segment below
            // `recover` come from an earlier repair.
            self.duplicate_acks == DUPLICATE_THRESHOLD
                && (s.snd.una > self.recover || self.recover == 0)
        };
        if lost {
            self.enter_recovery(s, now, out);
        } else if advances {
            Rfc::grow(s, ack);
        }
    }

    fn acknowledged_recovery<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        ack: &Ack,
        advances: bool,
        out: &mut T,
    ) {
        if advances && (s.snd.una >= self.recover || s.options.recovery == Recovery::Reno) {
            self.leave_recovery(s, now, ack);
            return;
        }
        if ack.duplicate {
            self.duplicate_acks += 1;
            self.add_unnamed(s);
        }
        if s.options.recovery.uses_sack() || s.options.recovery == Recovery::Snack {
            return self.grow_in_recovery(s, ack, advances);
        }
        if advances {
            // Partial ACK: the next hole, and deflate by what was
            // acknowledged less one segment. What the duplicate ACKs did not
            // count, some of them lost, leaves the window at least ssthresh.
            self.remove_unnamed(s, ack.acked);
            self.inflation = (self.inflation + 1.0 - ack.acked).max(0.0);
            if s.board.lose_head()
                && let Some(hole) = s.board.next_lost()
            {
                self.resend(s, now, hole, out);
            }
        } else if ack.duplicate {
            self.inflation += 1.0;
        }
        self.grow_in_recovery(s, ack, advances);
    }

    fn grow_in_recovery(&mut self, s: &mut Core, ack: &Ack, advances: bool) {
        if advances && s.rules.grows_in_recovery {
            s.cc.on_ack(ack, &mut s.window);
        }
    }

    fn acknowledged_loss(&mut self, s: &mut Core, ack: &Ack, advances: bool) {
        if !s.options.recovery.uses_sack() {
            self.count_in_loss(s, ack.duplicate, advances);
        }
        if !advances {
            return;
        }
        self.duplicate_acks = 0;
        if s.snd.una >= self.recover {
            self.state = State::Open;
        }
        Rfc::grow(s, ack);
    }
}

/// A number of segments, which an `i64` always holds: the conversion is one
/// instruction.
#[inline]
fn count(segments: usize) -> f64 {
    segments as i64 as f64
}

/// When the packet that this acknowledgement answers was sent, if it gives an
/// RTT sample: by timestamps for every ACK that advances, otherwise by Karn's
/// rule.
#[inline]
fn rtt_sample_start(s: &Core, now: Time, packet: &Packet, progress: &Progress) -> Option<Time> {
    if s.headers.timestamps {
        return progress.advances.then(|| echoed_at(now, packet));
    }
    let sacked = progress.sacked_sent_at.filter(|_| progress.advances);
    progress.acked.sent_once_at.or(sacked)
}
