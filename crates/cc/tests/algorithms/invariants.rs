//! What holds for every algorithm, whatever the transport reports.

use crate::wire::{a_loss, a_rate_sample, a_timeout, an_ack, an_exit};
use bentpipe_cc::{
    CWND_LIMIT, Controller, Parameters, Repair, SlotKind, Start, Window, build, build_slots, list,
    slots,
};
use bentpipe_units::{Duration, Rate, Time};
use proptest::prelude::*;

/// One call of the transport.
#[derive(Clone, Debug)]
enum Event {
    Established(Option<u64>),
    Ack {
        gap: u64,
        acked: f64,
        rtt: Option<u64>,
        cwnd_limited: bool,
        round_start: bool,
        receive_window: f64,
        rate: Option<u64>,
    },
    Duplicate(u64),
    Loss {
        flight: f64,
        ecn: bool,
    },
    Timeout {
        flight: f64,
        first: bool,
    },
    Exit {
        flight: f64,
        fix: bool,
    },
    Spurious,
    /// The last call of an ACK, for those that own the window.
    Control {
        gap: u64,
        delivered: f64,
        lost: f64,
        sample: Option<(f64, u64, bool)>,
        flight: f64,
        repair: Repair,
    },
    Restart(u64),
    Probes {
        answered: u32,
        cwnd_limited: bool,
        receive_window: f64,
    },
    Idle,
}

/// Nanoseconds: none, a few, a packet's time, a round trip, hours.
fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        1u64..10,
        1_000u64..10_000_000,
        100_000_000u64..2_000_000_000,
        Just(100_000_000_000_000)
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let acked = prop_oneof![Just(1.0), Just(2.0), 0.0..3.0f64, 1.0..100_000.0f64];
    let receive_window = prop_oneof![Just(f64::INFINITY), 1.0..1000.0f64];
    let flight = prop_oneof![Just(0.0), 0.0..1000.0f64];
    let ack = (
        gap(),
        acked,
        prop::option::of(gap()),
        prop::bool::weighted(0.8),
        any::<bool>(),
        receive_window,
        prop::option::of(any::<u64>()),
    )
        .prop_map(
            |(gap, acked, rtt, cwnd_limited, round_start, receive_window, rate)| Event::Ack {
                gap,
                acked,
                rtt,
                cwnd_limited,
                round_start,
                receive_window,
                rate,
            },
        );
    let control = (
        gap(),
        prop_oneof![Just(0.0), 0.0..3.0f64, 1.0..100_000.0f64],
        prop_oneof![Just(0.0), 0.0..1000.0f64],
        prop::option::of((0.0..1e6f64, gap(), any::<bool>())),
        flight.clone(),
        prop::sample::select(vec![Repair::None, Repair::Recovery, Repair::Timeout]),
    )
        .prop_map(
            |(gap, delivered, lost, sample, flight, repair)| Event::Control {
                gap,
                delivered,
                lost,
                sample,
                flight,
                repair,
            },
        );
    prop_oneof![
        12 => ack,
        8 => control,
        1 => gap().prop_map(Event::Restart),
        2 => gap().prop_map(Event::Duplicate),
        1 => (flight.clone(), any::<bool>()).prop_map(|(flight, ecn)| Event::Loss { flight, ecn }),
        1 => (flight.clone(), any::<bool>())
            .prop_map(|(flight, first)| Event::Timeout { flight, first }),
        1 => (flight, any::<bool>()).prop_map(|(flight, fix)| Event::Exit { flight, fix }),
        1 => Just(Event::Spurious),
        2 => (0..10u32, any::<bool>(), 1.0..1000.0f64).prop_map(
            |(answered, cwnd_limited, receive_window)| Event::Probes {
                answered,
                cwnd_limited,
                receive_window,
            },
        ),
        1 => Just(Event::Idle),
        1 => prop::option::of(gap()).prop_map(Event::Established),
    ]
}

