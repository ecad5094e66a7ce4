//! Snoop held against ns-2's agent: the cells of `fidelity/snoop.csv`, which
//! `fidelity/snoop.py` measured.

use bentpipe_outcome::FlowOutcome;
use bentpipe_scenario::{Document, Override};
use bentpipe_sim::{Options, run};

const SCENARIO: &str = include_str!("../../../../fidelity/snoop.toml");
const CELLS: &str = include_str!("../../../../fidelity/snoop.csv");

/// Our goodput is this near to ns-2's in every cell.
const NEAR: f64 = 0.10;

/// As many as ns-2's, over the same time.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;

fn flow(agent: &str, delay_ms: &str, loss: &str, seed: u64, duration: &str) -> FlowOutcome {
    let mut document = Document::parse("snoop.toml", SCENARIO).unwrap();
    for (path, value) in [
        ("link.leg.one_way_delay", format!("{delay_ms} ms")),
        ("link.leg.channel.packet_error_rate", loss.to_owned()),
        (
            "flow.test.transport",
            format!("ns-{}", agent.to_lowercase()),
        ),
        ("duration", duration.to_owned()),
    ] {
        document.set(path, &Override::parse(&value)).unwrap();
    }
    let scenario = document.validate().unwrap();
    let options = Options {
        seed,
        ..Options::default()
    };
    run(&scenario, &options).unwrap().flows.remove(0)
}

#[test]
fn goodput_is_that_of_ns_2_in_every_cell() {
    let mut lines = CELLS.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut cells = 0;
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let get = |name: &str| row[names.iter().position(|n| *n == name).unwrap()];
        if get("snoop") != "1" {
            continue;
        }
        assert_eq!(get("duration_s"), "600");
        let (agent, delay, loss) = (get("agent"), get("delay_ms"), get("per"));
        let runs = SEEDS.map(|seed| flow(agent, delay, loss, seed, "600 s"));
        let bits: f64 = runs.map(|f| f.delivered.as_f64() * 8.0).sum();
        let ours = bits / SEEDS.count() as f64 / 600.0;
        let theirs: f64 = get("goodput_bps").parse().unwrap();
        assert!(
            (ours / theirs - 1.0).abs() < NEAR,
            "{agent}, {delay} ms, {loss}: {ours} for {theirs}"
        );
        cells += 1;
    }
    assert_eq!(cells, 18);
}

#[test]
fn without_random_losses_every_count_is_that_of_ns_2() {
    // ns snoop.tcl --agent Newreno --delay 0.05 --per 0 --duration 60: what the
    // first overshoot of slow start loses at the queue, and what follows.
    let f = flow("Newreno", "50", "0", 1, "60 s");
    assert_eq!((f.queue_drops, f.retransmissions, f.timeouts), (75, 150, 1));
    // 9200 and 9002 segments, from a start up to 100 ms later.
    assert!(f.packets_sent.abs_diff(9200) < 16, "{}", f.packets_sent);
    assert!(
        (f.delivered.get() / 1500).abs_diff(9002) < 16,
        "{:?}",
        f.delivered
    );
}
