//! Careful Resume (RFC 9959), with the examples of its appendix B.

use crate::wire::{a_loss, a_timeout, an_ack, an_exit, close};
use bentpipe_cc::{Controller, Parameters, Phase, Window, build};
use bentpipe_units::{Duration, Time};

const RTT: Duration = Duration::from_millis(600);

/// A connection that knows what it has sent.
struct Path {
    cc: Controller,
    window: Window,
    now: Time,
    sent: f64,
    acked: f64,
    rtt: Duration,
}

impl Path {
    fn new(saved_cwnd: f64) -> Path {
        Path::with(&Parameters::new().with("saved_cwnd", saved_cwnd))
    }

    fn with(parameters: &Parameters) -> Path {
        let mut window = Window::new(10.0);
        let mut cc = build("careful-resume", parameters).unwrap();
        cc.on_established(None, &mut window);
        Path {
            cc,
            window,
            now: Time::ZERO + RTT,
            sent: 10.0,
            acked: 0.0,
            rtt: RTT,
        }
    }

    /// `n` ACKs of a segment each, a microsecond apart.
    fn acks(&mut self, n: u32) {
        for _ in 0..n {
            self.now += Duration::from_micros(1);
            self.acked += 1.0;
            let mut ack = an_ack();
            (ack.now, ack.rtt) = (self.now, Some(self.rtt));
            ack.outstanding = self.sent - self.acked;
            self.cc.on_sample(&ack, &mut self.window);
            self.cc.on_ack(&ack, &mut self.window);
        }
    }

    /// Acknowledges the initial window with 29 segments in flight, as the
    /// examples have it.
    fn resumes(saved_cwnd: f64) -> Path {
        let mut path = Path::new(saved_cwnd);
        path.sent = 39.0;
        path.acks(9);
        assert_eq!(path.phase(), "reconnaissance");
        path.acks(1);
        path
    }

    fn phase(&self) -> &'static str {
        self.cc.phase(&self.window).name()
    }
}

#[test]
fn the_jump_is_half_of_what_was_saved_and_paced_over_a_round_trip() {
    let path = Path::resumes(500.0);
    assert_eq!(path.phase(), "unvalidated");
    assert_eq!(path.window.cwnd, 250.0);
    // 250 segments of 1500 bytes in 600 ms.
    assert_eq!(path.window.pacing_rate.unwrap().bps(), 5_000_000);
}

#[test]
fn example_of_a_path_that_carries_the_jump() {
    let mut path = Path::resumes(300.0);
    assert_eq!(path.window.cwnd, 150.0);
    // 121 unvalidated segments fill the window.
    path.sent += 121.0;
    path.acks(1);
    assert_eq!(path.phase(), "validating");
    assert_eq!(path.window.cwnd, 150.0);
    assert_eq!(path.window.pacing_rate, None);
    // The window grows as in slow start until the last of them arrives.
    path.acks(28 + 120);
    assert_eq!(path.phase(), "validating");
    assert_eq!(path.window.cwnd, 150.0 + 148.0);
    path.acks(1);
    assert_eq!(path.cc.phase(&path.window), Phase::SlowStart);
}

#[test]
fn example_of_an_application_that_sends_fifty() {
    let mut path = Path::resumes(300.0);
    path.sent += 50.0;
    path.acks(29);
    assert_eq!((path.phase(), path.window.cwnd), ("unvalidated", 150.0));
    // The first unvalidated one: the rest of them is in flight.
    path.acks(1);
    assert_eq!((path.phase(), path.window.cwnd), ("validating", 49.0));
    path.acks(49);
    assert_eq!(path.cc.phase(&path.window), Phase::SlowStart);
}

#[test]
fn a_jump_that_is_hardly_used_is_taken_back() {
    let mut path = Path::resumes(300.0);
    path.sent += 20.0;
    path.acks(30);
    // PipeSize: 29 and one of the jump; 19 are in flight.
    assert_eq!(path.cc.phase(&path.window), Phase::SlowStart);
    assert_eq!(path.window.cwnd, 30.0);
}

#[test]
fn the_jump_ends_after_a_round_trip() {
    let mut path = Path::resumes(300.0);
    path.sent += 60.0;
    path.acks(1);
    assert_eq!(path.phase(), "unvalidated");
    path.now += RTT;
    path.acks(1);
    assert_eq!((path.phase(), path.window.cwnd), ("validating", 87.0));
}

