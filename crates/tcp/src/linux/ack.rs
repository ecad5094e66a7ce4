//! Processing of an acknowledgement: its information, and the order of evaluation.

use super::{Linux, Resend, State};
use crate::packet::{Packet, Transmit, echoed_at, flags, is_older, timestamp};
use crate::scoreboard::Covered;
use crate::sender_core::Core;
use bentpipe_cc::{Ack, Repair};
use bentpipe_units::{Duration, Time};

/// The information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSummary {
    pub(super) prior_una: u64,
    /// The highest selectively acknowledged byte before, or what was
    /// acknowledged.
    prior_forward: u64,
    prior_flight: usize,
    pub(super) advances: bool,
    window_update: bool,
    pub(super) congestion_echo: bool,
    /// Nothing new, and something is outstanding.
    pub(super) duplicate: bool,
    /// Segments acknowledged, those selectively acknowledged before included;
    /// newly selectively acknowledged; and delivered: either, and duplicates
    /// that were reported.
    acked: u32,
    pub(super) sacked: u32,
    delivered: u32,
    duplicates_reported: bool,
    /// The report is of the probe.
    probe_reported: bool,
    /// Something sent before the state began and never again is among them.
    pub(super) original: bool,
    /// Something sent again is.
    resent: bool,
    /// A retransmission was found lost.
    pub(super) lost_again: bool,
    /// The timer is to be set.
    pub(super) sets_timer: bool,
    pub(super) echoed_timestamp: u32,
    /// When the first and the last of what was sent once were sent: of what is
    /// acknowledged, and of what is selectively.
    acked_sent: Option<(Time, Time)>,
    sacked_sent: Option<(Time, Time)>,
    /// The lowest byte that arrived out of order without having been sent
    /// again, by selective acknowledgements or the others.
    sacked_out_of_order: Option<u64>,
    acked_from: Option<u64>,
}

fn span(span: &mut Option<(Time, Time)>, sent_at: Time) {
    *span = Some((span.map_or(sent_at, |(first, _)| first), sent_at));
}

/// So many segments: 32 bits count all that are under way, and are converted in one step.
#[inline]
fn count(segments: usize) -> f64 {
    f64::from(segments as u32)
}

fn lowest(of: &mut Option<u64>, start: u64) {
    *of = Some(of.map_or(start, |low| low.min(start)));
}

impl Linux {
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
        let lost_before = self.lost;
        s.take_error_count(packet);
        let mut news = self.begin(s, packet);
        self.take_blocks(s, now, packet, &mut news);
        self.take_acknowledged(s, now, packet, &mut news);
        news.duplicate = !news.advances
            && !packet.has(flags::PROBE)
            && s.board.outstanding() > 0
            && packet.payload == 0
            && !news.window_update;
        self.delivered += u64::from(news.delivered);
        let rtt = self.measure(s, now, packet, &mut news);
        let mut ack = self.describe(s, now, packet, &news, rtt);
        s.cc.on_sample(&ack, &mut s.window);
        s.take_feedback(now, packet);

