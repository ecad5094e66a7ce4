//! BBR, version 1: paces at the bandwidth that it measures and keeps no more in
//! flight than twice the bandwidth-delay product.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00 (2017) and Linux
//! `net/ipv4/tcp_bbr.c`; where they differ, Linux. Cardwell et al., "BBR:
//! Congestion-Based Congestion Control", ACM Queue 14(5), 2016.
//!
//! The model: `bw`, the largest delivery rate of the last 10 round trips, and
//! `min_rtt`, the smallest RTT of the last 10 s. The pacing rate is 0.99 x
//! gain x bw, the window gain x bw x min_rtt and something for bursts.
//!
//! | mode | pacing gain | window gain | until |
//! |---|---|---|---|
//! | startup | 2.885 | 2.885 | bw has grown by less than a quarter in 3 rounds |
//! | drain | 1/2.885 | 2.885 | one bandwidth-delay product is in flight |
//! | probe_bw | 1.25, 0.75, 1 x 6, one min_rtt each | 2 | |
//! | probe_rtt | 1 | 1, at most 4 segments | 200 ms and a round; entered when min_rtt is 10 s old |
//!
//! Losses move neither rate nor model. A recovery starts with one round of
//! packet conservation, and its end brings back the window from before it. A
//! timeout sets the window to 1 until the first ACK. Policed paths are found by
//! their loss rate (`Policer`); bursts of ACKs are made up for by more window
//! (`Aggregation`, in Linux since 5.1 and not in the draft).
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | high_gain | 2.885 | pacing and window gain of startup (2 / ln 2) |
//! | cwnd_gain | 2 | bandwidth-delay products |
//! | bandwidth_window | 10 | rounds |
//! | min_rtt_window | 10 s | |
//! | probe_rtt | 200 ms | least time with 4 segments in flight |
//! | margin | 0.01 | what pacing stays below the estimate |
//! | policer | true | long-term sampling |
//! | aggregation | true | window for bursts of ACKs |
//!
//! Left open, and the reading chosen:
//! - Linux computes in fixed point (its gains are 739/256, 88/256 and so on, up
//!   to 0.8% away); here they are floats, and the product is rounded up to
//!   whole segments after a millionth of a segment was taken off.
//! - Linux corrects the flight by what its pacing layer holds back and by the
//!   burst that it is about to send. Nothing is held back here, and the
//!   two cancel to within a burst: left out.
//! - Linux takes no RTT from an ACK that may be delayed for lack of a second
//!   segment when its filter has expired: left out.
//! - The phase in which probe_bw begins is drawn from the seven that do not
//!   drain, from the connection's own random stream.
//!
//! A probe of the RTT takes a round trip to empty the path and one more, at
//! least 200 ms. On a geostationary path two flows, whose standing queue hides
//! the RTT, spend an eighth of the time in it and not the 2% that the authors
//! budget; a flow alone sees the RTT whenever its cycle drains the queue, and
//! hardly probes.
//!
//! Under heavy losses BBR needs a host that finds lost retransmissions. RFC 6675 finds none: each
//! waits for the timer, after which all that was not selectively acknowledged goes again, and BBR's
//! window lets it go at once, while most of it is still in flight. At 10 Mbit/s, 600 ms and 5% (100
//! s, 20 seeds) the profile `rfc` has 34 timeouts a run, 73% of its retransmissions are spurious,
//! and it delivers 4.3 Mbit/s; with `recovery = "sack-repeat"` 11 timeouts and 5.0 Mbit/s; the
//! profile `linux` (RACK-TLP) 0.05 timeouts and 7.7 Mbit/s, as no host runs BBR without: use that
//! one.

mod aggregation;
pub mod leocc;
mod model;
mod output;
mod policer;

use aggregation::Aggregation;
use policer::Policer;

use super::max_filter::MaxFilter;
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{flag, number, parameters, time};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Repair, Timeout, Window};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Pacing gains of probe_bw.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Segments in flight while the RTT is probed, and the least window.
const LEAST_WINDOW: Segments = 4.0;
/// The window while there is no RTT sample, and what startup may always reach.
const INITIAL_WINDOW: Segments = 10.0;
/// Growth of the bandwidth in a round that shows that the pipe is not full.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Below this pacing rate one segment goes at a time, in bits per second.
const SINGLE_SEGMENT_RATE: f64 = 1_200_000.0;
/// Bytes of the largest burst (a GSO packet without its headers).
const LARGEST_BURST: f64 = 65_215.0;
const LARGEST_BURST_SEGMENTS: f64 = 127.0;
/// The RTT that the first pacing rate is computed with where the handshake gave
/// none.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// Permitted range of a gain.
const GAIN: (f64, f64) = (1.0, 100.0);

