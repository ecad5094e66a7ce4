//! BBR version 3, rule by rule of draft-ietf-ccwg-bbr.

use crate::wire::{a_rate_sample, a_timeout, an_ack, close};
use bentpipe_cc::{Ack, Controller, Parameters, Repair, Window, build};
use bentpipe_units::{Duration, Time};

/// Segments per second, and what of it a round trip of 100 ms holds.
const BOTTLENECK: f64 = 1000.0;
const RTT: Duration = Duration::from_millis(100);
const PRODUCT: f64 = 100.0;

/// A path on which ten ACKs come in a round trip, each with a sample of the last round.
struct Path {
    bbr: Controller,
    window: Window,
    now: Time,
    delivered: f64,
    rtt: Duration,
    flight: f64,
    repair: Repair,
}

impl Path {
    fn new() -> Path {
        let mut window = Window::new(10.0);
        window.mss = 1500;
        let mut bbr = build("bbr3", &Parameters::new()).unwrap();
        bbr.on_established(Some(RTT), &mut window);
        Path {
            bbr,
            window,
            now: Time::ZERO + RTT,
            delivered: 0.0,
            rtt: RTT,
            flight: PRODUCT,
            repair: Repair::None,
        }
    }

    fn ack_with(&mut self, rate: f64, change: impl FnOnce(&mut Ack)) {
        self.now += RTT / 10;
        let in_round = rate * RTT.as_secs();
        self.delivered += in_round / 10.0;
        // Each RTT is the smallest, so that no probe of the RTT comes between.
        self.rtt = self.rtt.saturating_sub(Duration::from_nanos(1));
        let prior = (self.delivered - in_round).max(0.0);
        let mut sample = a_rate_sample(prior, in_round, RTT);
        sample.rtt = Some(self.rtt);
        sample.total_delivered = self.delivered;
        sample.prior_flight = self.flight;
        let mut ack = an_ack();
        ack.now = self.now;
        ack.rtt = Some(self.rtt);
        (ack.acked, ack.delivered) = (in_round / 10.0, in_round / 10.0);
        (ack.flight_before, ack.flight) = (self.flight, self.flight);
        ack.cwnd_limited = false;
        ack.rate_sample = Some(sample);
        change(&mut ack);
        self.bbr.on_sample(&ack, &mut self.window);
        self.bbr.on_control(&ack, self.repair, &mut self.window);
    }

    fn ack(&mut self, rate: f64) {
        self.ack_with(rate, |_| {});
    }

    /// Round trips at `rate`.
    fn rounds(&mut self, count: u32, rate: f64) {
        (0..10 * count).for_each(|_| self.ack(rate));
    }

    fn phase(&self) -> &'static str {
        self.bbr.phase(&self.window).name()
    }

    /// Goes on at `rate` until the phase begins.
    fn until(&mut self, phase: &str, rate: f64) {
        for _ in 0..1000 {
            if self.phase() == phase {
                return;
            }
            self.ack(rate);
        }
        panic!("no {phase} after 100 rounds");
    }

    fn estimate(&self) -> f64 {
        self.bbr.bandwidth_estimate().unwrap().bps_f64() / 12_000.0
    }

    fn probing_up() -> Path {
        let mut path = Path::new();
        path.until("probe_bw_up", BOTTLENECK);
        path
    }

    /// An ACK while it probes up that shows a tenth of the flight lost.
    fn lose_a_tenth(&mut self, app_limited: bool) {
        self.repair = Repair::Recovery;
        self.ack_with(BOTTLENECK, |ack| {
            ack.lost = 12.0;
            if let Some(sample) = &mut ack.rate_sample {
                sample.prior_flight = 120.0;
                sample.app_limited = app_limited;
            }
        });
        self.repair = Repair::None;
    }
}

