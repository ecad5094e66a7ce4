//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, Linux
//! `tcp_bbr.c`).

use crate::wire::{a_rate_sample, a_timeout, an_ack, close};
use bentpipe_cc::{Ack, Controller, Parameters, Repair, Window, build};
use bentpipe_units::{Duration, Time};

/// 10 Mbit/s in segments of 1500 bytes.
const BOTTLENECK: f64 = 10e6 / 12_000.0;
const RTT: Duration = Duration::from_millis(600);

/// BBR on a path of 600 ms, ACK by ACK.
struct Path {
    bbr: Controller,
    window: Window,
    now: Time,
    delivered: f64,
    flight: f64,
    lost: f64,
    rtt: Duration,
    repair: Repair,
}

impl Path {
    fn new(parameters: &Parameters) -> Path {
        Path::of("bbr", parameters)
    }

    fn of(name: &str, parameters: &Parameters) -> Path {
        let mut window = Window::new(10.0);
        window.mss = 1500;
        let mut bbr = build(name, parameters).unwrap();
        bbr.on_established(Some(RTT), &mut window);
        Path {
            bbr,
            window,
            now: Time::ZERO + RTT,
            delivered: 0.0,
            flight: 10.0,
            lost: 0.0,
            rtt: RTT,
            repair: Repair::None,
        }
    }

    /// `segments` are delivered after `gap`, at `rate` segments per second; with
    /// `new_round` by a packet that was sent in the last round.
    fn ack(&mut self, gap: Duration, segments: f64, rate: f64, new_round: bool) {
        self.ack_with(gap, segments, rate, new_round, |_| {});
    }

    fn ack_with(
        &mut self,
        gap: Duration,
        segments: f64,
        rate: f64,
        new_round: bool,
        change: impl FnOnce(&mut Ack),
    ) {
        self.now += gap;
        let prior = if new_round { self.delivered } else { 0.0 };
        self.delivered += segments;
        let mut sample = a_rate_sample(prior, rate * RTT.as_secs(), RTT);
        sample.rtt = Some(self.rtt);
        sample.total_delivered = self.delivered;
        let mut ack = an_ack();
        ack.now = self.now;
        ack.rtt = Some(self.rtt);
        (ack.acked, ack.delivered) = (segments, segments);
        ack.lost = std::mem::take(&mut self.lost);
        (ack.flight_before, ack.flight) = (self.flight, self.flight);
        ack.rate_sample = Some(sample);
        change(&mut ack);
        self.bbr.on_sample(&ack, &mut self.window);
        self.bbr.on_control(&ack, self.repair, &mut self.window);
    }

    /// A round trip that shows `rate`.
    fn round(&mut self, rate: f64) {
        self.ack(RTT, rate * RTT.as_secs(), rate, true);
    }

    fn phase(&self) -> &'static str {
        self.bbr.phase(&self.window).name()
    }

    fn mbps(&self) -> f64 {
        self.window.pacing_rate.unwrap().bps_f64() / 1e6
    }

    /// At the end of startup: the bottleneck's rate was seen, and three rounds
    /// that did not exceed it.
    fn drained(parameters: &Parameters) -> Path {
        let mut path = Path::new(parameters);
        path.flight = 1400.0;
        for _ in 0..4 {
            path.round(BOTTLENECK);
        }
        path
    }

    /// In probe_bw, in the first phase that neither probes nor drains.
    fn cruising() -> Path {
        Path::cruising_with(&Parameters::new())
    }

    fn cruising_with(parameters: &Parameters) -> Path {
        let mut path = Path::drained(parameters);
        path.flight = 500.0;
        path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
        assert_eq!(path.phase(), "probe_bw");
        while (path.mbps() - 9.9).abs() > 1e-6 {
            path.next_phase();
        }
        path
    }

    /// Just over a round trip later.
    fn next_phase(&mut self) {
        self.flight = 700.0;
        self.ack(RTT + Duration::from_nanos(1), 500.0, BOTTLENECK, true);
    }
}

