//! What the undo of spurious retransmissions must leave alone.

use crate::line::{Line, named};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::Recovery;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate};

#[test]
fn a_real_loss_is_never_undone() {
    // Nothing is reordered and no queue builds up: every loss is real, and
    // undo changes nothing.
    let delivered = |seed, undo| {
        let line = Line {
            rate: Rate::from_mbps(10),
            rtt: Duration::from_millis(600),
            queue: 2000,
            loss: 0.01,
            duration: Duration::from_secs(120),
            flows: Vec::new(),
        };
        let mut transport = named("westwood", Recovery::Sack);
        transport.undo = undo;
        let scenario = line
            .with(Application::Persistent, Some(transport))
            .scenario();
        let options = Options {
            seed,
            ..Options::default()
        };
        run(&scenario, &options).unwrap().flows[0].delivered
    };
    for seed in 1..=4 {
        let [with, without] = [true, false].map(|undo| delivered(seed, undo));
        assert_eq!(with, without, "seed {seed}");
    }
}
