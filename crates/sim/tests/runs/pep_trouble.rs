//! PEPs under IPsec, PEPs that look for each other, that fail, and that confirm.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};

/// A server, a gateway, a terminal and a client; a lossy link between the middle
/// two.
fn scenario(loss: f64, flow: &str, boxes: &str) -> String {
    format!(
        r#"
duration = "200 s"
[node.server]
[node.gateway]
[node.terminal]
[node.client]
[link.internet]
between = ["server", "gateway"]
rate = "50 Mbit/s"
one_way_delay = "10 ms"
[link.satellite]
between = ["gateway", "terminal"]
rate = "4 Mbit/s"
one_way_delay = "40 ms"
queue = "60 packets"
channel = {{ kind = "uniform", packet_error_rate = {loss} }}
reverse.channel = "perfect"
[link.home]
between = ["terminal", "client"]
rate = "50 Mbit/s"
one_way_delay = "1 ms"
[flow.download]
from = "server"
to = "client"
transport = "newreno"
{flow}
{boxes}
"#
    )
}

fn outcome(text: &str) -> Outcome {
    run(&read(text), &Options::default()).unwrap()
}

const FILE: &str = "application = { kind = \"transfer\", size = \"4 MB\" }";

const SNOOP: &str =
    "[middlebox.snoop]\nkind = \"snoop\"\nnode = \"gateway\"\ntoward = \"satellite\"";

fn split(node: &str, keys: &str) -> String {
    format!("[middlebox.{node}]\nkind = \"split\"\nnode = \"{node}\"\n{keys}\n")
}

#[test]
fn snoop_repairs_a_protected_flow_only_if_it_can_identify_it() {
    let run = |ipsec: &str, snoop: &str| {
        let flow = format!("application = \"persistent\"\n{ipsec}");
        let o = outcome(&scenario(0.02, &flow, snoop).replace("200 s", "60 s"));
        let repaired = o.middleboxes.first().map_or(0, |m| m.local_retransmissions);
        (o.flows[0].delivered.get(), repaired)
    };
    let (alone, _) = run("ipsec = {}", "");
    let (passed, nothing) = run("ipsec = {}", SNOOP);
    assert_eq!((passed, nothing), (alone, 0), "end to end, without help");
    let table = format!("{SNOOP}\nidentifies_ipsec = true");
    let (helped, repaired) = run("ipsec = {}", &table);
    assert!(helped > 2 * alone && repaired > 100, "{helped} {alone}");
    let (plain, _) = run("", SNOOP);
    // The overhead: 1394 of 1448 bytes a packet.
    let share = helped as f64 / plain as f64;
    assert!((0.9..1.0).contains(&share), "{share}");
}

#[test]
fn what_cannot_forge_leaves_a_protected_flow_alone() {
    for kind in ["spoof", "ack-reconstruction"] {
        let boxes = SNOOP.replace("\"snoop\"", &format!("\"{kind}\""));
        let o = outcome(&scenario(0.01, &format!("{FILE}\nipsec = {{}}"), &boxes));
        let m = &o.middleboxes[0];
        assert_eq!((m.own_acks, m.suppressed_acks), (0, 0), "{kind}");
        assert!(m.seen_packets > 1000 && o.flows[0].transfer_time.is_some());
    }
    let o = outcome(&scenario(
        0.01,
        &format!("{FILE}\nipsec = {{}}"),
        &split("gateway", ""),
    ));
    assert!(o.legs.is_empty() && o.flows[0].transfer_time.is_some());
}

#[test]
fn packets_under_ipsec_grow_and_their_mss_shrinks() {
    let packets = |ipsec: &str| {
        let o = outcome(
            &scenario(0.0, &format!("{FILE}\n{ipsec}"), "").replace("60 packets", "4000 packets"),
        );
        let link = |name: &str| o.links.iter().find(|l| l.name == name).cloned().unwrap();
        let (forth, back) = (link("home"), link("home.reverse"));
        let mean =
            |l: &bentpipe_outcome::LinkOutcome| l.delivered_bytes.get() / l.delivered_packets;
        (o.flows[0].packets_sent, mean(&forth), mean(&back))
    };
    let plain = packets("");
    let tunnel = packets("ipsec = { mode = \"tunnel\" }");
    let transport = packets("ipsec = { mode = \"transport\" }");
    assert_eq!((plain.0, transport.0, tunnel.0), (2763, 2829, 2870));
    assert!(plain.1 > 1495 && tunnel.1 > 1495 && transport.1 > 1495);
    // ACKs of 52 bytes, and a SYN.
    assert_eq!((plain.2, transport.2, tunnel.2), (52, 88, 108));
}