#[test]
fn the_first_pacing_rate_is_the_initial_window_over_the_rtt() {
    let path = Path::new(&Parameters::new());
    // 0.99 x 2.885 x 10 x 1500 bytes in 600 ms.
    close(path.mbps(), 0.99 * 2.885 * 0.2, 1e-6);
    assert_eq!(path.window.send_quantum, 1);
    assert_eq!(path.phase(), "startup");
}

#[test]
fn startup_paces_at_2_885_times_what_it_measures_and_never_slower() {
    let mut path = Path::new(&Parameters::new());
    for rate in [100.0, 200.0, 400.0] {
        path.round(rate);
        close(path.mbps(), 0.99 * 2.885 * rate * 0.012, 1e-5);
    }
    path.round(10.0);
    close(path.mbps(), 0.99 * 2.885 * 4.8, 1e-5);
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let mut path = Path::new(&Parameters::new());
    path.flight = 1400.0;
    let mut rate = 100.0;
    for _ in 0..6 {
        path.round(rate);
        rate *= 1.25;
    }
    // 24% more a round, against a baseline that stays.
    rate /= 1.25;
    for _ in 0..3 {
        assert_eq!(path.phase(), "startup");
        path.round(rate * 1.24);
    }
    assert_eq!(path.phase(), "drain");
}

/// A round ends by the count of the rate sampler: what the ACKs themselves counted in excess of
/// it, such as duplicates, does not put it off.
#[test]
fn rounds_are_counted_by_what_the_rate_sampler_delivered() {
    for name in ["bbr", "leocc"] {
        let mut path = Path::of(name, &Parameters::new());
        path.flight = 1400.0;
        path.ack_with(RTT, 500.0, BOTTLENECK, true, |ack| ack.delivered += 30.0);
        for _ in 0..3 {
            assert_eq!(path.phase(), "startup", "{name}");
            path.round(BOTTLENECK);
        }
        assert_eq!(path.phase(), "drain", "{name}");
    }
}

#[test]
fn rounds_that_the_application_limits_do_not_count() {
    let mut path = Path::new(&Parameters::new());
    path.round(BOTTLENECK);
    for _ in 0..10 {
        path.ack_with(RTT, 500.0, BOTTLENECK, true, |ack| {
            if let Some(sample) = &mut ack.rate_sample {
                sample.app_limited = true;
            }
        });
    }
    assert_eq!(path.phase(), "startup");
}

#[test]
fn app_limited_samples_count_only_where_they_are_larger() {
    let limited = |path: &mut Path, rate| {
        path.ack_with(RTT, 10.0, rate, true, |ack| {
            if let Some(sample) = &mut ack.rate_sample {
                sample.app_limited = true;
            }
        });
    };
    let mut path = Path::cruising();
    for _ in 0..30 {
        limited(&mut path, 10.0);
    }
    let estimate = |path: &Path| path.bbr.bandwidth_estimate().unwrap().bps_f64() / 1e6;
    close(estimate(&path), 10.0, 1e-5);
    limited(&mut path, 2.0 * BOTTLENECK);
    close(estimate(&path), 20.0, 1e-5);
}

#[test]
fn drain_lasts_until_one_product_is_in_flight() {
    let mut path = Path::drained(&Parameters::new());
    assert_eq!(path.phase(), "drain");
    close(path.mbps(), 9.9 / 2.885, 1e-4);
    // 500 segments and three bursts of two.
    path.flight = 507.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.phase(), "drain");
    path.flight = 506.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.phase(), "probe_bw");
}

#[test]
fn twice_the_product_is_the_window_and_a_quarter_more_the_probe() {
    // 10 Mbit/s x 600 ms = 500 segments of 1500 bytes; these ACKs cover a round
    // each, which is no aggregation.
    let mut path = Path::cruising_with(&Parameters::new().with("aggregation", false));
    path.window.cwnd = 2000.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 1006.0);
    while (path.mbps() - 12.375).abs() > 1e-6 {
        path.next_phase();
    }
    path.window.cwnd = 2000.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 1008.0);
}

