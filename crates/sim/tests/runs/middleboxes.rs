//! Boxes on nodes: what they do for a flow, and that nothing goes uncounted.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};

/// A LAN, a gateway, a lossy leg to the client, and `extra`.
fn leg(delay_ms: u32, loss: f64, extra: &str) -> String {
    format!(
        r#"
duration = "60 s"
[node.server]
[node.gateway]
[node.client]
[link.lan]
between = ["server", "gateway"]
rate = "10 Mbit/s"
one_way_delay = "20 ms"
queue = "1000 packets"
[link.leg]
between = ["gateway", "client"]
rate = "5 Mbit/s"
one_way_delay = "{delay_ms} ms"
queue = "50 packets"
channel = {{ kind = "uniform", packet_error_rate = {loss} }}
reverse.channel = "perfect"
[flow.download]
from = "server"
to = "client"
transport = "newreno"
application = "persistent"
{extra}
"#
    )
}

const SNOOP: &str = r#"
[middlebox.cache]
kind = "snoop"
node = "gateway"
toward = "leg"
"#;

fn outcome(text: &str) -> Outcome {
    run(&read(text), &Options::default()).unwrap()
}

#[test]
fn snoop_hides_losses_from_the_sender() {
    let without = outcome(&leg(10, 0.02, ""));
    let with = outcome(&leg(10, 0.02, SNOOP));
    let (w, o) = (&with.flows[0], &without.flows[0]);
    assert!(w.delivered.get() > 2 * o.delivered.get(), "{w:?} {o:?}");
    assert!(5 * w.reductions < o.reductions, "{w:?} {o:?}");
    let cache = &with.middleboxes[0];
    assert_eq!(
        (cache.name.as_str(), cache.kind.as_str()),
        ("cache", "snoop")
    );
    // It sends again what was lost, and little else.
    let lost = w.channel_losses;
    assert!(
        cache.local_retransmissions >= lost * 9 / 10,
        "{cache:?} {lost}"
    );
    assert!(
        cache.local_retransmissions <= lost * 5 / 4,
        "{cache:?} {lost}"
    );
    assert!(cache.suppressed_acks > lost, "{cache:?}");
    assert!(without.middleboxes.is_empty());
}

#[test]
fn a_box_that_has_nothing_to_do_changes_nothing() {
    // Too short to fill the queue.
    let short = |extra: &str| {
        let file = "{ kind = \"transfer\", size = \"100 kB\" }";
        outcome(&leg(10, 0.0, extra).replace("\"persistent\"", file))
    };
    let (with, without) = (short(SNOOP), short(""));
    assert!(with.middleboxes[0].cached_packets > 0);
    assert_eq!(with.flows, without.flows);
    assert_eq!(with.links, without.links);
    assert_eq!(with.crossings, without.crossings);
    // From the other end of the leg it sees ACKs go toward the gateway.
    let far = SNOOP.replace("gateway", "client");
    let with = outcome(&leg(10, 0.01, &far));
    assert_eq!(with.middleboxes[0].seen_packets, 0, "flows end there");
}

#[test]
fn what_a_box_puts_in_and_takes_out_is_counted() {
    let text = leg(10, 0.02, SNOOP);
    let with = outcome(&text);
    let cache = &with.middleboxes[0];
    let crossing = |link: usize| {
        let found = with.crossings.iter().find(|c| c.link == link);
        found.unwrap().counts()
    };
    for (link, counts) in (0..4).map(|l| (l, crossing(l))) {
        let l = &with.links[link];
        assert_eq!(counts.offered_packets, l.offered_packets, "{}", l.name);
        assert_eq!(counts.delivered_packets, l.delivered_packets, "{}", l.name);
        assert_eq!(counts.channel_losses, l.channel_losses, "{}", l.name);
        assert_eq!(counts.delivered, l.delivered_bytes, "{}", l.name);
    }
    let own = crossing(2).offered_packets - crossing(0).delivered_packets;
    assert_eq!(own, cache.local_retransmissions);
    let gone = crossing(3).delivered_packets - crossing(1).offered_packets;
    assert_eq!(gone, cache.suppressed_acks);
}

#[test]
fn the_same_seed_gives_the_same_run_with_boxes() {
    let text = leg(250, 0.01, SNOOP);
    let again = || outcome(&text);
    assert_eq!(again(), again());
    let quirks = SNOOP.to_owned() + "variant = \"ns-2\"\n";
    assert_ne!(again(), outcome(&leg(250, 0.01, &quirks)));
}

