use super::super::path::tests::path;
use super::*;

fn queue(text: &str) -> Queue {
    text.parse().unwrap()
}

fn wrong(text: &str) -> String {
    text.parse::<Queue>().unwrap_err().to_string()
}

#[test]
fn a_queue_is_printed_as_it_is_typed() {
    for text in [
        "1 BDP",
        "100 packets",
        "64 kB",
        "250 ms",
        "codel",
        "fq-codel 1000 packets",
        "pie target 20 ms",
        "codel 2 BDP target 30 ms",
        "red 600 packets",
    ] {
        assert_eq!(queue(text).to_string(), text);
        assert_eq!(queue(&queue(text).to_string()), queue(text));
    }
    for (typed, shown) in [
        ("fq_codel", "fq-codel"),
        (" CoDel 2bdp TARGET 5ms", "codel 2 BDP target 5 ms"),
    ] {
        assert_eq!(queue(typed).to_string(), shown);
    }
}

#[test]
fn what_is_no_queue_is_named() {
    assert!(wrong("codle").contains("did you mean `codel`?"));
    assert!(wrong("").contains("expected a length"));
    assert!(wrong("5").contains("`5` has no unit"));
    assert!(wrong("codel 5").contains("`5` has no unit"));
    assert!(wrong("codel target 0 ms").contains("`0 ms` is no target"));
    assert!(wrong("codel target").contains("is no target"));
    assert!(wrong("red target 5 ms").contains("red has no target"));
    assert!(wrong("ł BDP").contains("expected"));
}

#[test]
fn times_and_limits_follow_the_link() {
    // 10 Mbit/s and 600 ms: a BDP of 500 packets.
    let path = path();
    let on = |text: &str| queue(text).on(&path);
    let codel = on("codel");
    assert_eq!(codel.limit, Limit::Packets(2000));
    assert_eq!(codel.target, Duration::from_millis(30));
    assert_eq!(codel.interval, Duration::from_millis(600));
    assert_eq!(on("codel target 5 ms").target, Duration::from_millis(5));
    assert_eq!(on("pie 1 BDP").limit, Limit::Packets(500));
    // Drop-tail keeps its bytes: 100 ms of 10 Mbit/s.
    assert_eq!(on("100 ms").limit, Limit::Bytes(Bytes::new(125_000)));
    // A short round trip has the RFCs' values.
    let short = NetworkPath {
        rtt: Duration::from_millis(20),
        rate: Rate::from_mbps(100),
        ..path.clone()
    };
    let codel = queue("codel").on(&short);
    assert_eq!(codel.target, Duration::from_millis(5));
    assert_eq!(codel.interval, Duration::from_millis(100));
    assert_eq!(codel.limit, Limit::Packets(1000));
    assert_eq!(queue("pie").on(&short).target, Duration::from_millis(15));
    // A target is longer than a packet takes: 1.5 of them at 64 kbit/s.
    let slow = NetworkPath {
        rate: Rate::from_bps(64_000),
        ..path
    };
    assert_eq!(
        queue("fq-codel").on(&slow).target,
        Duration::from_millis(282)
    );
}

#[test]
fn routers_get_what_was_simulated() {
    let path = path();
    let tc = |text: &str| queue(text).on(&path).tc(path.rate);
    assert_eq!(tc("1 BDP"), "bfifo limit 750000");
    assert_eq!(tc("100 packets"), "pfifo limit 100");
    assert_eq!(
        tc("fq-codel"),
        "fq_codel limit 2000 target 30ms interval 600ms"
    );
    assert_eq!(tc("pie target 7.5 ms"), "pie limit 2000 target 7500us");
    // Thresholds at a sixth and a half of 1000 packets.
    assert_eq!(
        tc("red"),
        "red limit 1500000 min 249000 max 750000 avpkt 1500 burst 278 probability 0.1 bandwidth \
         10000000bit"
    );
    let QueueSettings::Red(red) = queue("red").on(&path).settings() else {
        panic!("it is RED");
    };
    assert_eq!((red.minimum, red.maximum), (Some(166.0), Some(500.0)));
    assert!(!red.gentle);
}

#[test]
fn a_weight_lets_a_burst_pass() {
    // An average after `burst` packets into an empty queue, step by step.
    for (minimum, burst) in [(5, 8), (166, 278), (1, 2), (10_000, 16_667)] {
        let weight = weight(minimum, burst);
        let mut average = 0.0;
        for waiting in 1..=burst {
            average += weight * (waiting as f64 - average);
        }
        assert!(average <= minimum as f64, "{minimum} {burst}: {average}");
    }
}