#[test]
fn the_cycle_probes_drains_and_cruises_for_six_round_trips() {
    let mut path = Path::cruising();
    while (path.mbps() - 12.375).abs() > 1e-6 {
        path.next_phase();
    }
    // Without the flight that the gain would bring, or a loss, it goes on.
    path.flight = 630.0;
    path.ack(RTT * 2, 500.0, BOTTLENECK, true);
    close(path.mbps(), 12.375, 1e-6);
    // 1.25 x 500 segments, three bursts, two for the probe.
    path.flight = 634.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    close(path.mbps(), 7.425, 1e-6);
    path.flight = 507.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    close(path.mbps(), 7.425, 1e-6);
    path.flight = 506.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    for _ in 0..6 {
        close(path.mbps(), 9.9, 1e-6);
        path.ack(RTT, 500.0, BOTTLENECK, true);
        close(path.mbps(), 9.9, 1e-6);
        path.ack(Duration::from_nanos(1), 1.0, BOTTLENECK, false);
    }
    close(path.mbps(), 12.375, 1e-6);
    // A loss ends the probe where the gain does not fit.
    path.flight = 500.0;
    path.lost = 1.0;
    path.ack(RTT * 2, 500.0, BOTTLENECK, true);
    close(path.mbps(), 7.425, 1e-6);
}

#[test]
fn the_cycle_begins_anywhere_but_in_the_drain() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut path = Path::new(&Parameters::new());
        path.bbr.seed(seed);
        path.flight = 1400.0;
        for _ in 0..4 {
            path.round(BOTTLENECK);
        }
        path.flight = 500.0;
        path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
        // Phases of one min_rtt to the next probe.
        let mut phases = 0;
        while (path.mbps() - 12.375).abs() > 1e-6 {
            assert!((path.mbps() - 9.9).abs() < 1e-6, "{}", path.mbps());
            path.next_phase();
            phases += 1;
        }
        seen.insert(phases);
    }
    assert_eq!(seen, (0..=6).collect());
}

#[test]
fn the_rtt_is_probed_when_it_is_ten_seconds_old() {
    let mut path = Path::cruising();
    let cwnd = path.window.cwnd;
    path.rtt = Duration::from_millis(700);
    path.flight = 500.0;
    let began = path.now;
    while path.phase() != "probe_rtt" {
        path.ack(RTT, 500.0, BOTTLENECK, true);
    }
    assert!(path.now.since(began) > Duration::from_secs(10));
    assert!(path.now.since(began) <= Duration::from_secs(11));
    assert_eq!(path.window.cwnd, 4.0);
    assert!(path.window.actions.limits_rate);
    // 200 ms count from when four segments are in flight, and a round.
    path.ack(RTT, 400.0, BOTTLENECK, true);
    path.flight = 4.0;
    path.ack(RTT, 4.0, BOTTLENECK, true);
    path.ack(Duration::from_millis(201), 4.0, BOTTLENECK, false);
    assert_eq!(path.phase(), "probe_rtt");
    path.rtt = RTT;
    path.ack(RTT, 4.0, BOTTLENECK, true);
    assert_eq!(path.phase(), "probe_bw");
    assert!(path.window.cwnd >= cwnd.min(1000.0), "{cwnd} was saved");
}

#[test]
fn a_round_alone_is_not_enough_on_a_short_path() {
    let parameters = Parameters::new().with("probe_rtt", "1 s");
    let mut path = Path::new(&parameters);
    path.rtt = Duration::from_millis(700);
    path.flight = 4.0;
    for _ in 0..18 {
        path.round(BOTTLENECK);
    }
    assert_eq!(path.phase(), "probe_rtt");
    path.round(BOTTLENECK);
    assert_eq!(path.phase(), "probe_rtt");
    path.round(BOTTLENECK);
    assert_eq!(path.phase(), "probe_bw");
}

#[test]
fn a_recovery_conserves_packets_for_a_round_and_then_restores_the_window() {
    let mut path = Path::cruising();
    path.window.cwnd = 900.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 901.0);
    // 10 segments are found lost, 500 are under way, 2 arrived.
    (path.repair, path.lost, path.flight) = (Repair::Recovery, 10.0, 500.0);
    path.ack(Duration::from_millis(1), 2.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 502.0);
    // One goes for every one that arrives.
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 502.0);
    path.lost = 5.0;
    path.flight = 495.0;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 497.0);
    // The next round grows again by what arrives.
    path.ack(RTT, 3.0, BOTTLENECK, true);
    assert_eq!(path.window.cwnd, 500.0);
    path.repair = Repair::None;
    path.ack(Duration::from_millis(1), 1.0, BOTTLENECK, false);
    assert_eq!(path.window.cwnd, 902.0);
}