        let prior_delivered = ack.rate_sample.map(|sample| sample.prior_delivered as u64);
        self.rack
            .adapt(prior_delivered.unwrap_or(self.rtt_began(s)), self.delivered);
        let is_quiet = news.duplicate && news.sacked == 0;
        self.judge_probe(
            s,
            now,
            packet.acknowledgement,
            news.probe_reported,
            is_quiet,
        );
        let is_plain = (news.advances || news.window_update)
            && news.sacked == 0
            && !news.congestion_echo
            && !news.duplicates_reported
            && self.state == State::Open;
        let resend = if is_plain {
            Resend::Nothing
        } else {
            self.fastretrans(s, now, &mut news)
        };
        if news.sets_timer {
            self.reset_timer(s, now);
        }
        ack.lost = count((self.lost - lost_before) as usize);
        ack.flight = count(s.board.flight());
        ack.in_recovery = self.state == State::Recovery;
        self.control(s, &mut ack, &news);
        if s.has_actions() {
            self.perform(s, now, out);
        }
        self.transmit(s, now, resend, out);
        s.begin_probes(now, out);
        s.note_max_cwnd();
    }

    /// Takes timestamp and window of an ACK; what stood before it.
    fn begin(&mut self, s: &mut Core, packet: &Packet) -> AckSummary {
        let answers = packet.has(flags::PROBE);
        s.counters.acks += 1;
        s.counters.probe_answers += u64::from(answers);
        let window = u64::from(packet.window);
        // What was overtaken carries an older window (tcp_may_update_window).
        let is_old = packet.acknowledgement < s.snd.una;
        if s.headers.timestamps && !is_old {
            s.headers.echo = packet.timestamp;
        }
        let news = AckSummary {
            prior_una: s.snd.una,
            prior_forward: self.forward.max(s.snd.una),
            prior_flight: s.board.flight(),
            advances: packet.acknowledgement > s.snd.una,
            window_update: window != s.snd.window,
            congestion_echo: s.headers.ecn && packet.has(flags::ECE),
            echoed_timestamp: packet.timestamp_echo,
            ..AckSummary::default()
        };
        if news.advances {
            self.timeouts = 0;
        }
        if !is_old {
            s.snd.window = window;
        }
        news
    }

    /// Segments delivered before what this ACK covers was sent, where no rate
    /// samples are kept: about a window ago.
    fn rtt_began(&self, s: &Core) -> u64 {
        self.delivered.saturating_sub(s.board.outstanding() as u64)
    }

    fn transmit<T: Transmit>(&mut self, s: &mut Core, now: Time, resend: Resend, out: &mut T) {
        match resend {
            Resend::Nothing => {}
            Resend::Lost => self.resend_lost(s, now, out),
            Resend::New => {
                self.write(s, now, false, out);
                if s.snd.next <= self.high {
                    self.doubts_timeout = false;
                    self.resend_lost(s, now, out);
                }
            }
        }
        self.write(s, now, false, out);
        if self.expand(s) {
            self.write(s, now, false, out);
        }
    }

    /// The window grows or is reduced.
    fn control(&mut self, s: &mut Core, ack: &mut Ack, news: &AckSummary) {
        if s.options.owns_window {
            let repair = match self.state {
                State::Open | State::Disorder | State::Cwr => Repair::None,
                State::Recovery => Repair::Recovery,
                State::Loss => Repair::Timeout,
            };
            s.cc.on_control(ack, repair, &mut s.window);
        } else if self.is_reducing() {
            let is_safe = news.advances && ack.lost == 0.0;
            self.reduce(s, u64::from(news.delivered), is_safe);
        } else if news.acked > 0
            || (self.rack.reordering > super::rack::REORDERING && news.sacked > 0)
        {
            ack.acked = f64::from(news.delivered);
            ack.cwnd_limited = s.rules.grows_when_application_limited || self.is_limited(s);
            s.cc.on_ack(ack, &mut s.window);
        }
    }

    /// Takes the selective acknowledgements in, the lowest first.
    fn take_blocks(&mut self, s: &mut Core, now: Time, packet: &Packet, news: &mut AckSummary) {
        if packet.sack_count == 0 {
            return;
        }
        let mut blocks = [(0, 0); crate::packet::MAX_SACK_BLOCKS];
        for (block, range) in blocks.iter_mut().zip(packet.sack_ranges()) {
            *block = range;
        }
        let blocks = &mut blocks[..usize::from(packet.sack_count)];
        self.take_duplicate_report(s, now, packet, blocks, news);
        blocks.sort_unstable();
        for &(start, end) in &*blocks {
            if start >= packet.acknowledgement {
                self.take_block(s, now, (start, end), news);
            }
        }
        if let Some(start) = news.sacked_out_of_order
            && (self.state != State::Loss || self.undo.is_possible())
        {
            self.check_reordering(s, start);
        }
    }

    /// RFC 2883: the first block, below the acknowledgement or inside the second
    /// one, is of a duplicate.
    fn take_duplicate_report(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        blocks: &[(u64, u64)],
        news: &mut AckSummary,
    ) {
        let (start, end) = blocks[0];
        let below = start < packet.acknowledgement;
        let inside = blocks
            .get(1)
            .is_some_and(|second| start >= second.0 && end <= second.1);
        if !(below || inside) || s.counters.retransmissions == s.earlier.retransmissions {
            return;
        }
        let mss = u64::from(s.mss.max(1));
        let segments = (end.saturating_sub(start)).div_ceil(mss).min(1 << 20) as u32;
        news.duplicates_reported = true;
        news.probe_reported = self.probe.end == Some(end);
        if !news.probe_reported {
            self.rack.note_duplicate();
        }
        news.delivered += segments;
        if let Some(rate) = &mut s.rate {
            rate.duplicated(now, segments);
        }
        self.undo.note_duplicates(end, segments);
    }

    fn take_block(
        &mut self,
        s: &mut Core,
        now: Time,
        (start, end): (u64, u64),
        news: &mut AckSummary,
    ) {
        let min_rtt = s.rtt.smallest();
        let Linux {
            rack,
            forward,
            high,
            ..
        } = self;
        let mut rate = s.rate.as_deref_mut();
        let (newly, _) = s.board.sack_with(start, end, |index, covered: Covered| {
            if let Some(rate) = &mut rate {
                rate.sacked(index);
            }
            rack.advance(now, &covered, min_rtt);
            if covered.transmissions == 1 {
                if covered.start < *forward {
                    lowest(&mut news.sacked_out_of_order, covered.start);
                }
                news.original |= covered.end <= *high;
                span(&mut news.sacked_sent, covered.sent_at);
            }
            *forward = (*forward).max(covered.end);
        });
        news.sacked += newly;
        news.delivered += newly;
    }

    /// Takes what is acknowledged off the record.
    fn take_acknowledged(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        news: &mut AckSummary,
    ) {
        if !news.advances {
            return;
        }
        s.snd.una = packet.acknowledgement;
        let min_rtt = s.rtt.smallest();
        let high = self.high;
        let mut rate = s.rate.as_deref_mut();
        let Linux { rack, .. } = self;
        let mut newly = 0;
        let acked = s.board.acknowledge_with(s.snd.una, |covered| {
            if let Some(rate) = &mut rate {
                rate.acknowledged(covered.newly);
            }
            if covered.transmissions > 1 {
                news.resent = true;
            } else if covered.newly {
                span(&mut news.acked_sent, covered.sent_at);
                lowest(&mut news.acked_from, covered.start);
                news.original |= covered.end <= high;
            }
            if covered.newly {
                newly += 1;
                // Sent again, but the original arrived: gives no time.
                let spurious = covered.transmissions > 1
                    && s.headers.timestamps
                    && is_older(packet.timestamp_echo, timestamp(covered.sent_at));
                if !spurious {
                    rack.advance(now, &covered, min_rtt);
                }
            }
        });
        news.acked = acked.segments;
        news.delivered += newly;
        self.forward = self.forward.max(s.snd.una);
        if let Some(from) = news.acked_from
            && from < news.prior_forward
        {
            self.check_reordering(s, from);
        }
    }

    /// What starts at `from` arrived after what lies above it.
    pub(super) fn check_reordering(&mut self, s: &Core, from: u64) {
        if from < self.forward {
            let segments = (self.forward - from).div_ceil(u64::from(s.mss.max(1)));
            self.rack
                .note_reordering(u32::try_from(segments).unwrap_or(u32::MAX));
        }
    }

    /// The RTT of this ACK, if it gives one: without what was sent again, or by
    /// timestamp.
    fn measure(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        news: &mut AckSummary,
    ) -> Option<Duration> {
        let acked = news.acked_sent.filter(|_| !news.resent);
        let sacked = news.sacked_sent;
        let mut first = acked.or(sacked).map(|(first, _)| first);
        let mut last = sacked.or(acked).map(|(_, last)| last);
        if first.is_none() && s.headers.timestamps && news.acked > 0 {
            first = Some(echoed_at(now, packet));
            last = first;
        }
        if let (Some(first), Some(last)) = (first, last) {
            let cwnd = s.window.cwnd;
            s.rtt
                .sample_between(now, (first, last), (s.snd.una, s.snd.next), cwnd);
        }
        if news.acked > 0 {
            news.sets_timer = true;
        } else if let (Some((first, _)), Some(head)) = (sacked, Linux::head_sent_at(s)) {
            // What was sent after the first segment was sent last would put the
            // timeout off for ever.
            news.sets_timer = first < head;
        }
        last.map(|last| now.since(last))
    }

    /// The ACK as the congestion control first receives it.
    fn describe(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        news: &AckSummary,
        rtt: Option<Duration>,
    ) -> Ack {
        let (round_start, delivery_rate) =
            s.count_delivered(now, news.advances, u64::from(news.delivered));
        let min_rtt = s.rtt.smallest();
        let rate_sample = match &mut s.rate {
            None => None,
            Some(rate) => rate.sample(now, min_rtt, s.mss),
        };
        Ack {
            now,
            acked: f64::from(news.acked),
            delivered: f64::from(news.delivered),
            duplicate: news.duplicate && news.sacked > 0,
            rtt,
            min_rtt,
            smoothed_rtt: s.rtt.smoothed(),
            delivery_rate,
            rate_sample,
            lost: 0.0,
            probes: u32::from(packet.answers_probe(false)),
            high_probes: u32::from(packet.answers_probe(true)),
            congestion_echo: news.congestion_echo,
            flight_before: count(news.prior_flight),
            flight: count(s.board.flight()),
            outstanding: count(s.board.outstanding()),
            head: s.board.head(),
            cwnd_limited: s.rules.grows_when_application_limited || self.is_limited(s),
            round_start,
            in_recovery: self.state == State::Recovery,
            receive_window: s.receive_window(),
            mss: s.mss,
        }
    }

    /// What the congestion control asked for.
    fn perform<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        s.take_requests();
        let actions = std::mem::take(&mut s.window.actions);
        if actions.limits_rate {
            s.limit_rate();
        }
        let asked = actions.repeat_all || actions.retransmit_head;
        if !asked || s.board.outstanding() == 0 || self.state == State::Loss {
            return;
        }
        let first = s.board.first_number();
        let segments = if actions.repeat_all {
            s.board.outstanding() as u64
        } else {
            1
        };
        for number in first..first + segments {
            self.lose(s, number);
        }
        if self.state < State::Recovery {
            self.enter_recovery(s, now, false);
        }
        self.resend_lost(s, now, out);
    }
}
