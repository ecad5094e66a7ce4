//! RCS and TP-Planet-like probing: the rate that dummies find, and what losses and
//! dummies do to it.

use crate::wire::{a_loss, a_timeout, an_ack, close};
use bentpipe_cc::algorithms::rcs::Rcs;
use bentpipe_cc::algorithms::tp_planet::{TpPlanet, TpPlanetParameters};
use bentpipe_cc::{Ack, CongestionControl, Phase, Probes, Repair, Timeout, Window};
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
        self.window.actions.probes.take()
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

fn tp_planet() -> TpPlanet {
    TpPlanet::new(TpPlanetParameters {
        reach: 400.0,
        share: 0.05,
        increase_above: 0.9,
        decrease_below: 0.6,
        increase: 4.0,
        decrease: 0.875,
    })
}

/// The rate in segments a round trip after one in which `answered` of 20 dummies
/// were, and `lost` of 400 segments.
fn after(answered: u32, lost: f64) -> f64 {
    let mut sender = started(tp_planet(), 399);
    sender.ack(200.0, 0.0);
    let probes = sender.asked().unwrap();
    assert_eq!((probes.count, probes.interval), (20, RTT / 20));
    sender.pass();
    sender.ack(1.0, 0.0);
    sender.ack(400.0 - lost, lost);
    sender.answers(answered);
    sender.pass();
    sender.ack(0.0, 0.0);
    sender.control.rate() * RTT.as_secs()
}

/// The worked examples: phi is 0.9, 1, 0.75 and 0.4.
#[test]
fn tp_planet_goes_by_how_dummies_fare_beside_data() {
    close(after(18, 0.0), 404.0, 1e-9);
    close(after(18, 40.0), 404.0, 1e-9);
    close(after(15, 0.0), 400.0, 1e-9);
    close(after(8, 0.0), 350.0, 1e-9);
}

#[test]
fn tp_planet_takes_no_single_loss_for_congestion_and_keeps_its_rate_in_a_blackout() {
    let mut sender = started(tp_planet(), 399);
    sender.ack(200.0, 0.0);
    let rate = sender.control.rate();
    sender.control.on_loss(&a_loss(400.0), &mut sender.window);
    assert_eq!(sender.control.rate(), rate);
    sender
        .control
        .on_timeout(&a_timeout(400.0), &mut sender.window);
    assert_eq!((sender.control.rate(), sender.window.cwnd), (rate, 1.0));
    assert!(sender.window.actions.keeps_rto);
    assert_eq!(sender.control.phase(&sender.window), Phase::Own("blackout"));
    sender.ack(1.0, 0.0);
    assert_eq!(sender.window.cwnd, 2.0 * rate * RTT.as_secs());
}
