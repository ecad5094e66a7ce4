//! What the applications do over a connection.

use crate::line::{Line, sack};
use bentpipe_scenario::Handshake;
use bentpipe_sim::{Options, run};
use bentpipe_traffic::{Application, Period};
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

/// Without its handshake a response counts from its first segment, not from what
/// the server receives next.
#[test]
fn a_response_counts_from_its_first_segment() {
    let application = Application::RequestResponse {
        request: Bytes::new(300),
        response: Bytes::new(1_448),
        count: 1,
        think_time: Duration::ZERO,
    };
    let mut line = Line::geo().with(application, Some(sack()));
    line.flows[0].handshake = Handshake::NotCounted;
    let time = first(line).transfer_time.unwrap().as_secs();
    assert!((time - 0.2615).abs() < 0.001, "{time}");
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
        control: None,
        deadline: None,
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

/// A 10 Mbit/s line with RTT 600 ms for 600 s.
fn long_line() -> Line {
    Line {
        rate: Rate::from_mbps(10),
        rtt: Duration::from_millis(600),
        queue: 50,
        duration: Duration::from_secs(600),
        ..Line::geo()
    }
}

/// The concurrent traffic of Caini & Firrincieli 2006, section VI.A.2.
#[test]
fn a_spike_begins_and_ends_when_it_is_told() {
    let spike = Application::ConstantRate {
        rate: Rate::from_mbps(5),
        packet_size: Bytes::new(1500),
        control: None,
        deadline: None,
    };
    let at = |s| Time::ZERO + Duration::from_secs(s);
    let mut line = long_line().with(spike, None);
    line.flows[0].start = at(500);
    line.flows[0].stop = Some(at(550));
    // One flow continues, so that the run does.
    let scenario = line.with(Application::Persistent, Some(sack())).scenario();
    let options = Options {
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    let outcome = run(&scenario, &options).unwrap();
    let (spike, series) = (&outcome.flows[0], &outcome.series[0]);
    // One packet every 2.4 ms in [500 s, 550 s); the other flow leaves them
    // room in the end or their queue drops them.
    assert_eq!(spike.packets_sent, 20_834);
    let arrived = spike.delivered.get() / 1472;
    assert_eq!(arrived + spike.queue_drops, 20_834);
    // 120 us on the LAN, 1.2 ms and 300 ms on the satellite link, and what the
    // other flow has put into the queue.
    let first = spike.first_delivery_at.unwrap();
    assert!(first > at(500) && first < at(501), "{first}");
    let last = spike.last_delivery_at.unwrap();
    assert!(last > at(550) && last < at(551), "{last}");
    let rate = series.goodput_between(at(510), at(550)).bps_f64();
    let payload_rate = 5e6 * 1472.0 / 1500.0;
    let dropped = spike.queue_drops as f64 / 20_834.0;
    assert!(
        (rate / payload_rate - 1.0).abs() < 0.01 + dropped,
        "{rate} {dropped}"
    );
}

fn on_off(on: Period, off: Period, size: u64) -> Application {
    Application::OnOff {
        on,
        off,
        rate: Rate::from_mbps(5),
        packet_size: Bytes::new(size),
    }
}

#[test]
fn on_off_datagrams_come_in_their_periods() {
    let second = |s| Period::Constant(Duration::from_secs(s));
    let mut line = long_line().with(on_off(second(2), second(8), 1500), None);
    line.duration = Duration::from_secs(22);
    let scenario = line.scenario();
    let options = Options {
        series: Some(Duration::ZERO),
        ..Options::default()
    };
    let outcome = run(&scenario, &options).unwrap();
    // 0-2, 10-12 and 20-22 s, 2.4 ms each: 2500 packets of on-time. The last
    // ones, of 301.32 ms, are under way.
    assert_eq!(outcome.flows[0].packets_sent, 2500);
    let series = &outcome.series[0];
    let by = |ms: u64| series.delivered_by(Time::from_nanos(ms * 1_000_000)).get() / 1472;
    assert_eq!(
        [by(301), by(303), by(2302), by(10_301), by(12_302)],
        [0, 1, 834, 834, 1667]
    );
}

#[test]
fn on_off_writes_over_tcp_arrive_all() {
    let mean = Duration::from_millis(500);
    let random = Period::Exponential { mean };
    let line = Line {
        queue: 1000,
        ..long_line()
    };
    let line = line.with(on_off(random, random, 1448), Some(sack()));
    let scenario = line.scenario();
    let outcome = run(&scenario, &Options::default()).unwrap();
    let f = &outcome.flows[0];
    // 2.5 Mbit/s on average, of a link that carries four times as much:
    // nothing waits for long. 600 periods make about 4% of noise.
    let goodput = f.goodput(outcome.ended_at).bps_f64();
    assert!((goodput / 2.5e6 - 1.0).abs() < 0.15, "{goodput}");
    assert_eq!((f.offered, f.queue_drops, f.timeouts), (None, 0, 0));
    assert_eq!(f.delivered.get() % 1448, 0, "every write fills a segment");
    // Another seed has other periods; the same one the same.
    let again = |seed| {
        let options = Options {
            seed,
            ..Options::default()
        };
        run(&scenario, &options).unwrap()
    };
    assert_eq!(again(1), outcome);
    assert_ne!(again(2).flows[0].delivered, f.delivered);
}

#[test]
fn a_flow_beside_it_does_not_change_the_periods() {
    let mean = Duration::from_millis(500);
    let random = Period::Pareto { mean, shape: 1.5 };
    let sent = |line: Line| {
        let scenario = line.scenario();
        let outcome = run(&scenario, &Options::default()).unwrap();
        outcome.flows[0].packets_sent
    };
    let line = long_line().with(on_off(random, random, 1500), None);
    let alone = sent(line.clone());
    let persistent = line.with(Application::Persistent, Some(sack()));
    assert_eq!(sent(persistent.clone()), alone);
    assert_eq!(
        sent(persistent.with(on_off(random, random, 1500), None)),
        alone
    );
}

#[test]
fn an_on_off_flow_stops_when_it_is_told() {
    let half = Period::Constant(Duration::from_millis(500));
    let mut line = long_line().with(on_off(half, half, 1448), Some(sack()));
    line.flows[0].stop = Some(Time::ZERO + Duration::from_secs(10));
    let outcome = run(&line.scenario(), &Options::default()).unwrap();
    assert_eq!(outcome.ended_at, Time::ZERO + Duration::from_secs(10));
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