parameters! {
    /// What can be set; see the table above.
    #[derive(Copy)]
    pub struct BbrSettings {
        high_gain: f64 = number(2.885, "", GAIN), "pacing and window gain of startup";
        cwnd_gain: f64 = number(2.0, "", GAIN), "window in bandwidth-delay products";
        bandwidth_window: u64 = number(10.0, "rounds", (1.0, 10_000.0)),
            "length of the bandwidth filter";
        min_rtt_window: Duration =
            time(Duration::from_secs(10), (Duration::from_millis(1), Duration::from_secs(86_400))),
            "age at which the smallest RTT is probed again";
        probe_rtt: Duration =
            time(Duration::from_millis(200), (Duration::ZERO, Duration::from_secs(3600))),
            "least time with four segments in flight";
        margin: f64 = number(0.01, "", (0.0, 0.9)), "what pacing stays below the estimate";
        policer: bool = flag(true), "find policed paths by their loss rate";
        aggregation: bool = flag(true), "more window where ACKs come in bursts (Linux since 5.1)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State of BBR version 1 for one connection.
#[derive(Clone, Debug)]
pub struct Bbr {
    settings: BbrSettings,
    mode: Mode,
    pacing_gain: f64,
    window_gain: f64,
    /// Delivery rates, segments per second.
    bandwidth: MaxFilter,
    policer: Policer,
    aggregation: Aggregation,
    rounds: u64,
    round_start: bool,
    /// The round ends when a segment is delivered that was sent with this many
    /// delivered.
    round_end: Segments,
    /// Segments delivered and lost so far, and when the last was delivered.
    delivered: Segments,
    delivered_at: Time,
    lost: Segments,
    /// [`Duration::MAX`] before a sample.
    min_rtt: Duration,
    /// When `min_rtt` was seen last; `None` before the first ACK.
    min_rtt_at: Option<Time>,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    cycle: usize,
    cycle_began: Time,
    /// The bandwidth that the pipe is compared with, and for how many rounds it
    /// has not grown.
    full_bandwidth: f64,
    full_rounds: u32,
    full: bool,
    /// What the transport was repairing at the last ACK.
    repair: Repair,
    conserves: bool,
    prior_cwnd: Segments,
    restarts: bool,
    has_rtt: bool,
    mss: u32,
    random: Stream,
}

impl Bbr {
    /// A new connection under `settings`, in `Startup`.
    #[must_use]
    pub fn new(settings: BbrSettings) -> Bbr {
        Bbr {
            settings,
            mode: Mode::Startup,
            pacing_gain: settings.high_gain,
            window_gain: settings.high_gain,
            bandwidth: MaxFilter::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            rounds: 0,
            round_start: false,
            round_end: 0.0,
            delivered: 0.0,
            delivered_at: Time::ZERO,
            lost: 0.0,
            min_rtt: Duration::MAX,
            min_rtt_at: None,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            cycle: 0,
            cycle_began: Time::ZERO,
            full_bandwidth: 0.0,
            full_rounds: 0,
            full: false,
            repair: Repair::None,
            conserves: false,
            prior_cwnd: 0.0,
            restarts: false,
            has_rtt: false,
            mss: 1460,
            random: Stream::new(0, "bbr"),
        }
    }

    /// The bandwidth that the window and the pacing rate are computed from,
    /// segments per second.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }
}

impl Algorithm for Bbr {
    fn controls() -> Vec<Control<Bbr>> {
        let described = Described {
            name: "bbr",
            summary: "paces at the measured bandwidth, twice the bandwidth-delay product in flight",
            source: "draft-cardwell-iccrg-bbr-congestion-control-00, Linux tcp_bbr.c",
            open: "fixed point of Linux: floats; where probe_bw begins: drawn from the \
                   connection's random stream",
            family: Family::Model,
            module: Some("bbr"),
            transport: TransportDefaults {
                summary: "BBR version 1: paces at the measured bandwidth, whatever is lost",
                source: "draft-cardwell-iccrg-bbr-congestion-control-00",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, Bbr::new)]
    }
}

impl CongestionControl for Bbr {
    named!("bbr");
    always!(owns_window, needs_rate_samples);
    ignores!(on_ack, on_loss, on_recovery_exit);

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
        }
        self.mss = window.mss;
        self.set_first_pacing_rate(rtt, window);
    }

    fn on_control(&mut self, ack: &Ack, repair: Repair, window: &mut Window) {
        self.delivered = ack.delivered_after(self.delivered);
        self.lost += ack.lost;
        if ack.delivered > 0.0 {
            self.delivered_at = ack.now;
        }
        if repair == Repair::Recovery && self.repair == Repair::None {
            self.save_window(window);
        }
        self.update_bandwidth(ack);
        self.update_aggregation(ack, window);
        self.update_cycle(ack, window);
        self.check_full(ack);
        self.check_drain(ack, window);
        self.update_min_rtt(ack, window);
        self.update_gains();
        self.set_pacing_rate(self.pacing_gain, ack, window);
        self.set_window((self.bw(), LEAST_WINDOW), ack, repair, window);
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if self.repair == Repair::None {
            self.save_window(window);
        }
        self.repair = Repair::Timeout;
        self.lost += timeout.flight;
        self.full_bandwidth = 0.0;
        self.round_start = true;
        self.sample_policer(true, false, timeout.mss);
        window.cwnd = 1.0;
    }

    fn on_spurious(&mut self, _: &Window, _: &mut Window) {
        self.full_bandwidth = 0.0;
        self.full_rounds = 0;
        self.policer
            .reset(self.delivered_at, self.delivered, self.lost);
    }

    fn on_restart(&mut self, now: Time, window: &mut Window) {
        self.restarts = true;
        self.aggregation.restart(now);
        match self.mode {
            // No more than the estimate: there is no need to probe.
            Mode::ProbeBw => self.raise_pacing_rate(1.0, window),
            Mode::ProbeRtt => self.check_probe_rtt_done(now, window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn seed(&mut self, seed: u64) {
        self.random = Stream::new(seed, "bbr");
    }

    fn phase(&self, _: &Window) -> Phase {
        Phase::Own(match self.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBw => "probe_bw",
            Mode::ProbeRtt => "probe_rtt",
        })
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        (self.bw() > 0.0).then(|| Rate::from_bps_f64(self.bw() * 8.0 * f64::from(self.mss)))
    }
}
