//! RCS and TP-Planet: the rate that dummies find, and what losses and dummies do to
//! it.

use crate::wire::{a_loss, a_timeout, an_ack, close};
use bentpipe_cc::algorithms::rcs::Rcs;
use bentpipe_cc::algorithms::tp_planet::{TpPlanet, TpPlanetParameters};
use bentpipe_cc::{Ack, CongestionControl, Phase, ProbePattern, Probes, Repair, Timeout, Window};
use bentpipe_units::{Duration, Rate};

const RTT: Duration = Duration::from_millis(500);

/// A control with its window on a path of 500 ms with segments of 1250 bytes.
struct Sender<C> {
    control: C,
    window: Window,
    next: Ack,
}

impl<C: CongestionControl> Sender<C> {
    fn new(control: C) -> Sender<C> {
        let mut window = Window::new(1.0);
        window.mss = 1250;
        let next = Ack {
            rtt: Some(RTT),
            min_rtt: RTT,
            smoothed_rtt: RTT,
            mss: 1250,
            receive_window: 2000.0,
            cwnd_limited: false,
            ..an_ack()
        };
        let mut sender = Sender {
            control,
            window,
            next,
        };
        sender.control.on_open(2000.0);
        sender.control.on_established(Some(RTT), &mut sender.window);
        sender
    }

    fn asked(&mut self) -> Option<Probes> {
        self.window.actions.probes.take().map(|probes| *probes)
    }

    fn take(&mut self, ack: &Ack) {
        self.control.on_sample(ack, &mut self.window);
        self.control.on_control(ack, Repair::None, &mut self.window);
    }

    /// `n` answers to dummies.
    fn answers(&mut self, n: u32) {
        let answer = Ack {
            acked: 0.0,
            delivered: 0.0,
            probes: 1,
            round_start: false,
            ..self.next
        };
        (0..n).for_each(|_| self.take(&answer));
    }

    /// An ACK for `delivered` segments that finds `lost`.
    fn ack(&mut self, delivered: f64, lost: f64) {
        let ack = Ack {
            acked: delivered,
            delivered,
            lost,
            ..self.next
        };
        self.take(&ack);
        self.next.round_start = false;
    }

    /// The next ACK begins a round trip later.
    fn pass(&mut self) {
        self.next.now += RTT;
        self.next.round_start = true;
    }
}

/// In the steady state after a start with `answered` answers.
fn started<C: CongestionControl>(control: C, answered: u32) -> Sender<C> {
    let mut sender = Sender::new(control);
    sender.asked();
    sender.ack(1.0, 0.0);
    sender.answers(answered);
    sender.pass();
    sender.next.now += RTT;
    sender
}

fn rcs() -> Rcs {
    Rcs::new(Rate::from_mbps(1), 1000.0)
}

/// The worked example: 1 Mbit/s is 100 segments a second, 50 a round trip.
#[test]
fn rcs_finds_its_rate_in_two_round_trips() {
    let mut sender = Sender::new(rcs());
    let probes = sender.asked().unwrap();
    let spacing = Duration::from_millis(10);
    assert_eq!((probes.count, probes.interval), (49, spacing));
    assert_eq!(sender.window.cwnd, 1.0);
    sender.ack(1.0, 0.0);
    sender.answers(30);
    close(sender.control.rate(), 62.0, 1e-9);
    let paced = Some(Rate::from_bps(620_000));
    assert_eq!(
        (sender.window.pacing_rate, sender.window.cwnd),
        (paced, 62.0)
    );
    sender.answers(100);
    close(sender.control.rate(), 100.0, 1e-9);
}

#[test]
fn rcs_grows_by_a_segment_a_round_trip_up_to_the_target() {
    let mut sender = started(rcs(), 47);
    sender.ack(30.0, 0.0);
    assert_eq!(sender.control.phase(&sender.window), Phase::Own("steady"));
    let mut rates = Vec::new();
    for _ in 0..4 {
        sender.pass();
        sender.ack(48.0, 0.0);
        rates.push(sender.control.rate());
    }
    assert_eq!(rates[3], 100.0, "{rates:?}");
    // A round trip that used less than half of it adds nothing.
    let mut sender = started(rcs(), 29);
    sender.ack(1.0, 0.0);
    let before = sender.control.rate();
    sender.pass();
    sender.ack(1.0, 0.0);
    close(sender.control.rate(), before, 1e-9);
}

