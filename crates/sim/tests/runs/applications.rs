//! What the applications do over a connection.

use crate::line::{Line, sack};
use bentpipe_scenario::Handshake;
use bentpipe_sim::{Options, run};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Time};

fn first(line: Line) -> bentpipe_outcome::FlowOutcome {
    run(&line.scenario(), &Options::default())
        .unwrap()
        .flows
        .remove(0)
}

#[test]
fn the_handshake_counts_or_not_or_is_left_out() {
    let time = |handshake| {
        let mut line = Line::geo().transfer(1_448, sack());
        line.flows[0].handshake = handshake;
        first(line).transfer_time.unwrap().as_secs()
    };
    let skipped = time(Handshake::Skipped);
    // One packet there (6 ms at 2 Mbit/s), its ACK back.
    assert!((skipped - 0.517).abs() < 0.001, "{skipped}");
    // The last packet of the handshake goes ahead of the data.
    assert!((time(Handshake::NotCounted) - skipped).abs() < 1e-3);
    let counted = time(Handshake::Counted);
    assert!((counted - skipped - 0.511).abs() < 0.001, "{counted}");
}

#[test]
fn requests_and_responses_take_turns() {
    let application = Application::RequestResponse {
        request: Bytes::new(300),
        response: Bytes::new(5_000),
        count: 3,
        think_time: Duration::from_millis(200),
    };
    let mut line = Line::geo().with(application, Some(sack()));
    line.flows[0].handshake = Handshake::Counted;
    let f = first(line);
    assert_eq!(f.delivered, Bytes::new(15_000));
    // A handshake, three exchanges of one round trip, two pauses.
    let expected = 4.0 * 0.511 + 0.4;
    let got = f.transfer_time.unwrap().as_secs();
    assert!((got - expected).abs() < 0.1, "{got} for {expected}");
}

#[test]
fn datagrams_keep_their_rate() {
    let application = Application::ConstantRate {
        rate: Rate::from_bps(500_000),
        packet_size: Bytes::new(1_000),
    };
    let line = Line {
        duration: Duration::from_secs(100),
        ..Line::geo()
    };
    let mut line = line.with(application, None);
    line.flows[0].start = Time::ZERO + Duration::from_secs(10);
    line.flows[0].stop = Some(Time::ZERO + Duration::from_secs(60));
    let f = first(line);
    // 50 s at 500 kbit/s are 3125 packets of 1000 bytes, 972 of them payload;
    // the last ones are on their way when the flow, the only one, ends.
    assert_eq!(f.packets_sent, 3125);
    assert!(f.delivered.get() > 3_080 * 972 && f.delivered.get() <= 3_125 * 972);
}

#[test]
fn two_equal_flows_share_the_link() {
    let line = Line {
        duration: Duration::from_secs(300),
        ..Line::geo()
    };
    let line = line
        .with(Application::Persistent, Some(sack()))
        .with(Application::Persistent, Some(sack()));
    let outcome = run(&line.scenario(), &Options::default()).unwrap();
    assert!(outcome.jain_index().unwrap() > 0.9);
    let satellite = outcome.link("satellite").unwrap();
    assert!(satellite.utilisation > 0.9, "{}", satellite.utilisation);
}