#[test]
fn losses_move_neither_the_rate_nor_the_estimates() {
    let mut path = Path::cruising();
    let (rate, estimate) = (path.window.pacing_rate, path.bbr.bandwidth_estimate());
    path.bbr
        .on_loss(&crate::wire::a_loss(500.0), &mut path.window);
    path.repair = Repair::Recovery;
    path.lost = 50.0;
    path.ack(Duration::from_millis(1), 2.0, BOTTLENECK, false);
    assert_eq!(path.window.pacing_rate, rate);
    assert_eq!(path.bbr.bandwidth_estimate(), estimate);
}

#[test]
fn a_timeout_leaves_one_segment_until_an_ack_and_then_restores() {
    let mut path = Path::cruising();
    let cwnd = path.window.cwnd;
    path.bbr.on_timeout(&a_timeout(500.0), &mut path.window);
    assert_eq!(path.window.cwnd, 1.0);
    path.repair = Repair::Timeout;
    path.flight = 0.0;
    path.ack(RTT, 1.0, BOTTLENECK, true);
    assert_eq!(path.window.cwnd, 4.0);
    path.ack(RTT, 4.0, BOTTLENECK, true);
    assert_eq!(path.window.cwnd, 8.0);
    // A second timeout does not forget the window.
    path.bbr.on_timeout(&a_timeout(8.0), &mut path.window);
    path.repair = Repair::None;
    path.ack(RTT, 1.0, BOTTLENECK, true);
    assert!(path.window.cwnd >= cwnd, "{}", path.window.cwnd);
}

#[test]
fn after_an_idle_time_it_paces_at_the_estimate() {
    let mut path = Path::cruising();
    while (path.mbps() - 12.375).abs() > 1e-6 {
        path.next_phase();
    }
    path.now += Duration::from_secs(100);
    path.bbr.on_restart(path.now, &mut path.window);
    close(path.mbps(), 9.9, 1e-6);
    // The RTT is old, but the idle time has drained the queue: no probe.
    path.rtt = Duration::from_millis(650);
    path.ack(RTT, 2.0, BOTTLENECK, true);
    assert_eq!(path.phase(), "probe_bw");
}

#[test]
fn a_policer_is_found_and_probing_stops() {
    let mut path = Path::cruising();
    for _ in 0..20 {
        path.lost = 150.0;
        path.ack(RTT + Duration::from_nanos(1), 500.0, BOTTLENECK, true);
    }
    // 500 segments in 600 ms, with nothing added and nothing taken away.
    for _ in 0..20 {
        close(path.mbps(), 9.9, 0.01);
        path.lost = 1.0;
        path.next_phase();
    }
    let without = Parameters::new().with("policer", false);
    assert!(format!("{:?}", build("bbr", &without)).contains("policer: false"));
}

#[test]
fn ack_bursts_widen_the_window_by_at_most_100_ms_of_bandwidth() {
    let mut path = Path::cruising();
    path.window.cwnd = 3000.0;
    // 300 segments at once; the window shows 83 of them.
    path.ack(Duration::from_millis(1), 300.0, BOTTLENECK, false);
    // 1000 + 83.3 + 6 rounded up to an even number.
    assert_eq!(path.window.cwnd, 1090.0);
}

#[test]
fn a_spurious_repair_looks_for_the_bandwidth_again() {
    let mut path = Path::new(&Parameters::new());
    path.flight = 1400.0;
    for _ in 0..3 {
        path.round(BOTTLENECK);
    }
    let before = path.window.clone();
    path.bbr.on_spurious(&before, &mut path.window);
    for _ in 0..3 {
        path.round(BOTTLENECK);
        assert_eq!(path.phase(), "startup");
    }
    path.round(BOTTLENECK);
    assert_eq!(path.phase(), "drain");
}
