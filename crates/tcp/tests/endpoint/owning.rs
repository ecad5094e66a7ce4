//! A congestion control that sets window and pacing rate in every state.

use crate::pipe::{Fate, MSS, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_cc::{Ack, CongestionControl, Controller, RateSample, Repair, Window};
use bentpipe_tcp::{Endpoint, HostProfile, Recovery, Transport};
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::sync::{Arc, Mutex};

/// What the transport told it.
#[derive(Debug, Default)]
struct Heard {
    controls: Vec<(Repair, f64, f64, Option<RateSample>)>,
    restarts: Vec<Time>,
    /// Segments that each ACK delivered.
    delivered: Vec<f64>,
}

/// A constant window at a constant rate.
#[derive(Debug)]
struct Constant {
    cwnd: f64,
    rate: Rate,
    quantum: u32,
    heard: Arc<Mutex<Heard>>,
}

impl CongestionControl for Constant {
    fn name(&self) -> &str {
        "constant"
    }
    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        window.cwnd = self.cwnd;
        window.pacing_rate = Some(self.rate);
        window.send_quantum = self.quantum;
    }
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
    fn on_loss(&mut self, _: &bentpipe_cc::Loss, _: &mut Window) {}
    fn on_recovery_exit(&mut self, _: &bentpipe_cc::RecoveryExit, _: &mut Window) {}
    fn on_control(&mut self, ack: &Ack, repair: Repair, _: &mut Window) {
        let told = (repair, ack.lost, ack.flight, ack.rate_sample);
        let mut heard = self.heard.lock().unwrap();
        heard.controls.push(told);
        heard.delivered.push(ack.delivered);
    }
    fn on_restart(&mut self, now: Time, _: &mut Window) {
        self.heard.lock().unwrap().restarts.push(now);
    }
    fn owns_window(&self) -> bool {
        true
    }
    fn needs_rate_samples(&self) -> bool {
        true
    }
}

/// 100 segments per second at a window of `cwnd`.
fn open(
    cwnd: f64,
    quantum: u32,
    fate: impl FnMut(usize, &bentpipe_tcp::Packet) -> Fate + 'static,
) -> (Pipe, Arc<Mutex<Heard>>) {
    open_on(&plain(), cwnd, quantum, fate)
}

fn open_on(
    transport: &Transport,
    cwnd: f64,
    quantum: u32,
    fate: impl FnMut(usize, &bentpipe_tcp::Packet) -> Fate + 'static,
) -> (Pipe, Arc<Mutex<Heard>>) {
    let heard = Arc::new(Mutex::new(Heard::default()));
    let control = Constant {
        cwnd,
        rate: Rate::of(Bytes::new(u64::from(MSS)), Duration::from_millis(10)),
        quantum,
        heard: Arc::clone(&heard),
    };
    let mut pipe = Pipe::closed(transport, fate);
    pipe.ends[0] = Endpoint::new(transport, Controller::custom(control), 1);
    pipe.ends[0].assume_open();
    pipe.ends[1].assume_open();
    (pipe, heard)
}

fn deliver(_: usize, _: &bentpipe_tcp::Packet) -> Fate {
    Fate::Deliver
}

fn times_ms(pipe: &Pipe) -> Vec<u64> {
    pipe.sent
        .iter()
        .map(|s| s.at.as_nanos() / 1_000_000)
        .collect()
}

#[test]
fn its_pacing_rate_counts_payload_and_is_exact() {
    let (mut pipe, _) = open(1000.0, 1, deliver);
    pipe.write(500);
    pipe.run_for(Duration::from_secs(10));
    let expected: Vec<u64> = (0..500).map(|i| 10 * i).collect();
    assert_eq!(times_ms(&pipe), expected);
}

#[test]
fn a_quantum_goes_at_once_and_is_paid_for() {
    let (mut pipe, _) = open(1000.0, 4, deliver);
    pipe.write(500);
    pipe.run_for(Duration::from_secs(10));
    let expected: Vec<u64> = (0..500).map(|i| i / 4 * 40).collect();
    assert_eq!(times_ms(&pipe), expected);
}

