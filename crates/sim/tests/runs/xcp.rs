//! XCP over satellite links, held against ns-2 (`fidelity/xcp`).

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use bentpipe_units::{Duration, Time};
use std::fmt::Write as _;

const RESULTS: &str = include_str!("../../../../fidelity/xcp/ns-2.csv");
const CURVES: &str = include_str!("../../../../fidelity/xcp/ns-2-cwnd.csv");

/// Rate of the bottleneck, bytes a second.
const RATE: f64 = 1.25e6;

/// Round trips in milliseconds and starts in seconds, packet error rate and
/// duration, as in `fidelity/xcp/cells.toml`.
struct Cell {
    name: &'static str,
    flows: &'static [(u64, u64)],
    per: f64,
    duration: u64,
}

const CELLS: [Cell; 7] = [
    cell("geo", &[(600, 0)], 0.0, 200),
    cell("medium", &[(100, 0)], 0.0, 200),
    cell(
        "staggered",
        &[(600, 0), (600, 20), (600, 40), (600, 60)],
        0.0,
        300,
    ),
    cell(
        "ten",
        &[
            (600, 0),
            (600, 1),
            (600, 2),
            (600, 3),
            (600, 4),
            (600, 5),
            (600, 6),
            (600, 7),
            (600, 8),
            (600, 9),
        ],
        0.0,
        300,
    ),
    cell(
        "two-rtts",
        &[(600, 0), (600, 1), (100, 2), (100, 3)],
        0.0,
        300,
    ),
    cell("geo-loss", &[(600, 0)], 0.01, 300),
    cell(
        "staggered-loss",
        &[(600, 0), (600, 20), (600, 40), (600, 60)],
        0.01,
        300,
    ),
];

const fn cell(name: &'static str, flows: &'static [(u64, u64)], per: f64, duration: u64) -> Cell {
    Cell {
        name,
        flows,
        per,
        duration,
    }
}

/// ns-2's own sender, or the one of today.
const NS2: &str = "base = \"xcp\"\nprofile = \"ns-2\"\nrecovery = \"reno\"\ntimestamps = true\n\
                   mss = \"1428 B\"\nsend_buffer = \"14.28 MB\"\nreceive_buffer = \"14.28 MB\"\n";
const RFC: &str = "base = \"xcp\"\n";
const P_XCP: &str = "base = \"p-xcp\"\n";

