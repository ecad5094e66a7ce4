//! Copa over whole paths: the queue that it keeps, and with whom it shares.

use crate::line::{Line, named};
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate};

const SECONDS: u64 = 120;
const RTT: Duration = Duration::from_millis(100);
/// Payload of 10 Mbit/s.
const PAYLOAD: f64 = 9.653;

fn copa() -> Transport {
    Transport {
        initial_window: 10.0,
        ..named("copa", Recovery::Sack)
    }
}

fn over(queue: u32, transports: Vec<Transport>) -> Outcome {
    let mut line = Line {
        rate: Rate::from_mbps(10),
        rtt: RTT,
        queue,
        loss: 0.0,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    };
    for transport in transports {
        line = line.with(Application::Persistent, Some(transport));
    }
    run(&line.scenario(), &Options::default()).unwrap()
}

fn mbps(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].delivered.as_f64() * 8e-6 / SECONDS as f64
}

/// Mean queueing delay in segments of 1500 bytes at 10 Mbit/s.
fn queued(outcome: &Outcome, flow: usize) -> f64 {
    let transmission = Duration::from_micros(120 + 1200);
    let empty = RTT + transmission;
    let mean = outcome.flows[flow].mean_rtt.unwrap();
    mean.saturating_sub(empty).as_secs() / 0.0012
}

#[test]
fn a_flow_alone_fills_the_link_and_queues_about_one_over_delta_segments() {
    for (delta, most) in [(0.5, 6.0), (0.1, 25.0)] {
        let transport = Transport {
            parameters: copa().parameters.with("delta", delta),
            ..copa()
        };
        let outcome = over(1000, vec![transport]);
        let (rate, queue) = (mbps(&outcome, 0), queued(&outcome, 0));
        assert!(rate > 0.95 * PAYLOAD, "delta {delta}: {rate} Mbit/s");
        let range = 0.5 / delta..most;
        assert!(range.contains(&queue), "delta {delta}: {queue} segments");
        assert_eq!(outcome.flows[0].retransmissions, 0);
    }
}

#[test]
fn two_flows_share_and_keep_the_queue_short() {
    let outcome = over(1000, vec![copa(), copa()]);
    let (a, b) = (mbps(&outcome, 0), mbps(&outcome, 1));
    assert!(a + b > 0.95 * PAYLOAD, "{a} {b}");
    assert!(a.min(b) > 0.8 * a.max(b), "{a} {b}");
    let queue = queued(&outcome, 0);
    assert!(queue < 15.0, "{queue}");
}

#[test]
fn the_competitive_mode_holds_its_own_beside_cubic() {
    let cubic = || Transport {
        initial_window: 10.0,
        ..named("cubic", Recovery::Sack)
    };
    let share = |mode: &str| {
        let transport = Transport {
            parameters: copa().parameters.with("mode", mode),
            ..copa()
        };
        let outcome = over(166, vec![transport, cubic()]);
        mbps(&outcome, 0) / (mbps(&outcome, 0) + mbps(&outcome, 1))
    };
    // The default mode gives way to whoever fills the queue.
    let (switching, default) = (share("switching"), share("default"));
    assert!(default < 0.15, "{default}");
    assert!((0.25..0.75).contains(&switching), "{switching}");
}
