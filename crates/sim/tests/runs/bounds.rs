//! A run that exceeds its limits fails with an error.

use crate::line::{Line, named, sack};
use bentpipe_cc::Parameters;
use bentpipe_scenario::Handshake;
use bentpipe_sim::{Options, RunError, Simulation, Stop, Unobserved, run};
use bentpipe_tcp::Recovery;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};

#[test]
fn too_many_events() {
    let mut scenario = Line::geo().transfer(30_000_000, sack()).scenario();
    scenario.limits.events = 10_000;
    let error = run(&scenario, &Options::default()).unwrap_err();
    assert_eq!(error, RunError::TooManyEvents { limit: 10_000 });
}

#[test]
fn a_short_run_is_counted_as_well() {
    let mut scenario = Line::geo().transfer(1_000_000, sack()).scenario();
    scenario.limits.events = 100;
    let error = run(&scenario, &Options::default()).unwrap_err();
    assert_eq!(error, RunError::TooManyEvents { limit: 100 });
}

#[test]
fn a_run_stops_when_it_is_told_to() {
    let scenario = Line::geo().transfer(30_000_000, sack()).scenario();
    let options = Options {
        stop: Stop::switch(),
        ..Options::default()
    };
    assert!(run(&scenario, &options).is_ok());
    let mut run = Simulation::new(&scenario, &options).unwrap();
    let halfway = Time::ZERO + Duration::from_secs(10);
    run.on_progress(|now| {
        assert!(now < halfway + Duration::from_secs(30), "it went on");
        if now >= halfway {
            options.stop.stop();
        }
    });
    let stopped = run.run(&mut Unobserved);
    assert_eq!(stopped.unwrap_err(), RunError::Stopped);
}

#[test]
fn nothing_to_transfer_is_transferred_at_once() {
    for handshake in [
        Handshake::Counted,
        Handshake::NotCounted,
        Handshake::Skipped,
    ] {
        let mut line = Line::geo().transfer(0, sack());
        line.flows[0].handshake = handshake;
        let outcome = run(&line.scenario(), &Options::default()).unwrap();
        assert_eq!(outcome.ended_at, Time::ZERO);
        assert_eq!(outcome.flows[0].transfer_time, Some(Duration::ZERO));
    }
}

#[test]
fn too_many_packets() {
    let mut transport = named("fixed-window", Recovery::Sack);
    transport.parameters = Parameters::new().with("window", 10_000.0);
    transport.initial_window = 10_000.0;
    let line = Line {
        queue: 20_000,
        ..Line::geo()
    };
    let mut scenario = line.transfer(300_000_000, transport).scenario();
    scenario.limits.packets = 5_000;
    let error = run(&scenario, &Options::default()).unwrap_err();
    assert!(
        matches!(error, RunError::TooManyPackets { limit: 5_000, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("limits.packets"));
}

#[test]
fn one_event_cannot_fill_the_memory() {
    // A billion packets of one byte could go at once.
    let mut transport = sack();
    transport.initial_window = 1e9;
    transport.mss = 1;
    transport.send_buffer = Bytes::new(1 << 30);
    transport.receive_buffer = Bytes::new(1 << 30);
    let mut scenario = Line::geo().transfer(1 << 30, transport).scenario();
    scenario.limits.packets = 1_000;
    let error = run(&scenario, &Options::default()).unwrap_err();
    assert!(
        matches!(error, RunError::TooManyPackets { limit: 1_000, .. }),
        "{error}"
    );
}

#[test]
fn a_run_ends_with_its_duration() {
    let line = Line {
        duration: Duration::from_secs(7),
        ..Line::geo()
    };
    let outcome = run(
        &line.with(Application::Persistent, Some(sack())).scenario(),
        &Options::default(),
    )
    .unwrap();
    assert_eq!(outcome.ended_at, Time::ZERO + Duration::from_secs(7));
    assert_eq!(outcome.flows[0].transfer_time, None);
}

#[test]
fn a_run_ends_with_its_last_flow() {
    let scenario = Line::geo().transfer(10_136, sack()).scenario();
    let outcome = run(&scenario, &Options::default()).unwrap();
    assert!(outcome.ended_at < Time::ZERO + Duration::from_secs(2));
    assert_eq!(outcome.flows[0].delivered, Bytes::new(10_136));
}

#[test]
fn an_unknown_parameter_is_an_error_of_its_flow() {
    let mut transport = sack();
    transport.parameters = Parameters::new().with("no-such-thing", 1.0);
    let scenario = Line::geo().transfer(1_000, transport).scenario();
    let error = run(&scenario, &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("flow `flow[1]`: "), "{error}");
}