/// Runs the events through a controller and checks after each of them.
fn hold(controller: impl Into<Controller>, events: &[Event]) {
    let mut controller = controller.into();
    let fixed = controller.name().starts_with("fixed");
    let hoe_may_set_one = matches!(&controller, Controller::Classic(c) if c.hoe.is_some());
    let probers = ["peach", "peach+", "swift", "pbs", "rcs", "tp-planet"];
    let probes = probers.contains(&controller.name());
    let linux = controller.name().ends_with("-linux");
    // picoquic raises the window by the RTT and the bandwidth, needed or not, and SEARCH takes back
    // what it added after the path was full.
    let raises =
        matches!(&controller, Controller::Classic(c) if matches!(c.start, Start::Picoquic(_)));
    let searches =
        matches!(&controller, Controller::Classic(c) if matches!(c.start, Start::Search(_)));
    let may_lower = searches || matches!(&controller, Controller::Monolithic(_));
    let mut window = Window::new(10.0);
    let mut saved = window.clone();
    let (mut now, mut min_rtt) = (Time::ZERO, Duration::MAX);
    let mut acks = 0;
    for event in events {
        let before = window.clone();
        acks += u32::from(matches!(event, Event::Ack { .. } | Event::Duplicate(_)));
        match *event {
            Event::Established(rtt) => {
                controller.on_open(64.0);
                controller.on_established(rtt.map(Duration::from_nanos), &mut window);
            }
            Event::Ack {
                gap,
                acked,
                rtt,
                cwnd_limited,
                round_start,
                receive_window,
                rate,
            } => {
                now += Duration::from_nanos(gap);
                let rtt = rtt.map(Duration::from_nanos);
                min_rtt = min_rtt.min(rtt.unwrap_or(Duration::MAX));
                let mut ack = an_ack();
                (ack.now, ack.acked, ack.delivered) = (now, acked, acked);
                (ack.rtt, ack.min_rtt) = (rtt, min_rtt);
                ack.smoothed_rtt = rtt.unwrap_or_default();
                ack.delivery_rate = rate.map(Rate::from_bps);
                (ack.cwnd_limited, ack.round_start) = (cwnd_limited, round_start);
                ack.receive_window = receive_window;
                controller.on_sample(&ack, &mut window);
                controller.on_ack(&ack, &mut window);
                assert!(
                    cwnd_limited || fixed || raises || window.cwnd <= before.cwnd,
                    "growth without need: {before:?} -> {window:?}"
                );
                assert!(
                    fixed || may_lower || window.cwnd >= before.cwnd,
                    "an ACK lowered cwnd"
                );
            }
            Event::Duplicate(gap) => {
                now += Duration::from_nanos(gap);
                let mut ack = an_ack();
                (ack.now, ack.acked, ack.delivered) = (now, 0.0, 0.0);
                (ack.duplicate, ack.in_recovery) = (true, true);
                (ack.rtt, ack.min_rtt) = (None, min_rtt);
                controller.on_sample(&ack, &mut window);
                // Vegas cuts again for a retransmission that is overdue.
                let moved = if may_lower {
                    window.cwnd > before.cwnd
                } else {
                    window.cwnd != before.cwnd
                };
                // The first ACK of any kind initialises a module of Linux 2.6.22.
                let initialises = acks == 1 && linux;
                assert!(fixed || initialises || !moved, "a duplicate moved cwnd");
            }
            Event::Loss { flight, ecn } => {
                saved = window.clone();
                let mut loss = a_loss(flight);
                (loss.now, loss.ecn, loss.min_rtt) = (now, ecn, min_rtt);
                controller.on_loss(&loss, &mut window);
            }
            Event::Timeout { flight, first } => {
                saved = window.clone();
                let mut timeout = a_timeout(flight);
                (timeout.now, timeout.first, timeout.min_rtt) = (now, first, min_rtt);
                controller.on_timeout(&timeout, &mut window);
            }
            Event::Exit { flight, fix } => {
                let mut exit = an_exit(flight, fix);
                (exit.now, exit.min_rtt) = (now, min_rtt);
                // Recovery ends only after a loss has set ssthresh.
                if window.ssthresh.is_finite() {
                    controller.on_recovery_exit(&exit, &mut window);
                }
            }
            Event::Spurious => controller.on_spurious(&saved, &mut window),
            Event::Control { .. } | Event::Restart(_) if !controller.owns_window() => {}
            Event::Restart(gap) => {
                now += Duration::from_nanos(gap);
                controller.on_restart(now, &mut window);
            }
            Event::Control {
                gap,
                delivered,
                lost,
                sample,
                flight,
                repair,
            } => {
                now += Duration::from_nanos(gap);
                let mut ack = an_ack();
                (ack.now, ack.delivered, ack.lost) = (now, delivered, lost);
                (ack.flight, ack.flight_before) = (flight, flight + delivered);
                ack.rate_sample = sample.map(|(prior, interval, app_limited)| {
                    let interval = Duration::from_nanos(interval);
                    let mut sample = a_rate_sample(prior, delivered, interval);
                    sample.app_limited = app_limited;
                    sample.rtt = (lost > 0.0).then_some(interval);
                    sample
                });
                controller.on_control(&ack, repair, &mut window);
                assert!(window.pacing_rate.is_none_or(|rate| rate > Rate::ZERO));
                assert!(window.send_quantum >= 1);
            }
            Event::Probes {
                answered,
                cwnd_limited,
                receive_window,
            } => {
                let mut ack = an_ack();
                (ack.now, ack.acked, ack.delivered) = (now, 0.0, 0.0);
                (ack.rtt, ack.min_rtt, ack.probes) = (None, min_rtt, answered);
                (ack.cwnd_limited, ack.receive_window) = (cwnd_limited, receive_window);
                controller.on_sample(&ack, &mut window);
                let limit = if cwnd_limited { receive_window } else { 0.0 };
                assert!(
                    // What is added piece by piece may end a rounding above it.
                    !probes || window.cwnd <= before.cwnd.max(limit) * (1.0 + 1e-12),
                    "{event:?}: {before:?} -> {window:?}"
                );
            }
            Event::Idle => controller.after_idle(10.0, &mut window),
        }
        let _ = (controller.phase(&window), controller.bandwidth_estimate());
        assert!(
            window.cwnd.is_finite() && window.cwnd >= 1.0,
            "{event:?}: {before:?} -> {window:?}"
        );
        assert!(
            window.cwnd <= 2.0 * CWND_LIMIT,
            "{event:?}: {before:?} -> {window:?}"
        );
        let least = if hoe_may_set_one { 1.0 } else { 2.0 };
        assert!(
            window.ssthresh >= least || window.ssthresh >= window.cwnd.min(before.cwnd),
            "{event:?}: {before:?} -> {window:?}"
        );
    }
}

