//! PEPs that regulate the satellite link between them by grants (PETRA): a server 20 ms before the
//! one, a client 2 ms behind the other, 6 Mbit/s and 250 ms between them.

use crate::text::read;
use bentpipe_outcome::{LinkOutcome, Outcome};
use bentpipe_sim::{Options, run};

/// What a test changes.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Packet error rate of the satellite link, in percent.
    loss: f64,
    /// Keys of the satellite link.
    link: &'static str,
    /// Rate of the link behind the second PEP.
    home: &'static str,
    /// Keys of both PEPs.
    keys: &'static str,
    transport: &'static str,
    /// Keys of the flow.
    flow: &'static str,
}

const FILE: &str = "application = { kind = \"transfer\", size = \"5 MB\" }";
const GRANTS: &str = "proxy_control = \"grants\"";

const PLAIN: Case = Case {
    loss: 0.0,
    link: "",
    home: "50 Mbit/s",
    keys: GRANTS,
    transport: "stp",
    flow: FILE,
};

impl Case {
    fn text(&self) -> String {
        let Case {
            loss,
            link,
            home,
            keys,
            transport,
            flow,
        } = self;
        format!(
            r#"
duration = "400 s"
[node.server]
[node.gateway]
[node.terminal]
[node.client]
[link.internet]
between = ["server", "gateway"]
rate = "100 Mbit/s"
one_way_delay = "20 ms"
[link.satellite]
between = ["gateway", "terminal"]
rate = "6 Mbit/s"
one_way_delay = "250 ms"
queue = "100 packets"
channel = {{ kind = "uniform", packet_error_rate = "{loss}%" }}
{link}
[link.home]
between = ["terminal", "client"]
rate = "{home}"
one_way_delay = "2 ms"
queue = "50 packets"
[middlebox.gateway]
kind = "split"
node = "gateway"
toward = "satellite"
transport = "{transport}"
{keys}
[middlebox.terminal]
kind = "split"
node = "terminal"
{keys}
[flow.download]
from = "server"
to = "client"
transport = "cubic"
{flow}
"#
        )
    }

    fn run(&self) -> Outcome {
        self.seeded(1)
    }

    fn seeded(&self, seed: u64) -> Outcome {
        let options = Options {
            seed,
            ..Options::default()
        };
        run(&read(&self.text()), &options).unwrap()
    }
}

fn seconds(outcome: &Outcome, flow: usize) -> f64 {
    let time = outcome.flows[flow].transfer_time;
    time.map_or(f64::INFINITY, |time| time.as_secs())
}

fn link<'o>(outcome: &'o Outcome, name: &str) -> &'o LinkOutcome {
    outcome.links.iter().find(|link| link.name == name).unwrap()
}

/// 3425 packets at 99% of the link, 6.92 s, after the SYNs of 0.54 s and before the last 0.25 s: the
/// link is full from the first segment on, and nothing waits before it.
#[test]
fn the_link_is_filled_and_its_queue_stays_empty() {
    for transport in ["stp", "sack"] {
        let case = Case { transport, ..PLAIN };
        let outcome = case.run();
        let least = 5e6 / 1460.0 * 1500.0 * 8.0 / (0.99 * 6e6) + 0.52 + 0.25;
        let took = seconds(&outcome, 0);
        assert!((least..least + 0.5).contains(&took), "{transport}: {took}");
        let leg = &outcome.legs[1];
        assert_eq!((leg.retransmissions, leg.timeouts), (0, 0), "{transport}");
        let satellite = link(&outcome, "satellite");
        assert!(
            satellite.max_queue_packets <= 3,
            "{transport}: {satellite:?}"
        );
        assert_eq!(leg.transport, transport);
    }
}

/// STP's own window halves at each loss; grants do not know of it. They lose what the channel takes,
/// and some time for the last repair.
#[test]
fn losses_cost_their_repair_alone() {
    let mean = |case: Case| {
        let runs: Vec<Outcome> = (1..=5).map(|seed| case.seeded(seed)).collect();
        for outcome in &runs {
            let leg = &outcome.legs[1];
            let lost = link(outcome, "satellite").channel_losses;
            if case.keys == GRANTS {
                assert!(leg.retransmissions <= lost + 5, "{leg:?} {lost}");
                assert_eq!((leg.reductions, leg.timeouts), (0, 0), "{leg:?}");
            }
        }
        runs.iter().map(|run| seconds(run, 0)).sum::<f64>() / 5.0
    };
    let lossy = Case { loss: 1.0, ..PLAIN };
    let granted = mean(lossy);
    let window = mean(Case { keys: "", ..lossy });
    assert!(granted < 7.7 * 1.01 + 1.5, "{granted}");
    assert!(granted * 10.0 < window, "{granted} {window}");
    let sack = mean(Case {
        transport: "sack",
        ..lossy
    });
    assert!(sack < 7.7 * 1.01 + 2.5, "{sack}");
}

/// A client that takes 1 Mbit/s: what the terminal holds for it stays within the backlog, as what
/// the gateway holds, and the client's link is full all the time.
#[test]
fn a_slow_last_leg_holds_the_grants_back() {
    for (transport, loss) in [("stp", 0.0), ("stp", 1.0), ("sack", 1.0)] {
        let case = Case {
            home: "1 Mbit/s",
            keys: "proxy_control = \"grants\"\nbacklog = \"200 kB\"",
            transport,
            loss,
            ..PLAIN
        };
        let outcome = case.run();
        let what = format!("{transport} {loss}: {:?}", outcome.legs);
        for leg in &outcome.legs[1..] {
            let held = leg.max_buffered + leg.max_waiting;
            assert!(held.get() <= 200_000, "{what}");
            assert!(leg.max_buffered.get() > 100_000, "{what}");
        }
        // 1 Mbit/s less headers, and what cubic loses at the client's own queue.
        let took = seconds(&outcome, 0);
        assert!((41.0..50.0).contains(&took), "{took} {what}");
        assert_eq!(link(&outcome, "satellite").queue_drops, 0, "{what}");
    }
}

