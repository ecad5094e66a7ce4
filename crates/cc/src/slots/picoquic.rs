//! The initial slow start of picoquic: a floor for long round trips, a probe of half the bandwidth,
//! and an exit by delay.
//!
//! Source: private-octopus/picoquic (August 2026), `newreno.c` and `cc_common.c`
//! (`picoquic_cc_update_cwin_for_long_rtt`, `picoquic_cc_update_target_cwin_estimation`,
//! `picoquic_cc_hystart_test`) and `frames.c` (`picoquic_estimate_max_path_bandwidth`). As long as
//! no ssthresh is set:
//! - With each sample of the round trip cwnd is at least the initial window x min(smallest RTT,
//!   610 ms) / 100 ms, where the smallest RTT is above 100 ms.
//! - With each ACK cwnd is at least half of the peak bandwidth x smoothed RTT. The bandwidth is
//!   what was delivered between two ACKs that are more than 1 ms apart, over the longer of the times
//!   between the ACKs and between the packets that they acknowledge; the peak is never forgotten.
//! - Each ACK adds what it acknowledges, if that was sent after something else than the window last
//!   held the sender back (`last_sender_limited_time`).
//! - Samples of the round trip that are more than 1 ms apart go to a list of 7. The smallest
//!   maximum of the list so far is the reference. When the minimum of the list has exceeded it by a
//!   quarter 7 times, without coming back to it between, ssthresh = cwnd.
//!
//! A later slow start adds what is acknowledged, and nothing else.
//!
//! The sender paces (`pacing.c`, `picoquic_update_pacing_window`) at cwnd / smoothed RTT, 1.25 of it
//! as long as no ssthresh is set; with less than 8 packets it does not. At once may leave a quarter
//! of cwnd, 2 to 16 packets; as long as no ssthresh is set and the RTT is above 60 ms, 32,768 bytes
//! or what takes 15 ms where that is more.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | target_rtt | 100 ms | above it the window begins larger |
//! | longest_rtt | 610 ms | no larger than for this |
//! | probes_bandwidth | true | cwnd is at least half of the peak bandwidth x RTT |
//! | paces | true | false: as the transport says |
//!
//! Left open, and the reading chosen:
//! - picoquic's initial window is 10 x 1,536 bytes; here it is the transport's.
//! - picoquic's client acknowledges the last two packets of a server's first flight, 1,900 bytes, 1 ms
//!   after the others (`PICOQUIC_ACK_DELAY_MIN`) where they arrive within that time. The server takes
//!   this for 1.6 to 2 MB/s. Here clients do not wait, so the sample is taken where two full packets
//!   are acknowledged within 0.5 ms of the first ACK of the connection: a fit, which is so from some
//!   15 Mbit/s on, as it is there.
//! - A packet's time at the pacing rate takes the place of the quarter where it is longer; it never
//!   is with windows of more than five packets.
//! - A spurious loss is undone by the transport, if at all.
//!
//! The bandwidth of a few packets that left at once is that of the bottleneck: after the handshake
//! of a server, whose certificate takes some packets, the first window may be half of the path.

use crate::parameter::{flag, parameters, time};
use crate::slot::SlowStart;
use crate::{Ack, CWND_LIMIT, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

const RTT_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(60));
/// Samples of the round trip and of the bandwidth are further apart.
const SPACING: Duration = Duration::from_millis(1);
const SAMPLES: usize = 7;
/// Packets of a first flight whose last `DELAYED` bytes are acknowledged late, and the time in which
/// they are acknowledged here.
const FLIGHT: Segments = 2.0;
const FLIGHT_TIME: Duration = Duration::from_micros(500);
const DELAYED: f64 = 1_900.0;
/// Part of the bandwidth-delay product that cwnd is raised to.
const PROBED: f64 = 0.5;
/// No pacing with a smaller window, packets.
const UNPACED_BELOW: Segments = 8.0;
const START_GAIN: f64 = 1.25;
/// What leaves at once, at the most; on an RTT longer than `LONG_RTT` at the start at least
/// `START_QUANTUM` bytes, and what takes `QUANTUM_TIME`.
const MOST_QUANTUM: Segments = 16.0;
const LONG_RTT: Duration = Duration::from_millis(60);
const START_QUANTUM: f64 = 32_768.0;
const QUANTUM_TIME: Duration = Duration::from_millis(15);

parameters! {
    /// Settings of [`Picoquic`].
    pub struct PicoquicParameters {
        target_rtt: Duration = time(Duration::from_millis(100), RTT_RANGE),
            "round trip above which the initial window is larger";
        longest_rtt: Duration = time(Duration::from_millis(610), RTT_RANGE),
            "round trip for which it is largest";
        probes_bandwidth: bool = flag(true),
            "cwnd is at least half of the largest bandwidth so far x RTT";
        paces: bool = flag(true), "packets are spaced as picoquic does";
    }
}

/// What had been delivered at an ACK, and when its newest packet was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    delivered: Segments,
    acked_at: Time,
    sent_at: Time,
}

/// The state of the slow start in a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Picoquic {
    target_rtt: Duration,
    longest_rtt: Duration,
    probes_bandwidth: bool,
    paces: bool,
    initial_window: Segments,
    delivered: Segments,
    /// Time of the first ACK, and what had been delivered then.
    first: Option<(Time, Segments)>,
    mark: Option<Mark>,
    /// Segments per second.
    peak: f64,
    samples: [Duration; SAMPLES],
    /// Samples so far.
    sampled: usize,
    sampled_at: Time,
    /// When the window was last not what held the sender back.
    limited_at: Time,
    reference: Duration,
    excesses: usize,
}

