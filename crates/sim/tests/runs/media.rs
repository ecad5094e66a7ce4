//! Shared media in whole runs.

use crate::text::read;
use bentpipe_scenario::Scenario;
use bentpipe_sim::{Options, run};
use bentpipe_units::Time;

/// Four terminals on an uplink with this rule, datagrams up and a file down.
fn scenario(rule: &str) -> Scenario {
    read(&format!(
        r#"
duration = "40 s"
[node.hub]
[node.vsat]
count = 4
[medium.uplink]
rate = "1 Mbit/s"
one_way_delay = "250 ms"
{rule}
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "20 packets"
channel = {{ kind = "uniform", packet_error_rate = "2%" }}
[link.up.reverse]
rate = "4 Mbit/s"
channel = "perfect"
[flow.datagrams]
from = "vsat"
to = "hub"
application = {{ kind = "on-off", rate = "400 kbit/s", packet_size = "500 B", on = {{ kind = "exponential", mean = "100 ms" }}, off = {{ kind = "exponential", mean = "2 s" }} }}
[flow.file]
from = "hub"
to = "vsat[2]"
transport = "sack"
application = {{ kind = "transfer", size = "200 kB" }}
"#
    ))
}

const FRAME: &str = "frame = \"24 ms\"\nslots = 12\n";

fn rules() -> [String; 5] {
    [
        format!("kind = \"tdma\"\n{FRAME}"),
        format!("kind = \"dama\"\n{FRAME}"),
        format!("kind = \"cf-dama\"\n{FRAME}"),
        "kind = \"aloha\"".to_string(),
        "kind = \"slotted-aloha\"\nslot = \"4 ms\"".to_string(),
    ]
}

#[test]
fn a_code_of_rate_one_half_halves_what_a_terminal_gets() {
    for rule in &rules()[..3] {
        let delivered = |coding: &str| {
            let text = format!(
                r#"
duration = "60 s"
[node.hub]
[node.vsat]
[medium.uplink]
rate = "1 Mbit/s"
one_way_delay = "250 ms"
{rule}
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "20 packets"
{coding}
[link.up.reverse]
rate = "4 Mbit/s"
coding = "none"
[flow.datagrams]
from = "vsat"
to = "hub"
application = {{ kind = "constant-rate", rate = "2 Mbit/s", packet_size = "500 B" }}
"#
            );
            let outcome = run(&read(&text), &Options::default()).unwrap();
            outcome.flows[0].delivered.get() as f64
        };
        let half = "coding = { kind = \"given\", code_rate = 0.5, bit_error_rate = 0.0 }";
        let share = delivered(half) / delivered("");
        assert!((share - 0.5).abs() < 0.02, "{rule}: {share}");
    }
}

#[test]
fn packets_are_conserved_at_every_mark() {
    for rule in rules() {
        let scenario = scenario(&rule);
        let second = |s: u64| Time::from_nanos(s * 1_000_000_000);
        let marks: Vec<Time> = [3, 7, 11, 23].into_iter().map(second).collect();
        let marked = Options {
            checkpoints: marks,
            ..Options::default()
        };
        let outcome = run(&scenario, &marked).unwrap();
        for (i, flow) in outcome.flows.iter().enumerate().take(4) {
            // What was sent was lost, arrived, or is under way.
            let up = &outcome.links[2 * i];
            assert!(
                up.delivered_packets + up.queue_drops + up.channel_losses <= up.offered_packets
            );
            assert!(up.delivered_packets > 0, "{rule}");
            assert!(flow.channel_losses <= up.channel_losses, "{rule}");
            let (lost, sent) = (flow.queue_drops + flow.channel_losses, flow.packets_sent);
            let arrived = flow.delivered.get() / 472;
            assert!(
                arrived + lost <= sent && arrived + lost + 60 >= sent,
                "{rule}: {flow:?}"
            );
        }
        let file = outcome.flow("file").unwrap();
        // With ALOHA each acknowledgement waits for the one before to be heard.
        let ends = file.transfer_time.is_some() || rule.contains("aloha");
        assert!(ends && file.delivered.get() > 0, "{rule}: {file:?}");
        // Looking at the counts on the way changes nothing.
        let plain = run(&scenario, &Options::default()).unwrap();
        assert_eq!(plain.flows, outcome.flows, "{rule}");
        assert_eq!(plain.links, outcome.links, "{rule}");
    }
}

#[test]
fn every_rule_leaves_its_traces() {
    let sums = |rule: &str| {
        let outcome = run(&scenario(rule), &Options::default()).unwrap();
        let sum = |of: fn(&bentpipe_outcome::LinkOutcome) -> u64| -> u64 {
            outcome.links.iter().map(of).sum()
        };
        (
            sum(|l| l.collisions),
            sum(|l| l.requests),
            sum(|l| l.free_slots),
            sum(|l| l.demand_slots),
        )
    };
    let [tdma, dama, cf_dama, aloha, slotted] = rules().map(|rule| sums(&rule));
    assert!(
        tdma.2 > 0 && (tdma.0, tdma.1, tdma.3) == (0, 0, 0),
        "{tdma:?}"
    );
    assert!(dama.0 == 0 && dama.1 > 0 && dama.3 > 0, "{dama:?}");
    assert!(
        cf_dama.0 == 0 && cf_dama.1 > 0 && cf_dama.2 > 0 && cf_dama.3 > 0,
        "{cf_dama:?}"
    );
    for aloha in [aloha, slotted] {
        assert!(
            aloha.0 > 0 && (aloha.1, aloha.2, aloha.3) == (0, 0, 0),
            "{aloha:?}"
        );
    }
}