#[test]
fn a_window_that_blocks_earns_no_credit() {
    // Five segments a round trip of 100 ms, where the rate would carry ten.
    let (mut pipe, _) = open(5.0, 1, deliver);
    pipe.write(20);
    pipe.run_for(Duration::from_secs(2));
    let expected: Vec<u64> = (0..20).map(|i| i / 5 * 100 + i % 5 * 10).collect();
    assert_eq!(times_ms(&pipe), expected);
}

#[test]
fn in_recovery_the_window_stays_and_retransmissions_are_paced() {
    let (mut pipe, heard) = open(8.0, 1, drop_once(&[2, 3]));
    pipe.write(40);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(40_000));
    assert_eq!(pipe.cwnd(), 8.0);
    let gaps = times_ms(&pipe)
        .windows(2)
        .map(|w| w[1] - w[0])
        .min()
        .unwrap();
    assert_eq!(gaps, 10, "nothing leaves before its time");
    // The third ACK above the first hole shows it; recovery has begun when
    // the algorithm hears of it.
    let heard = heard.lock().unwrap();
    let first = heard.controls.iter().position(|c| c.1 > 0.0).unwrap();
    assert_eq!(heard.controls[first - 1].0, Repair::None);
    assert_eq!(heard.controls[first].0, Repair::Recovery);
    assert_eq!(heard.controls.last().unwrap().0, Repair::None);
    // Every segment is delivered once.
    let delivered = heard.controls.last().unwrap().3.unwrap().total_delivered;
    assert_eq!(delivered, 40.0);
}

/// `tp->delivered`: what arrived twice was delivered twice, in the rate samples as in the ACKs.
#[test]
fn on_linux_reported_duplicates_count_in_the_rate_samples_too() {
    let mut late = true;
    let transport = Transport {
        profile: HostProfile::Linux,
        recovery: Recovery::Rack,
        ..plain()
    };
    let (mut pipe, heard) = open_on(&transport, 8.0, 1, move |to, p| {
        // The fourth segment is overtaken by far, and sent again for that.
        if to == 1 && p.payload > 0 && p.sequence == 3000 && std::mem::take(&mut late) {
            Fate::Delay(Duration::from_millis(120))
        } else {
            Fate::Deliver
        }
    });
    pipe.write(40);
    pipe.run_for(Duration::from_secs(5));
    assert_eq!(pipe.ends[1].duplicates_received(), 1);
    let heard = heard.lock().unwrap();
    let mut sum = 0.0;
    for (control, delivered) in heard.controls.iter().zip(&heard.delivered) {
        sum += delivered;
        if let Some(sample) = control.3 {
            assert_eq!(sample.total_delivered, sum);
        }
    }
    assert_eq!(sum, 41.0, "40 segments, one of them twice");
}

#[test]
fn a_timeout_shows_until_everything_is_repaired() {
    let mut drops = 0;
    let (mut pipe, heard) = open(4.0, 1, move |to, p| {
        drops += u32::from(to == 1 && p.payload > 0);
        if to == 1 && p.payload > 0 && drops <= 4 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.write(8);
    pipe.run_for(Duration::from_secs(10));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(8_000));
    let heard = heard.lock().unwrap();
    assert_eq!(heard.controls[0].0, Repair::Timeout);
    assert_eq!(heard.controls.last().unwrap().0, Repair::None);
    // What is sent again is measured from when it was sent again.
    let sample = heard.controls[0].3.unwrap();
    assert_eq!(sample.rtt, None);
    assert!(sample.interval >= ONE_WAY * 2);
}

#[test]
fn after_an_idle_time_the_window_stays_and_it_is_told() {
    let (mut pipe, heard) = open(20.0, 1, deliver);
    pipe.write(10);
    pipe.run_for(Duration::from_secs(30));
    pipe.write(10);
    assert_eq!(pipe.cwnd(), 20.0);
    pipe.run_for(Duration::from_secs(5));
    let heard = heard.lock().unwrap();
    assert_eq!(heard.restarts, [Time::ZERO + Duration::from_secs(30)]);
    // The application limited all of it but the first ten.
    let limited: Vec<bool> = heard
        .controls
        .iter()
        .map(|c| c.3.unwrap().app_limited)
        .collect();
    assert_eq!(limited[..10], [false; 10]);
    assert!(limited[10]);
    // Idle time is no part of a sample.
    let longest = heard.controls.iter().map(|c| c.3.unwrap().interval).max();
    assert_eq!(longest, Some(Duration::from_millis(190)));
}
