use super::*;
use crate::testing::{outcome, run_data};
use bentpipe_outcome::FlowLinkStats;
use bentpipe_units::{Bytes, Duration, Time};

fn select(flow: &str) -> Selection {
    Selection {
        flow: Some(flow.to_owned()),
        ..Selection::default()
    }
}

#[test]
fn names_are_unique_and_described() {
    let mut names: Vec<&str> = METRICS
        .iter()
        .flat_map(|m| [m.name, m.alias])
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(METRICS.iter().all(|m| !m.about.is_empty()));
    assert!(std::ptr::eq(
        metric("time").unwrap(),
        metric("transfer_time").unwrap()
    ));
}

#[test]
fn every_metric_is_documented() {
    let text = include_str!("../../LANGUAGE.md");
    let mut table =
        String::from("| metric | unit | arguments | what it says |\n|---|---|---|---|\n");
    for m in METRICS.iter() {
        let alias = if m.alias.is_empty() {
            String::new()
        } else {
            format!(", `{}`", m.alias)
        };
        let arguments: Vec<String> = m.arguments().map(|a| format!("`{a}`")).collect();
        let (unit, arguments) = (m.unit.symbol(), arguments.join(" "));
        table.push_str(&format!(
            "| `{}`{alias} | {unit} | {arguments} | {} |\n",
            m.name, m.about
        ));
    }
    assert!(
        text.ends_with(&table),
        "LANGUAGE.md must end with:\n\n{table}"
    );
}

#[test]
fn counted_flows_have_a_common_name() {
    let mut o = outcome(10.0);
    o.flows[0].name = "transfer[1]".into();
    let mut second = o.flows[0].clone();
    second.name = "transfer[2]".into();
    second.transfer_time = Some(Duration::from_secs(20));
    o.flows.push(second);
    let run = run_data(o);
    let time = metric("time").unwrap();
    assert_eq!(time.value(&run, &select("transfer")), Ok(15.0));
    assert_eq!(time.value(&run, &select("transfer[2]")), Ok(20.0));
    assert_eq!(time.value(&run, &Selection::default()), Ok(15.0));
    let max = Selection {
        of: Some(Aggregation::Max),
        ..Selection::default()
    };
    assert_eq!(time.value(&run, &max), Ok(20.0));
    let e = time.value(&run, &select("trans")).unwrap_err();
    assert_eq!(e, "no flow is named `trans`");
}

#[test]
fn a_flow_that_did_not_finish_has_no_time() {
    let mut o = outcome(10.0);
    o.flows[0].transfer_time = None;
    let e = metric("time")
        .unwrap()
        .value(&run_data(o), &Selection::default());
    assert_eq!(
        e.unwrap_err(),
        "no transfer_time of flow `transfer`, which did not finish"
    );
}

/// Value of a metric in a run of 10 s over 2 Mbit/s with a mark at 4 s.
fn value(name: &str, selection: &Selection) -> Result<f64, String> {
    metric(name)
        .unwrap()
        .value(&run_data(outcome(10.0)), selection)
}

#[test]
fn an_interval_counts_between_marks() {
    let at = |s: u64| Some(Time::from_nanos(s * 1_000_000_000));
    let all = Selection {
        link: Some("satellite".into()),
        ..Selection::default()
    };
    let early = Selection {
        to: at(4),
        ..all.clone()
    };
    let late = Selection {
        from: at(4),
        ..all.clone()
    };
    // By hand from `testing::outcome`: 1 MB in 10 s, 250 kB of it in 4 s.
    for (name, whole, first, last) in [
        ("goodput", 800e3, 500e3, 1e6),
        ("throughput", 811_584.0, 520e3, 8.0 * 754_480.0 / 6.0),
        ("delivered", 1e6, 250e3, 750e3),
        ("share", 1.0, 1.0, 1.0),
        ("wire_share", 0.42, 0.3, 0.5),
        ("payload_share", 0.4, 0.25, 0.5),
        ("unused", 0.58, 0.7, 0.5),
        ("packets_sent", 700.0, 200.0, 500.0),
        ("retransmissions", 10.0, 8.0, 2.0),
        ("retransmission_share", 1.0 / 70.0, 0.04, 0.004),
        ("timeouts", 2.0, 1.0, 1.0),
        ("reductions", 5.0, 4.0, 1.0),
        ("congestion_epoch", 2.0, 1.0, 6.0),
        ("drops", 3.0, 2.0, 1.0),
        ("channel_losses", 0.0, 0.0, 0.0),
        ("jain", 1.0, 1.0, 1.0),
    ] {
        for (selection, expected) in [(&all, whole), (&early, first), (&late, last)] {
            let got = value(name, selection).unwrap();
            // Rates are whole bits per second.
            let near = (got - expected).abs() < 1e-12_f64.max(0.6 * f64::from(expected > 1e3));
            assert!(near, "{name} {selection:?}: {got} for {expected}");
        }
    }
    // Without a link losses are those of all links.
    assert_eq!(value("channel_losses", &Selection::default()), Ok(7.0));
    let unmarked = Selection { from: at(5), ..all };
    assert!(
        value("unused", &unmarked)
            .unwrap_err()
            .contains("noted nothing")
    );
}

