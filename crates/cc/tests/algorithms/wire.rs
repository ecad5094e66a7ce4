//! Events as a transport would make them.

use bentpipe_cc::{
    Ack, Actions, Classic, Controller, Head, Loss, ParameterValue, Parameters, RateSample,
    RecoveryExit, Repair, Timeout, Window, build,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// An ACK at time zero for one full segment of 1500 bytes over a path of
/// 600 ms.
pub(crate) fn an_ack() -> Ack {
    let rtt = Duration::from_millis(600);
    Ack {
        now: Time::ZERO,
        acked: 1.0,
        delivered: 1.0,
        duplicate: false,
        rtt: Some(rtt),
        min_rtt: rtt,
        smoothed_rtt: rtt,
        delivery_rate: None,
        rate_sample: None,
        lost: 0.0,
        probes: 0,
        high_probes: 0,
        congestion_echo: false,
        flight_before: 10.0,
        flight: 9.0,
        outstanding: 9.0,
        head: Some(a_head()),
        cwnd_limited: true,
        round_start: false,
        in_recovery: false,
        receive_window: 1e9,
        mss: 1500,
    }
}

/// A segment that was sent once, at time zero.
pub(crate) fn a_head() -> Head {
    Head {
        sent_at: Time::ZERO,
        transmissions: 1,
    }
}

/// The sample of a packet that was sent when `prior` segments had been
/// delivered and arrived as the last of `delivered` of them in `interval`.
pub(crate) fn a_rate_sample(
    prior: Segments,
    delivered: Segments,
    interval: Duration,
) -> RateSample {
    let rate = Rate::from_bps_f64(delivered * 12_000.0 / interval.as_secs());
    RateSample {
        rate,
        delivered,
        interval,
        prior_delivered: prior,
        total_delivered: prior + delivered,
        app_limited: false,
        prior_flight: delivered,
        rtt: Some(Duration::from_millis(600)),
    }
}

pub(crate) fn a_loss(flight: Segments) -> Loss {
    let min_rtt = Duration::from_millis(600);
    Loss {
        now: Time::ZERO,
        flight,
        outstanding: flight,
        ecn: false,
        head: Some(a_head()),
        smoothed_rtt: min_rtt,
        min_rtt,
        mss: 1500,
    }
}

pub(crate) fn a_timeout(flight: Segments) -> Timeout {
    let min_rtt = Duration::from_millis(600);
    Timeout {
        now: Time::ZERO,
        flight,
        outstanding: flight,
        first: true,
        min_rtt,
        mss: 1500,
    }
}

pub(crate) fn an_exit(flight: Segments, recovery_fix: bool) -> RecoveryExit {
    let min_rtt = Duration::from_millis(600);
    RecoveryExit {
        now: Time::ZERO,
        flight,
        recovery_fix,
        min_rtt,
        mss: 1500,
    }
}

/// A controller with its window, and the ACK that it gets next.
pub(crate) struct Wire {
    pub(crate) controller: Controller,
    pub(crate) window: Window,
    pub(crate) next: Ack,
}

impl Wire {
    pub(crate) fn new(
        controller: impl Into<Controller>,
        cwnd: Segments,
        ssthresh: Segments,
    ) -> Wire {
        let window = Window {
            cwnd,
            ssthresh,
            mss: 1500,
            pacing_rate: None,
            send_quantum: 1,
            actions: Actions::default(),
        };
        Wire {
            controller: controller.into(),
            window,
            next: an_ack(),
        }
    }

    /// The next ACK, `gap` after the last one.
    pub(crate) fn ack(&mut self, gap: Duration) {
        self.next.now += gap;
        self.controller.on_sample(&self.next, &mut self.window);
        if !self.next.duplicate {
            self.controller.on_ack(&self.next, &mut self.window);
        }
        if self.controller.owns_window() {
            let repair = if self.next.in_recovery {
                Repair::Recovery
            } else {
                Repair::None
            };
            self.controller
                .on_control(&self.next, repair, &mut self.window);
            self.window.actions = Actions::default();
        }
    }

    /// `n` ACKs, one per 1.2 ms (1500 bytes at 10 Mbit/s).
    pub(crate) fn acks(&mut self, n: usize) {
        for _ in 0..n {
            self.ack(Duration::from_micros(1200));
        }
    }

    /// cwnd after each of `n` ACKs.
    pub(crate) fn cwnds(&mut self, n: usize) -> Vec<Segments> {
        (0..n)
            .map(|_| {
                self.acks(1);
                self.window.cwnd
            })
            .collect()
    }

    /// cwnd at the start of each of `n` rounds in which every segment is
    /// acknowledged.
    pub(crate) fn rounds(&mut self, n: usize) -> Vec<Segments> {
        (0..n)
            .map(|_| {
                let cwnd = self.window.cwnd;
                self.acks(cwnd as usize);
                cwnd
            })
            .collect()
    }
}

/// Fails unless both are the same to `tolerance`.
#[track_caller]
pub(crate) fn close(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
}

/// The named combination of slots.
pub(crate) fn classic(name: &str) -> Classic {
    classic_of(name, &Parameters::new())
}

/// The same with one parameter.
pub(crate) fn classic_with(
    name: &str,
    parameter: &str,
    value: impl Into<ParameterValue>,
) -> Classic {
    classic_of(name, &Parameters::new().with(parameter, value))
}

/// The same with parameters.
pub(crate) fn classic_of(name: &str, parameters: &Parameters) -> Classic {
    match build(name, parameters) {
        Ok(Controller::Classic(classic)) => classic,
        other => panic!("{name} is {other:?}"),
    }
}