#[test]
fn rcs_restores_its_rate_after_an_error_and_not_after_congestion() {
    let mut sender = started(rcs(), 30);
    sender.next.round_start = false;
    sender.ack(1.0, 0.0);
    close(sender.control.rate(), 62.0, 1e-9);
    sender.control.on_loss(&a_loss(31.0), &mut sender.window);
    close(sender.control.rate(), 31.0, 1e-9);
    assert_eq!(sender.asked().unwrap().count, 31);
    assert_eq!(
        sender.control.phase(&sender.window),
        Phase::Own("detection")
    );
    sender.answers(15);
    close(sender.control.rate(), 31.0, 1e-9);
    sender.answers(16);
    close(sender.control.rate(), 62.0, 1e-9);
    let timeout = Timeout {
        mss: 1250,
        ..a_timeout(20.0)
    };
    sender.control.on_timeout(&timeout, &mut sender.window);
    assert_eq!((sender.control.rate(), sender.window.cwnd), (0.0, 1.0));
    assert_eq!(sender.asked().unwrap().count, 49, "it starts over");
}

/// 20 slots of 25 ms, no more than 20 segments in one.
fn tp_planet() -> TpPlanet {
    TpPlanet::new(parameters())
}

const SLOT: Duration = Duration::from_millis(25);

/// In the steady state after a Follow-Up phase with so many answers a slot.
fn followed_up(answers: impl Fn(u32) -> u32) -> Sender<TpPlanet> {
    let mut sender = Sender::new(tp_planet());
    sender.asked();
    sender.ack(1.0, 0.0);
    for slot in 0..20 {
        sender.answers(answers(slot));
        sender.next.now += SLOT;
    }
    sender.ack(0.0, 0.0);
    sender
}

/// All of 20 segments a slot come through, with the one of data in the first.
fn full(slot: u32) -> u32 {
    if slot == 0 { 19 } else { 20 }
}

impl Sender<TpPlanet> {
    /// A slot in which so many of the pairs are answered.
    fn slot(&mut self, low: u32, high: u32) {
        self.answers(low);
        let answer = Ack {
            acked: 0.0,
            delivered: 0.0,
            high_probes: high,
            round_start: false,
            ..self.next
        };
        self.take(&answer);
        self.next.now += SLOT;
        self.ack(0.0, 0.0);
    }

    /// The rate, segments a round trip.
    fn per_round_trip(&self) -> f64 {
        self.control.rate() * RTT.as_secs()
    }
}

/// The first round trip: 1, 2, 4, 8, 10 in the first slots, 20 in the last.
#[test]
fn tp_planet_fills_the_slots_of_the_first_round_trip() {
    let mut sender = Sender::new(tp_planet());
    let probes = sender.asked().unwrap();
    assert_eq!((probes.count, probes.interval), (20, SLOT));
    let sizes: Vec<u32> = (0..20)
        .map(|slot| probes.pattern.probes_in(slot, 20))
        .collect();
    assert_eq!(sizes[..6], [1, 2, 4, 8, 10, 10]);
    assert_eq!(sizes[19], 20);
    assert!(sizes.windows(2).all(|w| w[0] <= w[1]), "{sizes:?}");
    assert_eq!(sender.window.cwnd, 1.0);
    let phase = sender.control.phase(&sender.window);
    assert_eq!(phase, Phase::Own("immediate_start"));
}

#[test]
fn probes_of_a_slot_stay_within_their_bounds() {
    for (threshold, most, slots) in [(1, 1, 1), (25, 50, 20), (7, 7, 3), (40, 3, 9), (0, 0, 2)] {
        let pattern = ProbePattern::Slots { threshold, most };
        let sizes = (0..slots + 40).map(|slot| pattern.probes_in(slot, slots));
        assert!(
            sizes.clone().all(|n| (1..=most.max(1)).contains(&n)),
            "{pattern:?}: {:?}",
            sizes.collect::<Vec<_>>()
        );
    }
    let header = ProbePattern::Slots {
        threshold: 25,
        most: 50,
    };
    let sizes: Vec<u32> = (0..8).map(|slot| header.probes_in(slot, 20)).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 16, 25, 26, 28]);
    assert_eq!(header.probes_in(19, 20), 50);
    assert_eq!(ProbePattern::Pair.probes_in(5, 20), 1);
}

