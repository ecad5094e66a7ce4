//! A user's congestion control in the simulator, without a fork.
//!
//! `Remembered` starts where the last connection over this path left off: it
//! knows the path's bandwidth-delay product and paces half of it out in the
//! first round trip. The example runs it against SACK over the same scenario
//! file.
//!
//! ```text
//! cargo run --release -p own-congestion-control [SCENARIO.toml]
//! ```

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use bentpipe::cc::{Ack, CongestionControl, Window};
use bentpipe::prelude::*;
use bentpipe::sim::ideal;

/// Starts at half of a remembered bandwidth-delay product; everything else is
/// the default of the trait, which is NewReno's.
#[derive(Debug)]
struct Remembered {
    rate: Rate,
    rtt: Duration,
}

impl CongestionControl for Remembered {
    fn name(&self) -> &str {
        "remembered"
    }

    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        let segments = self.rate.bytes_in(self.rtt).as_f64() / 1500.0;
        window.cwnd = (segments / 2.0).max(window.cwnd);
        window.ssthresh = segments;
        window.pacing_rate = Some(self.rate);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        window.cwnd += if window.in_slow_start() {
            ack.acked
        } else {
            ack.acked / window.cwnd
        };
    }
}

fn main() -> Result<(), bentpipe::Error> {
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "scenarios/geo.toml".into());
    let scenario = bentpipe::load(file)?;
    let named = bentpipe::run(&scenario)?;
    let own = Run::new(&scenario)
        .congestion_control(|flow| {
            let rate = Rate::from_bps_f64(ideal::payload_rate(&scenario, flow));
            let rtt = ideal::round_trip(&scenario, flow);
            Some(Box::new(Remembered { rate, rtt }))
        })
        .execute()?;

    for (outcome, label) in [(&named, None), (&own, Some("remembered"))] {
        let flow = &outcome.flows[0];
        let time = flow
            .transfer_time
            .map_or_else(|| "did not finish".into(), |t| t.to_string());
        println!("{:12} {time}", label.unwrap_or(&flow.transport));
    }
    Ok(())
}