impl Cell {
    fn of(name: &str) -> &'static Cell {
        CELLS.iter().find(|c| c.name == name).unwrap()
    }

    /// The network of `fidelity/xcp/network.tcl`.
    fn text(&self, transport: &str) -> String {
        let mut text = format!(
            "duration = \"{} s\"\n[node.r0]\n[node.r1]\n[link.bottleneck]\n\
             between = [\"r0\", \"r1\"]\nrate = \"10 Mbit/s\"\none_way_delay = \"10 ms\"\n\
             queue = {{ kind = \"xcp\", limit = \"500 packets\" }}\n[transport.t]\n{transport}",
            self.duration
        );
        for (i, (rtt, start)) in self.flows.iter().enumerate() {
            let leg = rtt / 2 - 10;
            let channel = if self.per > 0.0 {
                format!("{{ kind = \"uniform\", packet_error_rate = {} }}", self.per)
            } else {
                "\"perfect\"".to_owned()
            };
            write!(
                text,
                "[node.s{i}]\n[node.d{i}]\n[link.leg{i}]\nbetween = [\"s{i}\", \"r0\"]\n\
                 rate = \"100 Mbit/s\"\none_way_delay = \"{leg} ms\"\nqueue = \"100000 packets\"\n\
                 channel = {channel}\n[link.leg{i}.reverse]\nqueue = \"100000 packets\"\n\
                 channel = \"perfect\"\n[link.lan{i}]\n\
                 between = [\"r1\", \"d{i}\"]\nrate = \"100 Mbit/s\"\none_way_delay = \"0 ms\"\n\
                 queue = \"100000 packets\"\n[flow.f{i}]\nfrom = \"s{i}\"\nto = \"d{i}\"\n\
                 transport = \"t\"\napplication = \"persistent\"\nstart = \"{start} s\"\n"
            )
            .unwrap();
        }
        text
    }

    fn run(&self, transport: &str, seed: u64) -> Outcome {
        let at = |s: u64| Time::ZERO + Duration::from_secs(s);
        let end = self.duration;
        let options = Options {
            seed,
            checkpoints: vec![at(end / 2), at(end - end / 3)],
            series: Some(Duration::from_millis(500)),
            ..Options::default()
        };
        run(&read(&self.text(transport)), &options).unwrap()
    }

    /// As `measure.py` takes them.
    fn measures(&self, outcome: &Outcome) -> Measures {
        let end: Vec<f64> = outcome
            .flows
            .iter()
            .map(|f| f.acknowledged.as_f64())
            .collect();
        let mark = |i: usize| -> Vec<f64> {
            let flows = outcome.checkpoints[i].flows.iter();
            flows.map(|f| f.delivered.as_f64()).collect()
        };
        let (half, third) = (mark(0), mark(1));
        let sum = |v: &[f64]| v.iter().sum::<f64>();
        let seconds = self.duration as f64;
        let gained: Vec<f64> = end.iter().zip(&third).map(|(a, b)| a - b).collect();
        let squares = gained.iter().map(|x| x * x).sum::<f64>();
        Measures {
            share: sum(&end) / (RATE * seconds),
            last_half: (sum(&end) - sum(&half)) / (RATE * seconds / 2.0),
            jain: sum(&gained) * sum(&gained) / (gained.len() as f64 * squares),
            drops: outcome.links.iter().map(|l| l.queue_drops).sum::<u64>() as f64,
        }
    }

    fn mean(&self, transport: &str, runs: u64) -> Measures {
        let all: Vec<Measures> = (1..=runs)
            .map(|seed| self.measures(&self.run(transport, seed)))
            .collect();
        let mean = |f: fn(&Measures) -> f64| all.iter().map(f).sum::<f64>() / runs as f64;
        Measures {
            share: mean(|m| m.share),
            last_half: mean(|m| m.last_half),
            jain: mean(|m| m.jain),
            drops: mean(|m| m.drops),
        }
    }

    fn of_ns2(&self) -> Measures {
        let line = RESULTS
            .lines()
            .find(|l| l.split(',').next() == Some(self.name))
            .unwrap();
        let mut numbers = line.split(',').skip(2).map(|x| x.parse().unwrap());
        let mut next = || numbers.next().unwrap();
        Measures {
            share: next(),
            last_half: next(),
            jain: next(),
            drops: next(),
        }
    }
}

/// Payload over the bottleneck's rate, in the whole run and its last half;
/// Jain's index of the last third; packets dropped.
#[derive(Clone, Copy, Debug)]
struct Measures {
    share: f64,
    last_half: f64,
    jain: f64,
    drops: f64,
}

#[test]
fn one_flow_fills_a_geostationary_link_without_a_drop() {
    for transport in [NS2, RFC] {
        let geo = Cell::of("geo");
        let found = geo.measures(&geo.run(transport, 1));
        assert!(found.share >= 0.92, "{found:?}");
        assert!(found.last_half >= 0.945, "{found:?}");
        assert_eq!(found.drops, 0.0);
    }
}

#[test]
fn flows_that_start_one_after_the_other_end_up_alike() {
    for transport in [NS2, RFC] {
        let cell = Cell::of("staggered");
        let found = cell.measures(&cell.run(transport, 1));
        assert!(found.jain >= 0.99 && found.share >= 0.92, "{found:?}");
        assert_eq!(found.drops, 0.0);
    }
}