/// Four downloads and one that its client hardly takes: the four share what that leaves.
#[test]
fn flows_share_the_link_by_turns() {
    let four = Case {
        flow: "application = \"persistent\"\ncount = 4\nstop = \"60 s\"",
        ..PLAIN
    };
    let outcome = four.run();
    let got = |flow: usize| outcome.flows[flow].delivered.as_f64();
    let all: f64 = (0..4).map(got).sum();
    for flow in 0..4 {
        let share = got(flow) / all;
        assert!((0.24..0.26).contains(&share), "{flow}: {share}");
    }
    let used = all * 8.0 * 1500.0 / 1460.0 / 58.5 / (0.99 * 6e6);
    assert!((0.98..1.02).contains(&used), "{used}");
    assert!(link(&outcome, "satellite").max_queue_packets <= 6);
    // One of two is held back at 1 Mbit/s by a link of its own.
    let slow = r#"
[node.slow]
[link.slow]
between = ["terminal", "slow"]
rate = "1 Mbit/s"
one_way_delay = "2 ms"
[flow.held]
from = "server"
to = "slow"
transport = "cubic"
stop = "60 s"
application = "persistent"
"#;
    let one = Case {
        flow: "application = \"persistent\"\nstop = \"60 s\"",
        ..PLAIN
    };
    let outcome = run(&read(&(one.text() + slow)), &Options::default()).unwrap();
    let rate = |flow: usize| outcome.flows[flow].delivered.as_f64() * 8.0 / 58.5;
    assert!((0.85e6..1e6).contains(&rate(1)), "{}", rate(1));
    let left = 0.99 * 6e6 * 1460.0 / 1500.0 - rate(1);
    assert!((0.97..1.03).contains(&(rate(0) / left)), "{}", rate(0));
}

/// Both ways at once, over a link with the same rate both ways: what acknowledges the one counts
/// among the other.
#[test]
fn both_directions_fill_their_link() {
    for transport in ["stp", "sack"] {
        let case = Case {
            transport,
            flow: "application = \"persistent\"\nstop = \"100 s\"",
            ..PLAIN
        };
        let up = "[flow.up]\nfrom = \"client\"\nto = \"server\"\ntransport = \"cubic\"\n\
                  stop = \"100 s\"\napplication = \"persistent\"\n";
        // The leg of the upload is on the other side of the first PEP on its way.
        let text = case.text().replace(
            "node = \"terminal\"\n",
            &format!("node = \"terminal\"\ntoward = \"satellite\"\ntransport = \"{transport}\"\n"),
        );
        let outcome = run(&read(&(text + up)), &Options::default()).unwrap();
        for flow in 0..2 {
            let rate = outcome.flows[flow].delivered.as_f64() * 8.0 / 98.5;
            let share = rate / (0.99 * 6e6 * 1460.0 / 1500.0);
            assert!((0.95..1.01).contains(&share), "{transport} {flow}: {share}");
        }
        for name in ["satellite", "satellite.reverse"] {
            let link = link(&outcome, name);
            assert!(link.max_queue_packets <= 6, "{transport}: {link:?}");
            assert_eq!(link.queue_drops, 0, "{transport} {name}");
        }
    }
}

/// The link is down for 8 s: the relays wait, and go on at the full rate when it is up.
#[test]
fn an_outage_costs_its_length() {
    let outage = "timeline = [{ at = \"4 s\", up = false }, { at = \"12 s\", up = true }]";
    for transport in ["stp", "sack"] {
        let case = Case { transport, ..PLAIN };
        let without = seconds(&case.run(), 0);
        let outcome = Case {
            link: outage,
            ..case
        }
        .run();
        let took = seconds(&outcome, 0);
        // What was on its way is sent again, once it is known to be lost.
        assert!(
            (without + 7.9..without + 10.0).contains(&took),
            "{transport}: {took} {without}"
        );
        assert_eq!(outcome.legs[1].reductions, 0, "{transport}");
    }
}

#[test]
fn a_failure_and_the_confirmations_still_work() {
    let fails = Case {
        keys: "proxy_control = \"grants\"\nfails_at = \"4 s\"",
        ..PLAIN
    };
    let outcome = fails.run();
    assert_eq!(outcome.flows[0].delivered.get(), 5_000_000);
    assert_eq!(outcome.legs.len(), 4);
    let confirms = Case {
        keys: "proxy_control = \"grants\"\nconfirms = \"64 kB\"",
        ..PLAIN
    };
    let later = seconds(&confirms.run(), 0) - seconds(&PLAIN.run(), 0);
    // One way of 272 ms, and a sender at the other end that may have to wait for its turn.
    assert!((0.26..0.4).contains(&later), "{later}");
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let case = Case {
        loss: 2.0,
        flow: "application = { kind = \"transfer\", size = \"500 kB\" }\ncount = 5\nspacing = \"200 ms\"",
        ..PLAIN
    };
    assert_eq!(case.seeded(3), case.seeded(3));
    assert!(case.seeded(3) != case.seeded(4));
}