#[test]
fn a_box_serves_all_flows_of_a_star() {
    let text = r#"
duration = "20 s"
[node.server]
[node.gateway]
[node.client]
count = 3
[link.lan]
between = ["server", "gateway"]
rate = "10 Mbit/s"
one_way_delay = "20 ms"
[link.leg]
between = ["client", "gateway"]
rate = "2 Mbit/s"
one_way_delay = "10 ms"
channel = "perfect"
reverse.channel = { kind = "uniform", packet_error_rate = 0.02 }
[flow.download]
from = "server"
to = "client"
transport = "newreno"
application = "persistent"
[middlebox.cache]
kind = "snoop"
node = "gateway"
toward = "leg"
"#;
    let outcome = outcome(text);
    assert_eq!(outcome.flows.len(), 3);
    for flow in &outcome.flows {
        assert!(flow.delivered.get() > 3_000_000, "{flow:?}");
    }
    let lost: u64 = outcome.flows.iter().map(|f| f.channel_losses).sum();
    assert!(outcome.middleboxes[0].local_retransmissions >= lost * 9 / 10);
}

const SPOOF: &str = r#"
[middlebox.proxy]
kind = "spoof"
node = "gateway"
toward = "leg"
"#;

#[test]
fn a_spoofing_proxy_takes_the_leg_out_of_the_senders_loop() {
    // With 250 ms on the leg a lossy 2% cost an end-to-end sender nearly all.
    let without = outcome(&leg(250, 0.02, ""));
    let snoop = outcome(&leg(250, 0.02, SNOOP));
    let spoof = outcome(&leg(250, 0.02, SPOOF));
    let got = |o: &Outcome| o.flows[0].delivered.get();
    assert!(got(&snoop) > 2 * got(&without));
    assert!(got(&spoof) > 2 * got(&without));
    // The sender's RTT is that of the LAN and of its queue.
    assert!(spoof.flows[0].min_rtt.unwrap().as_secs() < 0.05);
    let proxy = &spoof.middleboxes[0];
    assert_eq!(proxy.kind, "spoof");
    assert!(proxy.own_acks >= proxy.cached_packets);
    // Nothing but its own ACKs reaches the sender.
    let crossing = |link: usize| {
        spoof
            .crossings
            .iter()
            .find(|c| c.link == link)
            .unwrap()
            .counts()
    };
    let passed = crossing(1).offered_packets - proxy.own_acks;
    assert!(passed <= 1, "the SYN-ACK: {passed}");
}

#[test]
fn a_transfer_over_a_spoofing_proxy_is_over_when_it_has_arrived() {
    let file = "{ kind = \"transfer\", size = \"2 MB\" }";
    let text = |cache: u32| {
        leg(250, 0.02, &format!("{SPOOF}cache = {cache}\n")).replace("\"persistent\"", file)
    };
    for cache in [20, 1000] {
        let outcome = outcome(&text(cache));
        let flow = &outcome.flows[0];
        // Its time ends when the receiver has it all, as over a split PEP.
        let completed = flow.started_at + flow.transfer_time.unwrap();
        assert_eq!(flow.delivered.get(), 2_000_000, "cache {cache}");
        assert_eq!(flow.last_delivery_at, Some(completed));
    }
    // A small cache holds the sender back: 20 packets a round trip of the leg.
    let slow = outcome(&text(20)).flows[0].transfer_time.unwrap().as_secs();
    let bound = (2e6 / 1448.0 - 20.0) / 20.0 * 0.5;
    assert!(slow > bound, "{slow} s, at least {bound} s");
}

/// Files over a leg whose way back is 500 times slower.
fn asymmetric(queue: &str) -> Outcome {
    let text = leg(50, 0.0, "").replace(
        "reverse.channel = \"perfect\"",
        &format!("reverse.rate = \"20 kbit/s\"\nreverse.queue = {queue}"),
    );
    outcome(&text.replace("rate = \"5 Mbit/s\"", "rate = \"10 Mbit/s\""))
}

#[test]
fn an_ack_filter_keeps_the_way_back_short() {
    let plain = asymmetric("\"50 packets\"");
    let filtered = asymmetric("{ kind = \"ack-filter\", limit = \"50 packets\" }");
    let (p, f) = (&plain.links[3], &filtered.links[3]);
    assert!(p.mean_queue_packets > 40.0, "{p:?}");
    // One ACK waits while another one is sent; in recovery SACK blocks stay.
    assert!(f.mean_queue_packets < 12.0, "{f:?}");
    assert!(f.early_drops * 10 > f.queue_drops * 9, "{f:?}");
    assert_eq!(p.early_drops, 0);
    let rtt = |o: &Outcome| o.flows[0].mean_rtt.unwrap().as_secs();
    assert!(
        rtt(&filtered) + 0.5 < rtt(&plain),
        "{} {}",
        rtt(&filtered),
        rtt(&plain)
    );
    assert!(filtered.flows[0].delivered >= plain.flows[0].delivered);
    // Every ACK is somewhere.
    let crossing = filtered
        .crossings
        .iter()
        .find(|c| c.link == 3)
        .unwrap()
        .counts();
    assert_eq!(crossing.offered_packets, f.offered_packets);
    assert_eq!(crossing.delivered_packets, f.delivered_packets);
    assert_eq!(crossing.queue_drops, f.queue_drops);
}