#[test]
fn a_quiet_medium_costs_no_events() {
    // One packet each at the start, then nothing for an hour.
    let text = r#"
duration = "1 h"
[node.hub]
[node.vsat]
count = 4
[medium.uplink]
kind = "cf-dama"
rate = "1 Mbit/s"
one_way_delay = "250 ms"
frame = "24 ms"
slots = 12
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
[flow.datagrams]
from = "vsat"
to = "hub"
application = { kind = "on-off", rate = "4 Mbit/s", packet_size = "500 B", on = "1 ms", off = "59 min" }
"#;
    let outcome = run(&read(text), &Options::default()).unwrap();
    assert!(outcome.events < 2000, "{} events", outcome.events);
    assert!(outcome.links[0].delivered_packets >= 1);
}

/// A file from one terminal to the hub over its own uplink, with a channel that
/// loses one packet in a hundred.
fn upload(transport: &str, queue: &str) -> Scenario {
    read(&format!(
        r#"
duration = "600 s"
[node.hub]
[node.vsat]
[medium.uplink]
kind = "tdma"
rate = "2 Mbit/s"
one_way_delay = "250 ms"
frame = "24 ms"
slots = 4
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "{queue}"
channel = {{ kind = "uniform", packet_error_rate = "1%" }}
[link.up.reverse]
rate = "2 Mbit/s"
channel = "perfect"
[flow.file]
from = "vsat"
to = "hub"
transport = "{transport}"
application = {{ kind = "transfer", size = "5 MB" }}
"#
    ))
}

#[test]
fn dvegas_hears_the_queue_and_does_not_mind_losses() {
    let run = |transport: &str| run(&upload(transport, "100 packets"), &Options::default());
    let (vegas, dvegas) = (run("vegas").unwrap(), run("dvegas").unwrap());
    let time = |o: &bentpipe_outcome::Outcome| o.flows[0].transfer_time.unwrap().as_secs();
    assert!(
        time(&dvegas) < time(&vegas),
        "{} {}",
        time(&dvegas),
        time(&vegas)
    );
    // The reports keep it out of the full queue: what is lost, the channel lost.
    let up = &dvegas.links[0];
    assert!(up.channel_losses > 10, "{up:?}");
    assert_eq!(up.queue_drops, 0, "{up:?}");
}

#[test]
fn a_pep_on_the_terminal_hears_its_queue() {
    // The same uplink, with a sender behind the terminal and a PEP on it.
    let behind = |transport: &str| {
        let text = format!(
            r#"
duration = "600 s"
[node.host]
[node.vsat]
[node.hub]
[medium.uplink]
kind = "tdma"
rate = "2 Mbit/s"
one_way_delay = "250 ms"
frame = "24 ms"
slots = 4
[link.lan]
between = ["host", "vsat"]
rate = "100 Mbit/s"
one_way_delay = "1 ms"
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "100 packets"
channel = {{ kind = "uniform", packet_error_rate = "1%" }}
[link.up.reverse]
rate = "2 Mbit/s"
channel = "perfect"
[middlebox.pep]
kind = "split"
node = "vsat"
toward = "up"
transport = "{transport}"
buffer = "1 MB"
[flow.file]
from = "host"
to = "hub"
transport = "sack"
application = {{ kind = "transfer", size = "5 MB" }}
"#
        );
        run(&read(&text), &Options::default()).unwrap()
    };
    let dvegas = behind("dvegas");
    let up = dvegas.links.iter().find(|l| l.name == "up").unwrap();
    assert!(up.channel_losses > 10, "{up:?}");
    assert_eq!(up.queue_drops, 0, "{up:?}");
    let time = |o: &bentpipe_outcome::Outcome| o.flows[0].transfer_time.unwrap();
    assert!(time(&dvegas) < time(&behind("vegas")));
}

#[test]
fn a_middlebox_at_the_hub_sees_what_comes_from_terminals() {
    let scenario = read(
        r#"
duration = "60 s"
[node.server]
[node.hub]
[node.vsat]
count = 2
[medium.uplink]
kind = "tdma"
frame = "24 ms"
slots = 12
rate = "1 Mbit/s"
one_way_delay = "250 ms"
[link.up]
between = ["vsat", "hub"]
medium = "uplink"
queue = "20 packets"
channel = "perfect"
[link.up.reverse]
rate = "4 Mbit/s"
channel = "perfect"
[link.wire]
between = ["server", "hub"]
rate = "10 Mbit/s"
one_way_delay = "1 ms"
[flow.file]
from = "server"
to = "vsat[2]"
transport = "sack"
application = { kind = "transfer", size = "50 kB" }
[middlebox.cache]
kind = "snoop"
node = "hub"
toward = "up"
"#,
    );
    let outcome = run(&scenario, &Options::default()).unwrap();
    let (file, snoop) = (&outcome.flows[0], &outcome.middleboxes[0]);
    // Each data packet on its way out, and the acknowledgements on theirs back.
    assert!(
        snoop.seen_packets >= file.packets_sent + file.acks_received,
        "{snoop:?} {file:?}"
    );
}
