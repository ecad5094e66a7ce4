//! A row of a comparison as a file gives the same outcome.

use super::{Comparison, Orbit, Pep, Traffic};
use bentpipe_orbit::Site;
use bentpipe_outcome::Outcome;
use bentpipe_sim::Options;
use bentpipe_units::{Bytes, Duration, Rate};

/// What users see, and what it cost.
fn seen(outcome: &Outcome) -> Vec<(String, Option<Duration>, Bytes, u64, u64)> {
    let users = outcome
        .flows
        .iter()
        .filter(|flow| flow.name.starts_with("user"));
    users
        .map(|flow| {
            (
                flow.name.clone(),
                flow.transfer_time,
                flow.delivered,
                flow.packets_sent,
                flow.retransmissions,
            )
        })
        .collect()
}

/// Writes a run of each row as a file, and runs that.
fn holds(question: &Comparison) {
    let answer = question.run().unwrap();
    for row in &answer.rows {
        let seed = row.cells[0].runs[0].seed;
        let scenario = answer.standalone(row, 0, seed).unwrap();
        let text = scenario
            .to_toml()
            .unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let read = crate::parse(&text).unwrap();
        let options = Options {
            seed,
            ..Options::default()
        };
        let again = answer.replay(row, 0, &options).unwrap();
        let of_file = Options {
            seed: read.seed,
            ..Options::default()
        };
        let ran = bentpipe_sim::run(&read, &of_file).unwrap();
        let name = answer.row_name(row);
        assert_eq!(seen(&ran), seen(&again), "{name}");
        // What the links did as well, so that it is the same run and no similar one.
        assert_eq!(ran.ended_at, again.ended_at, "{name}");
        assert_eq!(ran.links, again.links, "{name}");
        assert_eq!(ran.crossings, again.crossings, "{name}");
    }
}

#[test]
fn a_row_behind_any_proxy_is_a_file() {
    let question = Comparison::new().rate(Rate::from_mbps(5)).runs(1);
    holds(
        &question
            .size(Bytes::new(200_000))
            .users(3)
            .peps([Pep::None, Pep::Split, Pep::Snoop, Pep::Gateway])
            .loss("3% in bursts of 4 packets".parse::<super::Loss>().unwrap()),
    );
}

#[test]
fn a_row_behind_several_terminals_is_a_file() {
    let question = Comparison::new().rate(Rate::from_mbps(5)).runs(1).users(5);
    let question = question.terminals(2).traffic(Traffic::Mixed);
    holds(
        &question
            .size(Bytes::new(200_000))
            .transports(["cubic"])
            .peps([Pep::None, Pep::Split, Pep::Snoop, Pep::Gateway])
            .background("10%".parse().unwrap()),
    );
}

#[test]
fn a_row_of_any_traffic_is_a_file() {
    let mixed = Comparison::new().traffic(Traffic::Mixed).users(3).runs(1);
    let mixed = mixed.size(Bytes::new(300_000));
    holds(&mixed.transports(["cubic", "bbr + IW 32"]).beside("hybla"));
    let ideas = Comparison::new().hosts(super::Hosts::Rfc).runs(1);
    holds(&ideas.size(Bytes::new(100_000)));
}

#[test]
fn a_row_over_satellites_that_move_is_a_file() {
    let site = |name: &str| name.parse::<Site>().unwrap();
    let orbit = Orbit::new("iridium", site("Anchorage"), site("Oslo"));
    let question = Comparison::new().orbit(orbit).size(Bytes::new(100_000));
    let question = question.transports(["cubic", "hybla"]).runs(1);
    holds(&question);
    holds(&question.terminals(3));
}

#[test]
fn a_row_beside_other_traffic_is_a_file() {
    let background: super::Background = "30% in bursts".parse().unwrap();
    let question = Comparison::new().background(background).runs(2).users(2);
    let question = question.size(Bytes::new(300_000));
    holds(&question.transports(["cubic", "bbr"]));
}

#[test]
fn a_row_with_jitter_is_a_file() {
    let jitter = |text: &str| text.parse::<super::Jitter>().unwrap();
    let question = Comparison::new().rate(Rate::from_mbps(5)).runs(1);
    holds(&question.clone().jitter(jitter("pareto 5 ms")));
    let held = jitter("normal 3 ms correlation 50% held 15 ms");
    holds(&question.jitter(held).users(4).terminals(2).pep(Pep::Split));
}

#[test]
fn a_row_over_slots_is_a_file() {
    let site = |name: &str| name.parse::<Site>().unwrap();
    let orbit = |name: &str| Orbit::new(name, site("Victoria, Canada"), site("Seattle"));
    let question = |name: &str| {
        let question = Comparison::new()
            .orbit(orbit(name))
            .size(Bytes::new(100_000));
        question.transports(["cubic"]).runs(2)
    };
    holds(&question("starlink"));
    holds(&question("starlink-2023"));
    // The geometry is the lower bound of the delay.
    let rtt = |name: &str| question(name).path().unwrap().profile.unwrap().rtt;
    let [near, with, without] = ["starlink", "starlink-2023", "starlink-geometry"].map(rtt);
    assert_eq!([near[0], with[0]], [without[0]; 2]);
    assert!(with[1] > near[1] && with[2] > near[2]);
}