fn app_limited(ack: &mut Ack) {
    if let Some(sample) = &mut ack.rate_sample {
        sample.app_limited = true;
    }
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let mut path = Path::new();
    path.flight = 2.0 * PRODUCT;
    for rate in [100.0, 200.0, 400.0, 800.0, BOTTLENECK] {
        path.rounds(1, rate);
    }
    path.rounds(2, BOTTLENECK);
    assert_eq!(path.phase(), "startup");
    path.rounds(2, BOTTLENECK);
    assert_eq!(path.phase(), "drain");
    // What the application limits is no plateau.
    let mut path = Path::new();
    (0..500).for_each(|_| path.ack_with(BOTTLENECK, app_limited));
    assert_eq!(path.phase(), "startup");
}

/// A round ends by the count of the rate sampler: what the ACKs themselves counted in excess of
/// it, such as duplicates, does not put it off.
#[test]
fn rounds_are_counted_by_what_the_rate_sampler_delivered() {
    let acks_in_startup = |in_excess: f64| {
        let mut path = Path::new();
        path.flight = 2.0 * PRODUCT;
        path.ack_with(BOTTLENECK, |ack| ack.delivered += in_excess);
        (1..1000)
            .find(|_| {
                path.ack(BOTTLENECK);
                path.phase() != "startup"
            })
            .unwrap()
    };
    assert_eq!(acks_in_startup(300.0), acks_in_startup(0.0));
}