#[test]
fn example_of_a_loss_in_the_jump() {
    let mut path = Path::resumes(300.0);
    path.sent += 121.0;
    path.acks(29 + 34);
    // The 35th is lost: PipeSize is 29 + 34 = 63.
    path.cc.on_loss(&a_loss(87.0), &mut path.window);
    assert_eq!(path.phase(), "safe_retreat");
    assert_eq!(path.window.cwnd, 31.5);
    // The other 86 arrive behind the hole; the window stays.
    for _ in 0..86 {
        let mut ack = an_ack();
        (ack.acked, ack.duplicate, ack.in_recovery) = (0.0, true, true);
        path.cc.on_sample(&ack, &mut path.window);
    }
    assert_eq!(path.window.cwnd, 31.5);
    path.cc
        .on_recovery_exit(&an_exit(10.0, false), &mut path.window);
    // Half of PipeSize: 29 and 120 of the jump.
    assert_eq!(path.window.cwnd, 31.5);
    assert_eq!(path.window.ssthresh, 74.5);
    assert_eq!(path.cc.phase(&path.window), Phase::SlowStart);
}

#[test]
fn a_mark_retreats_without_a_repair() {
    let mut path = Path::resumes(300.0);
    path.sent += 121.0;
    path.acks(29 + 34);
    let mut mark = a_loss(87.0);
    mark.ecn = true;
    path.cc.on_loss(&mark, &mut path.window);
    assert_eq!(path.window.cwnd, 31.5);
    path.acks(86);
    assert_eq!((path.phase(), path.window.cwnd), ("safe_retreat", 31.5));
    path.acks(1);
    assert_eq!(path.window.ssthresh, 75.0);
}

#[test]
fn another_path_is_not_jumped_on() {
    let with_rtt = |ms| {
        let mut path = Path::new(500.0);
        path.rtt = Duration::from_millis(ms);
        path.sent = 39.0;
        path.acks(10);
        path.phase() == "unvalidated"
    };
    // Above half of the saved 600 ms, and at most ten times it.
    assert_eq!(
        [300, 301, 6000, 6001].map(with_rtt),
        [false, true, true, false]
    );
}

#[test]
fn a_shorter_rtt_during_the_jump_retreats() {
    let mut path = Path::resumes(300.0);
    path.sent += 50.0;
    path.rtt = Duration::from_millis(299);
    path.acks(1);
    assert_eq!((path.phase(), path.window.cwnd), ("safe_retreat", 14.5));
}

#[test]
fn a_loss_before_the_jump_leaves_cubic() {
    let mut path = Path::new(500.0);
    path.acks(5);
    path.cc.on_loss(&a_loss(10.0), &mut path.window);
    close(path.window.cwnd, 7.0, 1e-9);
    assert_eq!(path.cc.phase(&path.window), Phase::Recovery);
    path.cc
        .on_recovery_exit(&an_exit(7.0, false), &mut path.window);
    path.acks(10);
    assert!(path.window.cwnd < 10.0);
}

#[test]
fn a_timeout_stops_the_pacing_and_leaves_cubic() {
    let mut path = Path::resumes(300.0);
    path.cc.on_timeout(&a_timeout(100.0), &mut path.window);
    assert_eq!((path.window.cwnd, path.window.pacing_rate), (1.0, None));
    assert_eq!(path.cc.phase(&path.window), Phase::SlowStart);
}

#[test]
fn no_jump_below_the_window_and_none_above_the_limit() {
    assert_eq!(
        Path::resumes(30.0).cc.phase(&Window::new(20.0)),
        Phase::SlowStart
    );
    let given = Parameters::new()
        .with("saved_cwnd", 500.0)
        .with("max_jump", 100.0);
    let mut path = Path::with(&given);
    path.acks(10);
    assert_eq!(path.window.cwnd, 100.0);
}

#[test]
fn a_sender_that_does_not_need_the_window_does_not_jump() {
    let mut path = Path::new(500.0);
    path.sent = 39.0;
    path.acks(9);
    let mut ack = an_ack();
    ack.cwnd_limited = false;
    path.cc.on_sample(&ack, &mut path.window);
    path.cc.on_ack(&ack, &mut path.window);
    assert_eq!(path.phase(), "reconnaissance");
    path.acks(1);
    assert_eq!(path.phase(), "unvalidated");
}
