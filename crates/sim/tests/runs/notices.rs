//! Queues that notify senders backward, and marks by fuzzy logic.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};

/// Two flows over a bottleneck behind a router; the receiver is far away.
fn scenario(queue: &str, transport: &str) -> String {
    format!(
        r#"
duration = "60 s"
[node.server]
count = 2
[node.router]
[node.client]
[link.access]
between = ["server", "router"]
rate = "100 Mbit/s"
one_way_delay = "5 ms"
[link.satellite]
between = ["router", "client"]
rate = "5 Mbit/s"
one_way_delay = "250 ms"
queue = {queue}
[link.satellite.reverse]
queue = "1000 packets"
[transport.t]
base = "sack"
{transport}
[flow.download]
from = "server"
to = "client"
transport = "t"
application = "persistent"
spacing = "3 s"
"#
    )
}

fn outcome(queue: &str, transport: &str) -> Outcome {
    run(&read(&scenario(queue, transport)), &Options::default()).unwrap()
}

const BECN: &str = "{ kind = \"becn\", limit = \"400 packets\", severe = 0 }";
const FUZZY: &str = "{ kind = \"fuzzy\", limit = \"400 packets\" }";

#[test]
fn senders_react_without_the_receiver() {
    let backward = outcome(BECN, "ecn = true");
    let forward = outcome(FUZZY, "ecn = true");
    let link = |o: &Outcome| {
        o.links
            .iter()
            .find(|l| l.name == "satellite")
            .cloned()
            .unwrap()
    };
    for o in [&backward, &forward] {
        assert!(link(o).marks > 0);
        assert!(
            o.flows
                .iter()
                .all(|f| f.reductions > 0 && f.queue_drops == 0)
        );
    }
    // Half a second earlier: the first overshoot of slow start is smaller.
    let (b, f) = (link(&backward), link(&forward));
    assert!(
        b.max_queue_packets < f.max_queue_packets,
        "{} {}",
        b.max_queue_packets,
        f.max_queue_packets
    );
}

#[test]
fn a_sender_that_is_not_capable_is_dropped_and_a_modern_host_ignores_messages() {
    let dropped = outcome(BECN, "ecn = false");
    let lost: u64 = dropped.flows.iter().map(|f| f.queue_drops).sum();
    assert!(lost > 0);
    // Linux takes no notice: the queue fills.
    let linux = outcome(BECN, "ecn = true\nprofile = \"linux\"");
    let lost: u64 = linux.flows.iter().map(|f| f.queue_drops).sum();
    assert!(lost > 0, "nothing but loss holds it back");
}

#[test]
fn messages_are_packets_of_the_way_back() {
    let o = outcome(BECN, "ecn = true");
    let satellite = o.links.iter().find(|l| l.name == "satellite").unwrap();
    let access = |n: u32| {
        let name = format!("access[{n}].reverse");
        o.links
            .iter()
            .find(|l| l.name == name)
            .unwrap()
            .offered_packets
    };
    let back = o
        .links
        .iter()
        .find(|l| l.name == "satellite.reverse")
        .unwrap();
    // What enters the ways back to the servers and did not come over the
    // satellite.
    assert_eq!(
        access(1) + access(2) - back.delivered_packets,
        satellite.marks
    );
    let again = outcome(BECN, "ecn = true");
    assert_eq!(o, again);
}

#[test]
fn a_queue_at_the_senders_own_node_reaches_it_at_once() {
    let text = scenario("\"1000 packets\"", "ecn = true").replace(
        "rate = \"100 Mbit/s\"",
        "rate = \"4 Mbit/s\"\nqueue = { kind = \"becn\", limit = \"300 packets\", severe = 0 }",
    );
    let o = run(&read(&text), &Options::default()).unwrap();
    let marks: u64 = o.links.iter().map(|l| l.marks).sum();
    assert!(marks > 0);
    assert!(
        o.flows
            .iter()
            .all(|f| f.reductions > 0 && f.queue_drops == 0)
    );
}
