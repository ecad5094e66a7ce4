//! A user's own congestion control, without a fork.

use crate::line::{Line, sack};
use bentpipe_cc::{Ack, CongestionControl, Controller, Loss, Window};
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, RunError, Simulation, Unobserved, run};
use bentpipe_units::{Rate, Time};
use proptest::prelude::*;

/// Grows by two segments per ACK, always.
#[derive(Debug)]
struct Twice;

impl CongestionControl for Twice {
    fn name(&self) -> &str {
        "twice"
    }
    fn on_ack(&mut self, _: &Ack, window: &mut Window) {
        window.cwnd += 2.0;
    }
}

#[test]
fn it_runs_instead_of_the_named_one() {
    let scenario = Line::geo().transfer(300_000, sack()).scenario();
    let options = Options::default();
    let own = Simulation::with(&scenario, &options, |_| Some(Controller::custom(Twice)))
        .unwrap()
        .run(&mut Unobserved)
        .unwrap();
    let named = run(&scenario, &options).unwrap();
    assert!(own.flows[0].transfer_time < named.flows[0].transfer_time);
}

/// Grows as slow start does, and does something wrong with the 20th ACK.
#[derive(Debug)]
struct Faulty {
    acks: u32,
    wrong: fn(&mut Window),
}

impl CongestionControl for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.acks += 1;
        window.cwnd += ack.acked;
        if self.acks == 20 {
            (self.wrong)(window);
        }
    }
    fn failure(&self) -> Option<String> {
        (self.acks == 20).then(|| "no idea what to do".to_owned())
    }
}

fn with(make: impl Fn() -> Controller) -> Result<Outcome, RunError> {
    let scenario = Line::geo().transfer(300_000, sack()).scenario();
    let options = Options::default();
    Simulation::with(&scenario, &options, |_| Some(make()))?.run(&mut Unobserved)
}

fn fault(wrong: fn(&mut Window)) -> (String, Time) {
    match with(|| Controller::custom(Faulty { acks: 0, wrong })) {
        Err(RunError::Control { flow, fault }) => (format!("{flow}: {fault}"), fault.at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_transport_can_use_ends_the_run_with_a_message() {
    let (own_words, at) = fault(|window| window.cwnd = f64::NAN);
    assert!(own_words.contains("`faulty`"), "{own_words}");
    assert!(
        own_words.contains("in `on_ack`: no idea what to do"),
        "{own_words}"
    );
    assert!(
        at > Time::ZERO && own_words.contains(&at.to_string()),
        "{own_words}"
    );
    let (panicked, again) = fault(|_| panic!("index {} of 3", 7));
    assert!(
        panicked.ends_with("it panicked: index 7 of 3"),
        "{panicked}"
    );
    assert_eq!(at, again);
}

/// Sets the window to what it was given, call after call.
#[derive(Debug)]
struct Wild {
    windows: Vec<(f64, f64, Option<u64>, u32)>,
    at: usize,
}

impl Wild {
    fn set(&mut self, window: &mut Window) {
        let (cwnd, ssthresh, rate, quantum) = self.windows[self.at % self.windows.len()];
        self.at += 1;
        window.cwnd = cwnd;
        window.ssthresh = ssthresh;
        window.pacing_rate = rate.map(Rate::from_bps);
        window.send_quantum = quantum;
    }
}

impl CongestionControl for Wild {
    fn name(&self) -> &str {
        "wild"
    }
    fn on_ack(&mut self, _: &Ack, window: &mut Window) {
        self.set(window);
    }
    fn on_loss(&mut self, _: &Loss, window: &mut Window) {
        self.set(window);
    }
}

fn segments() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 1.0..200.0,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, 1.0, -1.0, 1e300, f64::INFINITY, f64::NAN]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a control sets, the run ends: with an outcome where every window was
    /// usable as far as it came, else with an error that has its name.
    #[test]
    fn no_window_brings_a_run_down(
        windows in prop::collection::vec(
            (segments(), segments(), prop::option::of(0_u64..1_000_000_000), 0_u32..100),
            1..20,
        )
    ) {
        let usable = |(cwnd, ssthresh, rate, quantum): &(f64, f64, Option<u64>, u32)| {
            (1.0..=bentpipe_cc::CWND_LIMIT).contains(cwnd)
                && *ssthresh >= 1.0
                && *rate != Some(0)
                && *quantum > 0
        };
        let control = || Controller::custom(Wild { windows: windows.clone(), at: 0 });
        match with(control) {
            Ok(_) => prop_assert!(usable(&windows[0])),
            Err(RunError::Control { fault, .. }) => {
                prop_assert_eq!(fault.control, "wild");
                prop_assert!(!windows.iter().all(usable));
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
