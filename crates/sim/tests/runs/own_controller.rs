//! A user's own congestion control, without a fork.

use crate::line::{Line, sack};
use bentpipe_cc::{Ack, CongestionControl, Controller, Window};
use bentpipe_sim::{Options, Simulation, Unobserved, run};

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
    let own = Simulation::with(&scenario, &options, |_| {
        Some(Controller::Custom(Box::new(Twice)))
    })
    .unwrap()
    .run(&mut Unobserved)
    .unwrap();
    let named = run(&scenario, &options).unwrap();
    assert!(own.flows[0].transfer_time < named.flows[0].transfer_time);
}
