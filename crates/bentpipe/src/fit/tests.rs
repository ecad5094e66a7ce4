//! Tests of fits.

use super::*;
use crate::fit::twin::Course;
use bentpipe_capture::History;

/// What `control` does over a link of 5 Mbit/s, 100 ms, a queue of 60 kB and some losses.
fn history(control: &str) -> History {
    let course = Course {
        rate: Rate::from_mbps(5),
        rtt: Duration::from_millis(100),
        queue: Some(Bytes::new(60_000)),
        lost: vec![40, 41, 400, 3000, 7000],
        payload: Bytes::new(20_000_000),
        until: Duration::from_secs(40),
        most: 100_000,
    };
    twin::run(&control::candidate(control).unwrap(), &course).unwrap()
}

fn fit_of(history: &History) -> Fit {
    let link = Link::of(history).unwrap();
    let verdict = control::of(history, &link);
    Fit {
        file: PathBuf::from("transfer\n.pcap"),
        flow: 1,
        flows: 1,
        from: "192.0.2.1:443".parse().unwrap(),
        to: "192.0.2.9:40000".parse().unwrap(),
        packets: history.sent.len() as u64,
        resent: history.sent.iter().filter(|sent| sent.again).count() as u64,
        payload: Bytes::new(history.payload),
        duration: Duration::from_secs(40),
        mss: history.mss,
        headers: history.headers,
        link,
        control: verdict.control,
        scores: verdict.scores,
        doubt: verdict.doubt,
        notes: Vec::new(),
    }
}

#[test]
fn each_control_is_known_by_its_course() {
    for name in CANDIDATES {
        let fit = fit_of(&history(name));
        assert_eq!(fit.control.as_deref(), Some(name), "{:?}", fit.scores);
    }
}

/// What came before the capture is not in it, so that only a close course names a control.
#[test]
fn a_capture_that_begins_within_a_connection_names_no_wrong_control() {
    for name in CANDIDATES {
        let within = History {
            is_whole: false,
            ..history(name)
        };
        let fit = fit_of(&within);
        let named = fit.control.as_deref();
        assert!(named.is_none_or(|named| named == name), "{:?}", fit.scores);
    }
}

#[test]
fn the_scenario_of_a_fit_reads_and_has_the_link() {
    let fit = fit_of(&history("cubic"));
    let text = fit.scenario();
    let scenario = crate::parse(&text).unwrap();
    let link = &scenario.links[0].settings;
    assert!((link.rate.bps_f64() / 5e6 - 1.0).abs() < 0.01, "{text}");
    assert!(text.contains("base = \"cubic\""), "{text}");
    assert!(
        crate::run(&scenario).unwrap().flows[0]
            .transfer_time
            .is_some()
    );
}

/// A queue that never filled is not as short as what waited in it.
#[test]
fn a_queue_that_dropped_nothing_is_simulated_with_one_bdp() {
    let mut fit = fit_of(&history("cubic"));
    fit.link.queue = Estimate::at_least(3000.0);
    assert_eq!(fit.queue(), QueueLength::Bdp(1.0));
    assert!(
        fit.scenario()
            .contains("queue = \"1 BDP\"  # it dropped nothing: at least the 3000 B")
    );
    fit.link.queue = Estimate::at_least(1e6);
    assert_eq!(fit.queue(), QueueLength::Bytes(Bytes::new(1_000_000)));
}

#[test]
fn values_are_rounded_to_what_an_interval_leaves() {
    assert_eq!(round(10_648_734.0), 10_650_000.0);
    assert_eq!(round(0.135_941_2), 0.1359);
    assert_eq!(
        (round(0.0), round(-1.0), round(f64::INFINITY)),
        (0.0, 0.0, 0.0)
    );
}

#[test]
fn a_few_packets_name_no_control() {
    let course = history("cubic");
    let few = History {
        sent: course.sent[..20].to_vec(),
        acks: course.acks[..5].to_vec(),
        ..course
    };
    let fit = fit_of(&few);
    assert_eq!(fit.control, None);
    assert!(fit.doubt.unwrap().contains("20 packets are too few"));
    assert!(fit.link.rate.is_bound() || fit.link.rate.value > 0.0);
}
