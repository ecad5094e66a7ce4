//! Status reports: their content and effect.

use super::Stp;
use crate::packet::{Packet, Transmit, echoed_at, priority};
use crate::scoreboard::Acked;
use crate::sender_core::Core;
use bentpipe_cc::{Ack, Repair};
use bentpipe_units::{Duration, Time};

/// Changes to the scoreboard by a report.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Something is newly acknowledged cumulatively.
    advances: bool,
    acked: Acked,
    /// Segments newly known to have arrived above a gap, and newly found lost.
    arrived: u32,
    lost: u32,
}

impl Stp {
    /// Processes a report that arrived at `now`.
    pub(super) fn on_report<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) {
        if packet.acknowledgement > s.snd.next {
            return; // Acknowledges what was never sent.
        }
        s.counters.acks += 1;
        let flight_before = s.board.flight();
        s.snd.window = u64::from(packet.window);
        let answers = packet.carries(priority::POLL);
        let polled_at = echoed_at(now, packet);
        if answers {
            s.rtt.sample(polled_at, now, s.window.cwnd);
            self.unanswered = self.unanswered.filter(|first| *first > polled_at);
        }
        // The clock of a POLL has microseconds.
        let before = match answers && self.left_before(packet.timestamp_echo) {
            true => polled_at + Duration::from_micros(1),
            false => polled_at,
        };
        let progress = Stp::update_record(s, now, packet, answers.then_some(before));
        let rtt = answers.then(|| now.since(polled_at));
        let ack = self.describe(s, now, &progress, rtt, flight_before);
        if progress.advances || progress.arrived > 0 {
            s.cc.on_sample(&ack, &mut s.window);
        }
        let was_repairing = self.repairs;
        if was_repairing && s.snd.una >= self.recover {
            self.repairs = false;
            s.end_recovery(now, s.board.flight() as f64, ack.min_rtt);
        }
        if progress.lost > 0 && s.snd.una >= self.recover {
            self.reduce(s, now);
        } else if progress.advances && !was_repairing {
            s.cc.on_ack(&ack, &mut s.window);
        }
        if s.options.owns_window {
            let repair = if self.repairs {
                Repair::Recovery
            } else {
                Repair::None
            };
            s.cc.on_control(&ack, repair, &mut s.window);
        }
        if s.has_actions() {
            // What a report names is sent again anyway: nothing else is done.
            s.take_requests();
            s.window.actions = Default::default();
        }
        self.send_permitted(s, now, out);
        s.note_max_cwnd();
    }

    /// Takes what arrived off the record and finds losses. What was sent `before`
    /// is what a STAT knows of.
    fn update_record(s: &mut Core, now: Time, packet: &Packet, before: Option<Time>) -> Progress {
        let mut progress = Progress {
            advances: packet.acknowledgement > s.snd.una,
            ..Progress::default()
        };
        if progress.advances {
            progress.acked = s.acknowledge(packet.acknowledgement);
        }
        let youngest = s.rtt.smallest();
        let mut behind = None;
        for (start, end) in packet.sack_ranges() {
            if let Some(from) = behind.replace(end).filter(|_| before.is_some()) {
                progress.arrived += Stp::arrived(s, from, start);
            }
            let lost = |sent_at: Time, _| match before {
                Some(before) => sent_at < before,
                None => now.since(sent_at) >= youngest,
            };
            progress.lost += s.board.lose_range(start, end, lost);
        }
        if let (Some(from), Some(_)) = (behind, before) {
            progress.arrived += Stp::arrived(s, from, packet.sequence);
        }
        progress
    }

    /// What lies from `start` to `end` has arrived; returns how many segments
    /// were not known to have.
    fn arrived(s: &mut Core, start: u64, end: u64) -> u32 {
        let (newly, _) = match &mut s.rate {
            None => s.board.sack(start, end),
            Some(rate) => s.board.sack_with(start, end, |index, _| rate.sacked(index)),
        };
        newly
    }

    /// The report as the congestion control receives it.
    fn describe(
        &self,
        s: &mut Core,
        now: Time,
        progress: &Progress,
        rtt: Option<Duration>,
        flight_before: usize,
    ) -> Ack {
        let delivered = progress.acked.delivered + progress.arrived;
        let (round_start, delivery_rate) =
            s.count_delivered(now, progress.advances, u64::from(delivered));
        let rate_sample = match &mut s.rate {
            None => None,
            Some(rate) => rate.sample(now, s.rtt.smallest(), s.mss),
        };
        Ack {
            now,
            acked: f64::from(progress.acked.segments),
            delivered: f64::from(delivered),
            duplicate: false,
            rtt,
            min_rtt: s.rtt.smallest(),
            smoothed_rtt: s.rtt.smoothed(),
            delivery_rate,
            rate_sample,
            lost: f64::from(progress.lost),
            probes: 0,
            high_probes: 0,
            congestion_echo: false,
            flight_before: flight_before as f64,
            flight: s.board.flight() as f64,
            outstanding: s.board.outstanding() as f64,
            head: s.board.head(),
            cwnd_limited: self.window_limited || s.rules.grows_when_application_limited,
            round_start,
            in_recovery: self.repairs,
            receive_window: s.receive_window(),
            mss: s.mss,
        }
    }
}