impl Picoquic {
    /// The slow start with these settings.
    #[must_use]
    pub const fn new(settings: &PicoquicParameters) -> Picoquic {
        Picoquic {
            target_rtt: settings.target_rtt,
            longest_rtt: settings.longest_rtt,
            probes_bandwidth: settings.probes_bandwidth,
            paces: settings.paces,
            initial_window: 0.0,
            delivered: 0.0,
            first: None,
            mark: None,
            peak: 0.0,
            samples: [Duration::ZERO; SAMPLES],
            sampled: 0,
            sampled_at: Time::ZERO,
            limited_at: Time::ZERO,
            reference: Duration::MAX,
            excesses: 0,
        }
    }

    /// What the client's delay makes of a server's first flight.
    fn measure_handshake(&mut self, ack: &Ack) {
        let (began, before) = *self.first.get_or_insert((ack.now, self.delivered));
        let span = ack.now.since(began);
        if self.delivered - before >= FLIGHT && span <= FLIGHT_TIME {
            let took = SPACING + span / 2;
            let packets = DELAYED / f64::from(ack.mss);
            self.peak = self.peak.max(packets / took.as_secs());
        }
    }

    fn measure_bandwidth(&mut self, ack: &Ack, rtt: Duration) {
        let here = Mark {
            delivered: self.delivered,
            acked_at: ack.now,
            sent_at: sent_at(ack, rtt),
        };
        let Some(mark) = self.mark else {
            // Acknowledgements of the handshake come as the client's own packets let them.
            if self.first.is_some_and(|(began, _)| here.sent_at >= began) {
                self.mark = Some(here);
            }
            return;
        };
        let between_acks = here.acked_at.since(mark.acked_at);
        if here.sent_at < mark.sent_at || between_acks <= SPACING {
            return;
        }
        let took = between_acks.max(here.sent_at.since(mark.sent_at));
        self.peak = self
            .peak
            .max((here.delivered - mark.delivered) / took.as_secs());
        self.mark = Some(here);
    }

    /// Takes a sample of the round trip; true if slow start ends.
    fn is_delayed(&mut self, now: Time, rtt: Duration) -> bool {
        if self.sampled > 0 && now.since(self.sampled_at) <= SPACING {
            return false;
        }
        self.samples[self.sampled % SAMPLES] = rtt;
        self.sampled += 1;
        self.sampled_at = now;
        if self.sampled < SAMPLES {
            return false;
        }
        let samples = self.samples.iter().copied();
        let (least, most) = samples.fold((Duration::MAX, Duration::ZERO), |(least, most), it| {
            (least.min(it), most.max(it))
        });
        self.reference = self.reference.min(most);
        if least <= self.reference {
            self.excesses = 0;
        } else if least > self.reference + self.reference / 4 {
            self.excesses += 1;
        }
        self.excesses >= SAMPLES
    }
}

/// When the newest packet that `ack` covers was sent.
fn sent_at(ack: &Ack, rtt: Duration) -> Time {
    Time::ZERO + ack.now.since(Time::ZERO).saturating_sub(rtt)
}

/// Sets the rate and what may leave at once.
fn pace(ack: &Ack, window: &mut Window) {
    let rtt = ack.smoothed_rtt.as_secs();
    if window.cwnd < UNPACED_BELOW || rtt <= 0.0 {
        window.pacing_rate = None;
        return;
    }
    let starts = window.ssthresh.is_infinite();
    let rate = window.cwnd / rtt;
    let quarter = window.cwnd / 4.0;
    let quantum = if starts && ack.smoothed_rtt > LONG_RTT {
        let least = START_QUANTUM / f64::from(ack.mss);
        quarter.max(least.max(rate * QUANTUM_TIME.as_secs()))
    } else {
        quarter.clamp(2.0, MOST_QUANTUM)
    };
    let gain = if starts { START_GAIN } else { 1.0 };
    let bits = 8.0 * f64::from(ack.mss);
    window.pacing_rate = Some(Rate::from_bps_f64(gain * rate * bits));
    window.send_quantum = quantum as u32;
}

fills! { Picoquic, "picoquic", "what is acknowledged, half of the bandwidth at least (picoquic)",
    |parameters: PicoquicParameters| Picoquic::new(&parameters)
}

impl SlowStart for Picoquic {
    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        self.initial_window = window.cwnd;
    }

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.delivered += ack.delivered;
        if !ack.cwnd_limited {
            self.limited_at = ack.now;
        }
        let Some(rtt) = ack.rtt else { return };
        if window.ssthresh.is_infinite() {
            if ack.min_rtt > self.target_rtt {
                let rtt = ack.min_rtt.min(self.longest_rtt);
                let floor = self.initial_window * (rtt.as_secs() / self.target_rtt.as_secs());
                window.cwnd = window.cwnd.max(floor.min(CWND_LIMIT));
            }
            if self.is_delayed(ack.now, rtt) {
                window.ssthresh = window.cwnd;
            }
        }
        self.measure_handshake(ack);
        self.measure_bandwidth(ack, rtt);
        if self.probes_bandwidth && window.ssthresh.is_infinite() && !ack.in_recovery {
            let half = PROBED * self.peak * ack.smoothed_rtt.as_secs();
            window.cwnd = window.cwnd.max(half.min(CWND_LIMIT));
        }
        if self.paces {
            pace(ack, window);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: bool) {
        let was_limited = ack
            .rtt
            .is_some_and(|rtt| sent_at(ack, rtt) <= self.limited_at);
        if was_limited && window.ssthresh.is_infinite() {
            return;
        }
        // An ACK must not carry the window far past ssthresh.
        let ceiling = window.ssthresh.max(window.cwnd + 1.0);
        window.cwnd = (window.cwnd + ack.acked).min(ceiling);
    }
}