#[test]
fn p95_backlog_is_the_delay_in_bytes() {
    // 90 ms of 2 Mbit/s.
    let satellite = Selection {
        link: Some("satellite".into()),
        ..Selection::default()
    };
    assert_eq!(value("p95_backlog", &satellite), Ok(22_500.0));
    assert_eq!(value("link_rate", &satellite), Ok(2e6));
}

/// Three flows of 1, 1 and 2 MB; on the wire of the link 1, 3 and, of the
/// last one, nothing: its way is another.
fn three_flows() -> Outcome {
    let mut o = outcome(10.0);
    let mut crossings = o.crossings.clone();
    for (i, (name, megabytes)) in [("sat[1]", 1), ("sat[2]", 1), ("ground", 2)]
        .iter()
        .enumerate()
    {
        let mut flow = o.flows[0].clone();
        flow.name = (*name).into();
        flow.delivered = Bytes::new(megabytes * 1_000_000);
        o.flows.push(flow);
        crossings.push(FlowLinkStats {
            flow: i,
            ..crossings[0]
        });
    }
    o.flows.remove(0);
    crossings.remove(0);
    crossings[0].transmitted = Bytes::new(1_000_000);
    crossings[1].transmitted = Bytes::new(3_000_000);
    crossings.pop();
    o.crossings = crossings;
    o
}

#[test]
fn fairness_among_a_group_of_payload_or_of_a_link() {
    let run = run_data(three_flows());
    let jain = |flow: Option<&str>, link: Option<&str>| {
        let selection = Selection {
            flow: flow.map(str::to_owned),
            link: link.map(str::to_owned),
            ..Selection::default()
        };
        metric("jain").unwrap().value(&run, &selection)
    };
    // (1 + 1 + 2)^2 / (3 (1 + 1 + 4)), then (1 + 3)^2 / (2 (1 + 9)).
    assert!((jain(None, None).unwrap() - 16.0 / 18.0).abs() < 1e-12);
    assert_eq!(jain(Some("sat"), None), Ok(1.0));
    assert_eq!(jain(Some("sat[1], ground"), None), Ok(0.9));
    assert_eq!(jain(None, Some("satellite")), Ok(0.8));
    assert_eq!(jain(Some("s*[2]"), Some("satellite")), Ok(1.0));
    assert_eq!(
        jain(Some("ground"), Some("satellite")).unwrap_err(),
        "flow `ground` does not cross link `satellite`"
    );
    assert_eq!(jain(Some("x"), None).unwrap_err(), "no flow is named `x`");
    assert_eq!(jain(None, Some("x")).unwrap_err(), "no link is named `x`");
}

#[test]
fn shares_of_a_link_add_up_or_are_compared() {
    let run = run_data(three_flows());
    let share = |flow: &str, of| {
        let selection = Selection {
            link: Some("satellite".into()),
            of,
            ..select(flow)
        };
        metric("wire_share").unwrap().value(&run, &selection)
    };
    // 2.5 MB in 10 s.
    assert_eq!(share("sat", None), Ok(1.6));
    assert_eq!(share("sat", Some(Aggregation::Min)), Ok(0.4));
    assert!(share("ground", None).is_err());
    assert!(metric("wire_share").unwrap().needs_link());
}

#[test]
fn the_links_of_a_counted_one_are_taken_together() {
    let mut counted = outcome(10.0);
    let link = counted.links[0].clone();
    counted.links.extend([1, 2].map(|i| {
        let mut link = link.clone();
        link.name = format!("up[{i}]");
        link.queue_drops = 10 * i;
        link
    }));
    counted.links.push(LinkOutcome {
        name: "up[1].reverse".into(),
        ..link
    });
    let run = run_data(counted);
    let up = Selection {
        link: Some("up".into()),
        ..Selection::default()
    };
    assert_eq!(metric("link_drops").unwrap().value(&run, &up), Ok(30.0));
    let one = metric("utilisation").unwrap().value(&run, &up);
    assert_eq!(
        one.unwrap_err(),
        "`utilisation` is of one link, not of several"
    );
}

#[test]
fn links_are_found_by_name() {
    let run = run_data(outcome(10.0));
    let drops = metric("link_drops").unwrap();
    let satellite = Selection {
        link: Some("satellite".into()),
        ..Selection::default()
    };
    assert_eq!(drops.value(&run, &satellite), Ok(3.0));
    let none = Selection {
        link: Some("moon".into()),
        ..Selection::default()
    };
    assert_eq!(
        drops.value(&run, &none).unwrap_err(),
        "no link is named `moon`"
    );
    assert!(metric("p95_queueing_delay").unwrap().needs_link());
}