#[test]
fn peps_that_look_for_each_other_split_together_or_not_at_all() {
    let keys = "discovery = \"syn-option\"\nalone = \"end-to-end\"";
    let legs = |boxes: &str| outcome(&scenario(0.001, FILE, boxes)).legs.len();
    let two = split("gateway", keys) + &split("terminal", keys);
    assert_eq!(legs(&two), 3);
    assert_eq!(legs(&split("gateway", keys)), 0);
    let integrated = split("gateway", "discovery = \"syn-option\"");
    assert_eq!(legs(&integrated), 2);
    // One that does not answer is no peer.
    let deaf = split("gateway", keys) + &split("terminal", "");
    assert_eq!(legs(&deaf), 2);
    // The data waits for the second connection either way. When the SYN is answered
    // late, it then has to come from the server still: a round trip of 20 ms.
    let time = |boxes: &str| {
        outcome(&scenario(0.0, FILE, boxes)).flows[0]
            .transfer_time
            .unwrap()
    };
    let late = time(&integrated) - time(&split("gateway", ""));
    assert!((18..25).contains(&(late.as_micros() / 1000)), "{late}");
}

#[test]
fn a_connection_goes_on_past_a_pep_that_fails() {
    let fails = |keys: &str| {
        let keys = format!("buffer = \"200 kB\"\nfails_at = \"4 s\"\n{keys}");
        outcome(&scenario(0.0, FILE, &split("gateway", &keys)))
    };
    let whole = outcome(&scenario(
        0.0,
        FILE,
        &split("gateway", "buffer = \"200 kB\""),
    ));
    let whole_time = whole.flows[0].transfer_time.unwrap();
    let reset = fails("");
    assert_eq!(reset.legs.len(), 3, "two, and the one past the PEP");
    let [first, second, past] = &reset.legs[..] else {
        panic!()
    };
    // What the PEP had acknowledged and not delivered is lost, and sent again.
    let lost = first.acknowledged.get() - second.delivered.get();
    assert!(lost > 50_000, "{lost}");
    assert_eq!(second.delivered.get() + past.delivered.get(), 4_000_000);
    assert_eq!(reset.flows[0].delivered.get(), 4_000_000);
    let time = reset.flows[0].transfer_time.unwrap();
    assert!(
        time > whole_time && time < whole_time * 2,
        "{time} {whole_time}"
    );
    // Silence lasts until the host gives up.
    let silent = fails("failure = \"silence\"\ngives_up = \"30 s\"");
    let late = silent.flows[0].transfer_time.unwrap() - time;
    assert!((28..32).contains(&(late.as_micros() / 1_000_000)), "{late}");
    assert!(
        silent.legs[0].timeouts > 2,
        "the server retransmits meanwhile"
    );
    assert_eq!(silent.flows[0].delivered.get(), 4_000_000);
}

#[test]
fn flows_that_begin_during_a_failure_pass_the_pep() {
    let keys = "fails_at = \"10 s\"\nrecovers_at = \"30 s\"";
    let flow = format!("{FILE}\ncount = 3\nspacing = \"20 s\"\nstart = \"0 s\"");
    // At 0, 20 and 40 s; the first is over when the PEP fails.
    let o = outcome(&scenario(
        0.0,
        &flow.replace("4 MB", "1 MB"),
        &split("gateway", keys),
    ));
    let of: Vec<usize> = o.legs.iter().map(|leg| leg.flow).collect();
    assert_eq!(of, [0, 0, 2, 2]);
    assert!(o.flows.iter().all(|f| f.transfer_time.is_some()));
}

#[test]
fn hosts_confirm_above_the_legs() {
    let keys = "transport = \"stp\"";
    let two = |keys: &str| split("gateway", keys) + &split("terminal", "");
    let without = outcome(&scenario(0.0, FILE, &two(keys)));
    let with = outcome(&scenario(
        0.0,
        FILE,
        &two(&format!("{keys}\nconfirms = \"64 kB\"")),
    ));
    let time = |o: &Outcome| o.flows[0].transfer_time.unwrap();
    // The way back takes 51 ms; and what answers the polls of the way back shares
    // the queue of the way forth.
    let longer = time(&with) - time(&without);
    assert!(
        (45..1000).contains(&(longer.as_micros() / 1000)),
        "{longer}"
    );
    assert_eq!(with.legs[1].timeouts, 0, "STP has none");
    assert_eq!(with.flows[0].delivered.get(), 4_000_000);
}