#[test]
fn tp_planet_sends_in_a_slot_what_the_last_one_let_through() {
    let mut sender = Sender::new(tp_planet());
    sender.ack(1.0, 0.0);
    let phase = sender.control.phase(&sender.window);
    assert_eq!(phase, Phase::Own("follow_up"));
    sender.next.now += SLOT;
    sender.answers(2);
    // One segment of data in the first slot.
    close(sender.per_round_trip(), 20.0, 1e-9);
    sender.next.now += SLOT;
    sender.answers(1);
    close(sender.per_round_trip(), 40.0, 1e-9);
    assert_eq!(sender.window.cwnd, 80.0);
    // Slots with less lower nothing.
    sender.next.now += SLOT * 3;
    sender.answers(1);
    close(sender.per_round_trip(), 40.0, 1e-9);
    // 12 come through of 20.
    let sender = followed_up(|slot| (1 << slot.min(5)).min(12));
    close(sender.per_round_trip(), 240.0, 1e-9);
    assert_eq!(sender.control.phase(&sender.window), Phase::Own("hold"));
}

/// A round trip that is known beforehand, where no handshake shows it.
#[test]
fn tp_planet_begins_with_the_round_trip_that_it_is_told() {
    let minutes = Duration::from_secs(1200);
    let mut control = TpPlanet::new(TpPlanetParameters {
        round_trip: minutes,
        ..parameters()
    });
    let mut window = Window::new(1.0);
    control.on_established(None, &mut window);
    let probes = window.actions.probes.unwrap();
    assert_eq!(probes.interval, Duration::from_secs(60));
}

fn parameters() -> TpPlanetParameters {
    TpPlanetParameters {
        round_trip: Duration::ZERO,
        slots: 20.0,
        reach: 400.0,
        threshold: 0.5,
        share: 0.05,
        increase_above: 0.9,
        decrease_below: 0.6,
        increase: 1.0,
        decrease: 0.875,
    }
}

/// The worked examples: phi is 1 in spite of errors, 0.75 and 0.4; and what is too
/// little to judge.
#[test]
fn tp_planet_goes_by_how_low_priority_fares_beside_normal() {
    for (low, high, rate, phase) in [
        (18, 18, 401.0, "increase"),
        (15, 20, 400.0, "hold"),
        (8, 20, 350.0, "decrease"),
        (0, 7, 400.0, "hold"),
    ] {
        let mut sender = followed_up(full);
        close(sender.per_round_trip(), 400.0, 1e-9);
        let pairs = Probes {
            count: 1,
            interval: SLOT,
            pattern: ProbePattern::Pair,
            ..Probes::default()
        };
        sender.slot(0, 0);
        assert_eq!(sender.asked(), Some(pairs));
        sender.slot(low, high);
        close(sender.per_round_trip(), rate, 1e-9);
        assert_eq!(sender.control.phase(&sender.window), Phase::Own(phase));
    }
}

#[test]
fn tp_planet_decreases_once_in_a_round_trip_and_increases_in_each_slot() {
    let mut sender = followed_up(full);
    sender.slot(0, 0);
    for _ in 0..20 {
        sender.slot(4, 10);
    }
    close(sender.per_round_trip(), 350.0, 1e-9);
    sender.slot(4, 10);
    close(sender.per_round_trip(), 350.0 * 0.875, 1e-9);
    sender.slot(10, 10);
    sender.slot(0, 0);
    close(sender.per_round_trip(), 350.0 * 0.875 + 2.0, 1e-9);
}

#[test]
fn tp_planet_takes_no_single_loss_for_congestion_and_keeps_its_rate_in_a_blackout() {
    let mut sender = followed_up(full);
    sender.slot(0, 0);
    sender.control.on_loss(&a_loss(400.0), &mut sender.window);
    close(sender.per_round_trip(), 400.0, 1e-9);
    sender
        .control
        .on_timeout(&a_timeout(400.0), &mut sender.window);
    close(sender.per_round_trip(), 400.0, 1e-9);
    assert_eq!(sender.window.cwnd, 1.0);
    assert!(sender.window.actions.keeps_rto);
    assert_eq!(sender.control.phase(&sender.window), Phase::Own("blackout"));
    let probes = sender.asked().unwrap();
    assert_eq!(
        (probes.count, probes.interval, probes.pattern),
        (u32::MAX, SLOT, ProbePattern::Pair)
    );
    // An answer ends it, and its pairs.
    sender.answers(1);
    assert_eq!(sender.control.phase(&sender.window), Phase::Own("hold"));
    assert_eq!(sender.window.cwnd, 800.0);
    assert!(sender.asked().unwrap().count <= 1);
}