proptest! {
    #[test]
    fn every_named_algorithm(events in prop::collection::vec(event(), 1..200)) {
        for described in list() {
            hold(build(described.name, &Parameters::new()).unwrap(), &events);
        }
    }

    #[test]
    fn every_variant(events in prop::collection::vec(event(), 1..60)) {
        for described in list() {
            for parameter in described.parameters {
                let bentpipe_cc::Range::OneOf(words) = parameter.range else { continue };
                for word in words {
                    let given = Parameters::new().with(parameter.name, *word);
                    hold(build(described.name, &given).unwrap(), &events);
                }
            }
        }
    }

    #[test]
    fn every_combination(events in prop::collection::vec(event(), 1..30)) {
        for start in slots(SlotKind::Start) {
            for avoidance in slots(SlotKind::Avoidance) {
                for reaction in slots(SlotKind::Reaction) {
                    let none = Parameters::new();
                    let classic =
                        build_slots(start.name, avoidance.name, reaction.name, &none).unwrap();
                    hold(classic, &events);
                }
            }
        }
    }

    #[test]
    fn no_text_panics(name in "\\PC{0,20}", parameter in "\\PC{0,20}", value in "\\PC{0,20}") {
        let given = Parameters::new().with(parameter, value.as_str());
        let _ = build(&name, &given);
        let _ = build("mtsi", &given);
        let _ = build("hybla", &Parameters::new().with("rtt0", value.as_str()));
        let _ = build_slots(&name, &value, &name, &given);
    }
}