#[test]
fn drain_ends_at_one_product_or_after_three_rounds() {
    let mut path = Path::new();
    path.flight = 2.0 * PRODUCT;
    path.until("drain", BOTTLENECK);
    path.rounds(3, BOTTLENECK);
    assert_eq!(path.phase(), "drain");
    path.rounds(1, BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw_down");
    let mut path = Path::new();
    path.flight = 2.0 * PRODUCT;
    path.until("drain", BOTTLENECK);
    path.flight = PRODUCT;
    path.ack(BOTTLENECK);
    assert_ne!(path.phase(), "drain");
}

/// `CheckStartupHighLoss`: in recovery, more than 2% and six times within a round.
#[test]
fn losses_end_startup_at_the_end_of_a_round_with_six() {
    let run = |times: usize, repair: Repair| {
        let mut path = Path::new();
        // The rate goes up, so that there is no plateau.
        let mut rate = 100.0;
        for ack in 0..20 {
            rate *= 1.05;
            path.repair = repair;
            path.ack_with(rate, |seen| {
                seen.lost = if ack % 10 < times { 1.0 } else { 0.0 };
                if let Some(sample) = &mut seen.rate_sample {
                    sample.prior_flight = 100.0;
                }
            });
        }
        path.phase()
    };
    assert_ne!(run(7, Repair::Recovery), "startup");
    assert_eq!(run(2, Repair::Recovery), "startup");
    assert_eq!(run(7, Repair::None), "startup");
}

#[test]
fn up_ends_after_three_rounds_without_growth_and_never_by_its_flight() {
    let mut path = Path::probing_up();
    // Far beyond 1.25 products in flight: the rule of an older draft.
    path.flight = 3.0 * PRODUCT;
    path.rounds(2, BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw_up");
    path.rounds(2, BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw_down");
    // Growth keeps it.
    let mut path = Path::probing_up();
    let mut rate = BOTTLENECK;
    for _ in 0..6 {
        rate *= 1.3;
        path.rounds(2, rate);
        assert_eq!(path.phase(), "probe_bw_up");
    }
    // What the application limits is no plateau.
    let mut path = Path::probing_up();
    (0..500).for_each(|_| path.ack_with(BOTTLENECK, app_limited));
    assert_eq!(path.phase(), "probe_bw_up");
}

/// `IsTimeToGoDown`: while `inflight_longterm` limits the flight, the plateau says nothing;
/// and after a probe that lost too much, the next one stops at the bound.
#[test]
fn the_bound_stops_the_next_probe_and_then_holds_the_plateau_detector() {
    let mut path = Path::probing_up();
    path.lose_a_tenth(false);
    assert_eq!(path.phase(), "probe_bw_down");
    path.until("probe_bw_up", BOTTLENECK);
    // Precautionary: at the bound, 120 at most, it goes down at once and comes back a
    // round later.
    path.flight = 125.0;
    path.ack(BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw_down");
    path.rounds(1, BOTTLENECK);
    path.ack(BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw_refill");
    path.until("probe_bw_up", BOTTLENECK);
    path.flight = PRODUCT;
    // Five rounds; three would show a plateau. Later the bound is out of the window's reach.
    for _ in 0..50 {
        path.ack_with(BOTTLENECK, |ack| ack.cwnd_limited = true);
        assert_eq!(path.phase(), "probe_bw_up");
    }
    path.until("probe_bw_down", BOTTLENECK);
}

#[test]
fn too_much_lost_while_probing_bounds_the_flight_where_the_losses_passed_2_percent() {
    let mut path = Path::probing_up();
    path.lose_a_tenth(false);
    assert_eq!(path.phase(), "probe_bw_down");
    // InflightAtLoss: 108 in flight before what was lost, of which 0.02 x 108 / 0.98 = 2.2
    // may be: 110.2.
    path.rounds(1, BOTTLENECK);
    assert_eq!(path.window.cwnd, 110.0);
    path.flight = 0.9 * PRODUCT;
    path.until("probe_bw_cruise", BOTTLENECK);
    path.rounds(1, BOTTLENECK);
    // 15% of it stays free.
    assert_eq!(path.window.cwnd, 93.0);
    // Where the application limits the flight, it tells nothing about the path.
    let mut path = Path::probing_up();
    path.lose_a_tenth(true);
    assert_ne!(path.phase(), "probe_bw_up");
    path.rounds(1, BOTTLENECK);
    assert!(path.window.cwnd > 150.0, "{}", path.window.cwnd);
}

#[test]
fn the_bandwidth_filter_advances_a_round_after_the_probe() {
    let cycle = |limited: bool| {
        let mut path = Path::probing_up();
        // Half of the bandwidth is gone; the last cycle still knows it.
        path.until("probe_bw_down", BOTTLENECK / 2.0);
        close(path.estimate(), BOTTLENECK, 1e-6);
        for _ in 0..2 {
            path.until("probe_bw_up", BOTTLENECK / 2.0);
            close(path.estimate(), BOTTLENECK, 1e-6);
            path.until("probe_bw_down", BOTTLENECK / 2.0);
            close(path.estimate(), BOTTLENECK, 1e-6);
            for _ in 0..12 {
                path.ack_with(BOTTLENECK / 2.0, |ack| {
                    if limited {
                        app_limited(ack);
                    }
                });
            }
            if path.estimate() < 0.9 * BOTTLENECK {
                break;
            }
        }
        path.estimate()
    };
    close(cycle(false), BOTTLENECK / 2.0, 1e-6);
    close(cycle(true), BOTTLENECK, 1e-6);
}

/// `AdaptLowerBoundsFromCongestion`: however many ACKs of a round find losses.
#[test]
fn losses_outside_of_probing_lower_the_bounds_once_a_round() {
    let mut path = Path::new();
    path.until("probe_bw_cruise", BOTTLENECK);
    path.rounds(2, BOTTLENECK);
    // 0.7 of the bandwidth in the first round, and never below what is delivered.
    let mut seen = Vec::new();
    for _ in 0..60 {
        path.ack_with(0.4 * BOTTLENECK, |ack| ack.lost = 1.0);
        seen.push(path.estimate().round());
    }
    seen.dedup();
    assert_eq!(seen, [1000.0, 700.0, 490.0, 400.0]);
    // The next probe forgets it.
    path.until("probe_bw_refill", BOTTLENECK);
    path.ack(BOTTLENECK);
    assert!(path.estimate() > 0.9 * BOTTLENECK);
}

/// `UpdateACKAggregation`.
#[test]
fn acks_in_bursts_widen_the_window() {
    let mut path = Path::new();
    path.until("probe_bw_cruise", BOTTLENECK);
    path.rounds(12, BOTTLENECK);
    let smooth = path.window.cwnd;
    // Ten segments at a time are extra, one ACK's.
    assert!(smooth <= 2.0 * PRODUCT + 11.0, "{smooth}");
    path.ack_with(BOTTLENECK, |ack| ack.delivered = 60.0);
    path.delivered += 50.0;
    path.rounds(1, BOTTLENECK);
    assert!(path.window.cwnd >= smooth + 40.0, "{}", path.window.cwnd);
    // Until ACKs came slower than expected, and for ten rounds after that.
    path.rounds(18, 0.9 * BOTTLENECK);
    path.until("probe_bw_cruise", 0.9 * BOTTLENECK);
    assert!(path.window.cwnd <= smooth, "{}", path.window.cwnd);
}

#[test]
fn after_a_timeout_the_window_is_one_segment_and_comes_back_with_the_repair() {
    let mut path = Path::new();
    path.until("probe_bw_cruise", BOTTLENECK);
    let cwnd = path.window.cwnd;
    path.bbr.on_timeout(&a_timeout(100.0), &mut path.window);
    assert_eq!(path.window.cwnd, 1.0);
    (path.repair, path.flight) = (Repair::Timeout, 0.0);
    path.ack_with(BOTTLENECK, |ack| ack.delivered = 1.0);
    assert_eq!(path.window.cwnd, 4.0);
    // A second timeout does not forget the window.
    path.bbr.on_timeout(&a_timeout(4.0), &mut path.window);
    path.repair = Repair::None;
    path.until("probe_bw_refill", BOTTLENECK);
    path.rounds(3, BOTTLENECK);
    assert!(path.window.cwnd >= cwnd, "{} {cwnd}", path.window.cwnd);
}

/// `HandleSpuriousLossDetection`.
#[test]
fn a_spurious_repair_comes_back_to_the_probe_that_it_ended() {
    let mut path = Path::probing_up();
    let before = path.window.clone();
    path.lose_a_tenth(false);
    assert_eq!(path.phase(), "probe_bw_down");
    path.bbr.on_spurious(&before, &mut path.window);
    assert_eq!(path.phase(), "probe_bw_refill");
    path.rounds(1, BOTTLENECK);
    assert!(path.window.cwnd > 150.0, "no bound: {}", path.window.cwnd);
}

#[test]
fn the_rtt_is_probed_every_five_seconds_with_half_a_product() {
    let mut path = Path::new();
    path.until("probe_bw_cruise", BOTTLENECK);
    let began = path.now;
    while path.phase() != "probe_rtt" {
        // No RTT below the smallest any more.
        path.rtt += Duration::from_nanos(1);
        path.ack(BOTTLENECK);
    }
    let took = path.now.since(began);
    assert!(took > Duration::from_secs(5) && took < Duration::from_millis(5100));
    assert!(path.window.cwnd <= PRODUCT / 2.0, "{}", path.window.cwnd);
    path.flight = 0.4 * PRODUCT;
    path.rounds(2, BOTTLENECK / 2.0);
    assert_eq!(path.phase(), "probe_rtt");
    path.until("probe_bw_cruise", BOTTLENECK / 2.0);
}

#[test]
fn every_state_paces_at_its_gain_of_the_bandwidth() {
    let mut path = Path::new();
    path.flight = 2.0 * PRODUCT;
    let paces = |path: &Path| {
        let rate = path.window.pacing_rate.unwrap().bps_f64() / 12_000.0;
        rate / (0.99 * path.estimate())
    };
    path.rounds(3, BOTTLENECK);
    assert_eq!(path.phase(), "startup");
    close(paces(&path), 2.77, 1e-3);
    for (phase, gain) in [
        ("drain", 0.5),
        ("probe_bw_down", 0.9),
        ("probe_bw_cruise", 1.0),
        ("probe_bw_refill", 1.0),
        ("probe_bw_up", 1.25),
    ] {
        path.until(phase, BOTTLENECK);
        close(paces(&path), gain, 1e-3);
        path.flight = PRODUCT;
    }
}