#[test]
fn utilisation_is_that_of_ns2() {
    for cell in CELLS.iter().filter(|c| c.per == 0.0) {
        let (ours, theirs) = (cell.mean(NS2, 1), cell.of_ns2());
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.03;
        let name = cell.name;
        assert!(
            near(ours.share, theirs.share),
            "{name}: {ours:?} {theirs:?}"
        );
        assert!(
            near(ours.last_half, theirs.last_half),
            "{name}: {ours:?} {theirs:?}"
        );
        assert!(
            ours.jain > theirs.jain - 0.01,
            "{name}: {ours:?} {theirs:?}"
        );
        assert_eq!(theirs.drops, 0.0);
        assert_eq!(ours.drops, 0.0, "{name}");
    }
}
/// Losses of 1%: Reno's repair, and what its duplicate ACKs carried is lost.
#[test]
fn losses_cost_what_they_cost_ns2() {
    for cell in CELLS.iter().filter(|c| c.per > 0.0) {
        let (ours, theirs) = (cell.mean(NS2, 8), cell.of_ns2());
        let off = ours.share / theirs.share - 1.0;
        assert!(off.abs() < 0.1, "{}: {ours:?} {theirs:?}", cell.name);
    }
}

/// With SACK, feedback on every ACK, and P-XCP's window that losses leave alone.
#[test]
fn p_xcp_loses_what_the_link_loses() {
    let cell = Cell::of("geo-loss");
    let share = |transport| cell.mean(transport, 4).share;
    let (ns2, rfc, p_xcp) = (share(NS2), share(RFC), share(P_XCP));
    assert!(rfc > 2.0 * ns2 && p_xcp > 1.5 * rfc, "{ns2} {rfc} {p_xcp}");
}

/// cwnd of every flow every two seconds, here and there: within a tenth, or
/// three segments, at 98 of 100 times.
#[test]
fn windows_are_those_of_ns2() {
    for cell in CELLS.iter().filter(|c| c.per == 0.0) {
        let outcome = cell.run(NS2, 1);
        let (mut near, mut all) = (0, 0);
        for line in CURVES
            .lines()
            .filter(|l| l.split(',').next() == Some(cell.name))
        {
            let numbers: Vec<f64> = line
                .split(',')
                .skip(1)
                .map(|x| x.parse().unwrap())
                .collect();
            let at = Time::ZERO + Duration::from_secs_f64(numbers[0]);
            for (flow, theirs) in numbers[1..].iter().enumerate() {
                if numbers[0] < cell.flows[flow].1 as f64 + 2.0 {
                    continue;
                }
                let samples = &outcome.series[flow].sender;
                let before = samples.partition_point(|s| s.at <= at);
                let ours = samples[before.max(1) - 1].cwnd;
                all += 1;
                let off = (ours - theirs).abs();
                near += u32::from(off <= 3.0 || off <= 0.1 * theirs);
            }
        }
        assert!(
            f64::from(near) >= 0.98 * f64::from(all),
            "{}: {near} of {all}",
            cell.name
        );
    }
}

/// Forty flows that their buffers hold at 0.1 Mbit/s and one that could have
/// the rest: XCP goes on offering everyone the same and leaves a part unused.
#[test]
fn p_xcp_gives_one_flow_what_others_cannot_use() {
    let text = |p_xcp: bool| {
        format!(
            "duration = \"100 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
             rate = \"10 Mbit/s\"\none_way_delay = \"300 ms\"\n\
             queue = {{ kind = \"xcp\", limit = \"500 packets\", p_xcp = {p_xcp} }}\n\
             [transport.small]\nbase = \"xcp\"\nreceive_buffer = \"9 kB\"\n\
             [flow.limited]\nfrom = \"a\"\nto = \"b\"\ntransport = \"small\"\ncount = 40\n\
             application = \"persistent\"\n[flow.free]\nfrom = \"a\"\nto = \"b\"\n\
             transport = \"xcp\"\napplication = \"persistent\"\n"
        )
    };
    let free = |p_xcp| {
        let outcome = run(&read(&text(p_xcp)), &Options::default()).unwrap();
        assert_eq!(outcome.links[0].queue_drops, 0);
        outcome.flows[40].delivered.as_f64()
    };
    let (xcp, p_xcp) = (free(false), free(true));
    assert!(p_xcp > 1.1 * xcp, "{xcp} {p_xcp}");
}
