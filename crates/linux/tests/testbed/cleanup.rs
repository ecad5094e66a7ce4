//! What is left of a run that ends early: nothing, or what the next one removes.
//!
//! Each run is in a separate process: this program again, told by a variable what to do.

use crate::common::{may, pair, run, transfer, transport};
use bentpipe_linux::testbed::{self, Error, Options};
use bentpipe_tcp::TransportSettings;
use bentpipe_traffic::Application;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MODE: &str = "BENTPIPE_TEST_RUN";

/// Namespaces of a process.
fn left_by(pid: u32) -> usize {
    let names = std::fs::read_dir("/run/netns").into_iter().flatten();
    let ours = format!("bp-{pid}-");
    let names = names.filter_map(|name| name.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&ours)).count()
}

fn child(mode: &str) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program)
        .args(["cleanup::in_a_process_of_its_own", "--exact", "--nocapture"])
        .env(MODE, mode)
        .stdout(Stdio::null())
        .spawn()
        .expect("a child")
}

/// A run that goes on for 20 s unless it is stopped.
fn endless(options: Options) -> Result<testbed::Run, Error> {
    let (mut builder, server, client) = pair();
    builder
        .flow("bulk", server, client, Application::Persistent)
        .transport(transport("cubic", TransportSettings::default()));
    testbed::run(&builder.build().expect("a scenario"), options)
}

#[test]
fn in_a_process_of_its_own() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let options = Options::new(1).expect("an event descriptor");
    if mode == "stopped" {
        let stop = options.stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            stop.stop();
        });
        assert!(matches!(endless(options), Err(Error::Stopped)));
        assert_eq!(left_by(std::process::id()), 0);
    } else {
        endless(options).expect("a run");
    }
}

#[test]
fn a_run_that_is_stopped_leaves_nothing() {
    if !may("a_run_that_is_stopped_leaves_nothing") {
        return;
    }
    let status = child("stopped").wait().expect("an end");
    assert!(status.success());
}

#[test]
fn what_a_killed_run_leaves_the_next_one_removes() {
    if !may("what_a_killed_run_leaves_the_next_one_removes") {
        return;
    }
    let mut killed = child("endless");
    let patience = Instant::now() + Duration::from_secs(20);
    while left_by(killed.id()) < 2 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().expect("a signal");
    killed.wait().expect("an end");
    // A run of another test may have been the next one already.
    assert!(left_by(killed.id()) <= 2);
    let (mut builder, server, client) = pair();
    builder
        .flow("file", server, client, transfer(10_000))
        .transport(transport("cubic", TransportSettings::default()));
    let live = run(&builder.build().expect("a scenario"));
    assert!(live.outcome.flows[0].transfer_time.is_some());
    assert_eq!(left_by(killed.id()), 0);
}
