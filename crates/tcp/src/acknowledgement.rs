//! What an acknowledgement, a loss and a timeout do to the sender.

use crate::Recovery;
use crate::packet::{Packet, Transmit, flags, timestamp};
use crate::scoreboard::{Acked, LossRule};
use crate::sender::{Sender, State, Undo};
use bentpipe_cc::{Ack, Loss, RecoveryExit, Repair, Timeout};
use bentpipe_units::{Bytes, Rate, Time, math};

/// Duplicate ACKs that mean a loss.
const DUPLICATE_THRESHOLD: u32 = 3;

impl Sender {
    /// Takes an acknowledgement that arrived at `now`.
    pub(crate) fn on_acknowledgement<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) {
        if self.with_agent(|agent, s| agent.on_acknowledgement(s, now, packet, out)) {
            return;
        }
        if packet.acknowledgement > self.next {
            return; // Acknowledges what was never sent.
        }
        let answers = packet.has(flags::PROBE);
        self.counters.acks += 1;
        self.counters.probe_answers += u64::from(answers);
        let advances = packet.acknowledgement > self.una;
        let window_before = self.receive_window;
        self.receive_window = u64::from(packet.window);
        let flight_before = self.board.flight() as f64 - self.arrived;

        let acked = if advances {
            self.una = packet.acknowledgement;
            match &mut self.rate {
                None => self.board.acknowledge(self.una),
                Some(rate) => self
                    .board
                    .acknowledge_with(self.una, |covered| rate.acknowledged(covered.newly)),
            }
        } else {
            Acked::default()
        };
        let (sacked, sacked_sent_at) = self.take_sack_blocks(packet);
        let lost = if self.recovery.uses_sack() {
            self.board.find_lost(self.loss_rule()) + self.find_lost_again()
        } else if self.recovery == Recovery::Snack {
            self.take_snack(now, packet)
        } else {
            0
        };
        let duplicate = !advances
            && !answers
            && self.board.outstanding() > 0
            && packet.payload == 0
            && window_before == self.receive_window
            && (sacked > 0 || (!self.recovery.uses_sack() && packet.acknowledgement == self.una));

        if self.recovery == Recovery::Snack {
            self.count_arrived(acked.segments, duplicate);
        }
        let rtt_from = self.rtt_sample_start(now, packet, advances, &acked, sacked_sent_at);
        if let Some(sent) = rtt_from {
            self.rtt.sample(sent, now, self.window.cwnd);
        }
        let round_start = advances && self.una > self.round_end;
        let delivered = u64::from(acked.delivered + sacked) * u64::from(self.mss);
        let delivery_rate = self.delivered_in_round(now, delivered, round_start);
        if round_start {
            self.round_end = self.next;
        }
        let rate_sample = match &mut self.rate {
            None => None,
            Some(rate) => rate.sample(now, self.rtt.smallest(), self.mss),
        };
        let mut ack = Ack {
            now,
            acked: f64::from(acked.segments),
            delivered: f64::from(acked.delivered + sacked),
            duplicate,
            rtt: rtt_from.map(|sent| now.since(sent)),
            min_rtt: self.rtt.smallest(),
            smoothed_rtt: self.rtt.smoothed(),
            delivery_rate,
            rate_sample,
            lost: f64::from(lost),
            probes: u32::from(answers),
            congestion_echo: packet.has(flags::ECE),
            flight_before,
            flight: self.board.flight() as f64 - self.arrived,
            outstanding: self.board.outstanding() as f64,
            head: self.board.head(),
            cwnd_limited: self.window_limited || self.rules.grows_when_application_limited,
            round_start,
            in_recovery: self.state == State::Recovery,
            receive_window: self.receive_window as f64 / f64::from(self.mss),
            mss: self.mss,
        };
        if advances || duplicate || answers {
            self.cc.on_sample(&ack, &mut self.window);
        }
        self.take_feedback(now, packet);
        self.detect_spurious(packet, advances);

        match self.state {
            State::Open => self.acknowledged_open(now, &mut ack, advances, out),
            State::Recovery => self.acknowledged_recovery(now, &ack, advances, out),
            State::Loss => self.acknowledged_loss(&ack, advances),
        }
        if self.recovery == Recovery::Snack {
            self.resend_named(now, out);
        }
        if self.ecn && packet.has(flags::ECE) {
            self.on_congestion_echo(now);
        }
        if self.owns_window {
            let repair = self.repair();
            self.cc.on_control(&ack, repair, &mut self.window);
        }
        if self.has_actions() {
            self.perform_actions(now, &ack, out);
        }
        let selective = self.recovery.uses_sack() || self.recovery == Recovery::Snack;
        let keeps_timer = self.state == State::Recovery && self.impatient && !selective;
        if advances && !keeps_timer {
            self.restart_timer(now);
        }
        if advances && self.state == State::Recovery {
            self.impatient = true;
        }
        self.send(now, out);
        self.max_cwnd = self.max_cwnd.max(self.window.cwnd);
    }

    /// Counts `bytes` delivered; at the start of a round, the rate over the
    /// round that ended.
    pub(crate) fn delivered_in_round(
        &mut self,
        now: Time,
        bytes: u64,
        round_start: bool,
    ) -> Option<Rate> {
        self.round_delivered += bytes;
        if !round_start {
            return None;
        }
        let took = now.since(self.round_began_at);
        let delivered = std::mem::take(&mut self.round_delivered);
        let first = std::mem::replace(&mut self.round_began_at, now) == Time::ZERO;
        (!first && !took.is_zero()).then(|| Rate::of(Bytes::new(delivered), took))
    }

    /// Updates the scoreboard from the packet's SACK blocks; returns how many
    /// segments they newly cover and when the newest of those sent once left.
    pub(crate) fn take_sack_blocks(&mut self, packet: &Packet) -> (u32, Option<Time>) {
        let mut total = (0, None);
        if !self.recovery.uses_sack() {
            return total;
        }
        for (i, block) in packet.sack[..usize::from(packet.sack_count)]
            .iter()
            .enumerate()
        {
            let absolute = |x: u32| {
                packet
                    .acknowledgement
                    .wrapping_add_signed(i64::from(x.cast_signed()))
            };
            let (start, end) = (absolute(block.start), absolute(block.end));
            // D-SACK (RFC 2883): the first block, below the acknowledgement or
            // inside the second one.
            let below = start < packet.acknowledgement;
            let inside = packet.sack_count > 1
                && block.start >= packet.sack[1].start
                && block.end <= packet.sack[1].end;
            if i == 0
                && (below || inside)
                && let Some(undo) = &mut self.undo
                && end > undo.una
            {
                undo.unreported = undo.unreported.saturating_sub(1);
                undo.any_reported = true;
            }
            if below {
                continue;
            }
            let (newly, sent_at) = match &mut self.rate {
                None => self.board.sack(start, end),
                Some(rate) => self
                    .board
                    .sack_with(start, end, |index, _| rate.sacked(index)),
            };
            total.0 += newly;
            total.1 = total.1.max(sent_at);
        }
        total
    }

    /// When the packet that this acknowledgement answers was sent, if it gives
    /// an RTT sample: by timestamps for every ACK that advances, else by
    /// Karn's rule.
    fn rtt_sample_start(
        &self,
        now: Time,
        packet: &Packet,
        advances: bool,
        acked: &Acked,
        sacked_sent_at: Option<Time>,
    ) -> Option<Time> {
        if self.timestamps {
            return if advances {
                echoed_at(now, packet)
            } else {
                None
            };
        }
        acked
            .sent_once_at
            .or(if advances { sacked_sent_at } else { None })
    }

    /// What is being repaired, in the words of a congestion control.
    fn repair(&self) -> Repair {
        match self.state {
            State::Open => Repair::None,
            State::Recovery => Repair::Recovery,
            State::Loss => Repair::Timeout,
        }
    }

    fn acknowledged_open<T: Transmit>(
        &mut self,
        now: Time,
        ack: &mut Ack,
        advances: bool,
        out: &mut T,
    ) {
        if advances {
            self.duplicate_acks = 0;
        } else if ack.duplicate {
            self.duplicate_acks += 1;
        }
        let lost = if self.recovery.uses_sack() {
            // Three duplicate ACKs count even when short segments keep the
            // scoreboard below its threshold.
            if !self.board.any_lost()
                && self.duplicate_acks >= DUPLICATE_THRESHOLD
                && self.board.lose_head()
            {
                ack.lost += 1.0;
                ack.flight -= 1.0;
            }
            self.board.any_lost()
        } else if self.recovery == Recovery::Snack {
            // What a repair already knows of, or corruption, is no news.
            ack.lost > 0.0 && self.una >= self.reduced_until && !self.corrupted
        } else {
            // The careful variant of RFC 6582: duplicates of a segment below
            // `recover` come from an earlier repair.
            self.duplicate_acks == DUPLICATE_THRESHOLD
                && (self.una > self.recover || self.recover == 0)
        };
        if lost {
            self.enter_recovery(now, ack, out);
        } else if advances {
            self.cc.on_ack(ack, &mut self.window);
        }
    }

    pub(crate) fn enter_recovery<T: Transmit>(&mut self, now: Time, ack: &Ack, out: &mut T) {
        self.remember_for_undo();
        let loss = Loss {
            now,
            flight: self.reduction_base(),
            outstanding: self.board.outstanding() as f64,
            ecn: false,
            head: ack.head,
            smoothed_rtt: ack.smoothed_rtt,
            min_rtt: ack.min_rtt,
            mss: self.mss,
        };
        let before = self.window.cwnd;
        // A loss among what was under way when a mark was echoed is the same
        // congestion (RFC 3168, section 6.1.2): it is repaired without a second
        // cut.
        if self.una >= self.echo_cut_until {
            self.cc.on_loss(&loss, &mut self.window);
        }
        self.note_reduction(before);
        self.recover = self.next;
        self.reduced_until = self.next;
        self.impatient = false;
        self.rescued = false;
        self.tell_reduced = true;
        self.counters.recoveries += 1;
        if self.recovery == Recovery::Tahoe {
            self.window.cwnd = 1.0;
            self.state = State::Loss;
            self.board.lose_all(true);
            return;
        }
        self.state = State::Recovery;
        if self.recovery == Recovery::Snack {
            // All that the ACK named goes when it has been taken.
        } else if !self.recovery.uses_sack() {
            self.board.lose_head();
            self.inflation = f64::from(DUPLICATE_THRESHOLD);
        } else if self.rules.inflates_with_sack && !self.owns_window {
            self.window.cwnd += f64::from(DUPLICATE_THRESHOLD);
        }
        // The first hole goes whatever the window says, but not before a window
        // and a rate that somebody else sets.
        if !self.owns_window
            && self.recovery != Recovery::Snack
            && let Some(hole) = self.board.next_lost()
        {
            self.resend(now, hole, out);
        }
        self.restart_timer(now);
    }

    /// Finds retransmissions of this recovery that were lost; how many.
    fn find_lost_again(&mut self) -> u32 {
        if self.recovery != Recovery::SackRepeat || self.state != State::Recovery {
            return 0;
        }
        std::iter::from_fn(|| self.board.lose_again()).count() as u32
    }

    /// How selective acknowledgements tell that a hole is lost.
    fn loss_rule(&self) -> LossRule {
        if self.recovery == Recovery::Fack {
            LossRule::Forward
        } else {
            LossRule::ThreeAbove
        }
    }

    /// The segments that a reduction halves: what is unacknowledged (FlightSize
    /// of RFC 5681), without what limited transmit added; or the window in
    /// use, on hosts that halve that.
    ///
    /// Never more than cwnd: in a long SACK recovery what is unacknowledged
    /// grows to several windows, and a timeout at its end would otherwise
    /// raise ssthresh.
    fn reduction_base(&self) -> f64 {
        if self.rules.reduces_window {
            let receive_window = self.receive_window as f64 / f64::from(self.mss);
            let window = self.window.cwnd.min(receive_window).max(1.0);
            return if self.rules.whole_segments {
                math::floor(window)
            } else {
                window
            };
        }
        let flight = self.board.outstanding() as f64;
        // Limited transmit may have found nothing to send.
        let limited = if self.limited_transmit && self.state == State::Open {
            let above = flight - math::floor(self.window.cwnd);
            above.clamp(0.0, f64::from(self.duplicate_acks.min(2)))
        } else {
            0.0
        };
        (flight - limited).min(self.window.cwnd).max(1.0)
    }

    fn acknowledged_recovery<T: Transmit>(
        &mut self,
        now: Time,
        ack: &Ack,
        advances: bool,
        out: &mut T,
    ) {
        if advances && (self.una >= self.recover || self.recovery == Recovery::Reno) {
            self.leave_recovery(now, ack);
            return;
        }
        self.duplicate_acks += u32::from(ack.duplicate);
        if self.recovery.uses_sack() || self.recovery == Recovery::Snack {
            return self.grow_in_recovery(ack, advances);
        }
        if advances {
            // Partial ACK: the next hole, and deflate by what was
            // acknowledged less one segment.
            self.inflation = (self.inflation - ack.acked).max(0.0) + 1.0;
            if self.board.lose_head()
                && let Some(hole) = self.board.next_lost()
            {
                self.resend(now, hole, out);
            }
        } else if ack.duplicate {
            self.inflation += 1.0;
        }
        self.grow_in_recovery(ack, advances);
    }

    fn grow_in_recovery(&mut self, ack: &Ack, advances: bool) {
        if advances && self.rules.grows_in_recovery {
            self.cc.on_ack(ack, &mut self.window);
        }
    }

    fn leave_recovery(&mut self, now: Time, ack: &Ack) {
        self.state = State::Open;
        let duplicates = std::mem::take(&mut self.duplicate_acks);
        self.inflation = 0.0;
        if self.rules.inflates_with_sack && duplicates <= DUPLICATE_THRESHOLD {
            return;
        }
        let exit = RecoveryExit {
            now,
            flight: self.board.flight() as f64,
            recovery_fix: self.recovery_fix,
            min_rtt: ack.min_rtt,
            mss: self.mss,
        };
        self.cc.on_recovery_exit(&exit, &mut self.window);
    }

    fn acknowledged_loss(&mut self, ack: &Ack, advances: bool) {
        if !advances {
            return;
        }
        self.duplicate_acks = 0;
        if self.una >= self.recover {
            self.state = State::Open;
        }
        self.cc.on_ack(ack, &mut self.window);
    }

    fn on_congestion_echo(&mut self, now: Time) {
        // Once per window of data, and not while a loss is being repaired or
        // right after: that window was cut already. The ACK of all that was under
        // way then may still echo the old mark: the receiver hears of the cut
        // by the segment after it.
        let cut_already = self.reduced_until > 0 && self.una <= self.reduced_until;
        if self.state != State::Open || cut_already {
            return;
        }
        let loss = Loss {
            now,
            flight: self.reduction_base(),
            outstanding: self.board.outstanding() as f64,
            ecn: true,
            head: self.board.head(),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.smallest(),
            mss: self.mss,
        };
        let before = self.window.cwnd;
        self.cc.on_loss(&loss, &mut self.window);
        self.note_reduction(before);
        self.reduced_until = self.next;
        self.echo_cut_until = self.next;
        self.tell_reduced = true;
    }

    /// The retransmission timer ran out.
    pub(crate) fn on_timeout<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if self.with_agent(|agent, s| agent.on_timeout(s, now, out)) {
            return;
        }
        if self.board.outstanding() == 0 {
            self.probe_window(now, out);
            return;
        }
        if self.state != State::Loss {
            self.remember_for_undo();
        }
        self.counters.timeouts += 1;
        let first = self.timed_out_una != Some(self.una);
        self.timed_out_una = Some(self.una);
        let timeout = Timeout {
            now,
            flight: self.reduction_base(),
            outstanding: self.board.outstanding() as f64,
            first,
            min_rtt: self.rtt.smallest(),
            mss: self.mss,
        };
        let before = self.window.cwnd;
        self.cc.on_timeout(&timeout, &mut self.window);
        self.note_reduction(before);
        if !std::mem::take(&mut self.window.actions.keeps_rto) {
            self.rtt.back_off();
        }
        self.state = State::Loss;
        self.recover = self.next;
        self.reduced_until = self.next;
        self.duplicate_acks = 0;
        self.inflation = 0.0;
        self.arrived = 0.0;
        self.tell_reduced = true;
        self.board.lose_all(!self.recovery.uses_sack());
        self.retransmission_deadline = now + self.rtt.rto();
        self.take_requests();
        self.send(now, out);
    }

    /// Counts a reduction if the window was `before` and is smaller now.
    pub(crate) fn note_reduction(&mut self, before: f64) {
        self.counters.reductions += u64::from(self.window.cwnd < before);
    }

    fn remember_for_undo(&mut self) {
        if self.undo_enabled {
            self.undo = Some(Undo {
                window: self.window.clone(),
                reductions: self.counters.reductions,
                una: self.una,
                first_resent_at: None,
                answered: false,
                // What an earlier episode sent again may still be reported.
                unreported: self.board.retransmitted(),
                any_reported: false,
            });
        }
    }

    /// Undoes the last reduction if the retransmissions proved needless: the
    /// first new ACK echoes a timestamp from before them (Eifel, RFC 3522), or
    /// every one of them was reported as a duplicate (RFC 3708).
    fn detect_spurious(&mut self, packet: &Packet, advances: bool) {
        let Some(undo) = &mut self.undo else { return };
        let Some(resent_at) = undo.first_resent_at else {
            return;
        };
        let new_ack = advances && self.una > undo.una;
        let first_new_ack = new_ack && !undo.answered;
        undo.answered |= new_ack;
        let older = packet
            .timestamp_echo
            .wrapping_sub(timestamp(resent_at))
            .cast_signed()
            < 0;
        let eifel = self.timestamps && first_new_ack && older;
        let duplicates = undo.any_reported && undo.unreported == 0;
        if eifel || duplicates {
            let before = undo.window.clone();
            self.counters.reductions = undo.reductions;
            self.cc.on_spurious(&before, &mut self.window);
            self.undo = None;
            self.counters.undone += 1;
            if self.state != State::Open {
                self.state = State::Open;
                self.board.unlose_all();
                self.inflation = 0.0;
                self.duplicate_acks = 0;
            }
        } else if new_ack && self.timestamps && self.una >= self.recover {
            // The retransmissions were needed; only duplicates that are still
            // to be reported could tell otherwise, and those come soon.
            if undo.unreported == 0 || self.state == State::Open {
                self.undo = None;
            }
        }
    }
}

/// When the packet was sent whose timestamp `packet` echoes.
pub(crate) fn echoed_at(now: Time, packet: &Packet) -> Option<Time> {
    let age_us = timestamp(now).wrapping_sub(packet.timestamp_echo);
    let ns = now.as_nanos() / 1_000 * 1_000;
    Some(Time::from_nanos(
        ns.saturating_sub(u64::from(age_us) * 1_000),
    ))
}
