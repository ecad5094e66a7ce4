//! The modules of Linux, step by step.
//!
//! `linux/ns2.txt` holds what the C modules of ns-2.35 (`tcp/linux/src`, Linux
//! 2.6.22) do in the script of [`script`], in the order in which `tcp-linux.cc`
//! calls them: they were compiled into a small program that prints cwnd after
//! every 40th event, then cwnd, ssthresh and a hash (FNV-1a over words) of cwnd
//! after each event.

use crate::wire::{Wire, a_loss, a_timeout, an_exit};
use bentpipe_cc::{Head, Parameters, build};
use bentpipe_units::{Duration, Time};

/// A sender with sequence numbers in segments, and its clock.
struct Script {
    wire: Wire,
    una: u64,
    next: u64,
    /// The smoothed RTT of ns-2, in eighths of a millisecond.
    srtt: i64,
    now_us: u64,
    hash: u64,
    events: u32,
    samples: Vec<u64>,
}

impl Script {
    fn cwnd(&self) -> u64 {
        self.wire.window.cwnd as u64
    }

    fn note(&mut self) {
        self.hash = (self.hash ^ self.cwnd()).wrapping_mul(1_099_511_628_211);
        if self.events.is_multiple_of(40) {
            self.samples.push(self.cwnd());
        }
        self.events += 1;
    }

    /// An ACK for `acked` segments, none of them for a duplicate, while
    /// `flight` were in flight.
    fn ack(&mut self, acked: u64, rtt_us: u64, flight: u64) {
        self.una += acked;
        self.next = self.next.max(self.una);
        let ack = &mut self.wire.next;
        ack.duplicate = acked == 0;
        if !ack.duplicate {
            let milliseconds = ((rtt_us + 500) / 1000) as i64;
            self.srtt += if self.srtt == 0 {
                8 * milliseconds
            } else {
                milliseconds - (self.srtt >> 3)
            };
        }
        ack.now = Time::from_nanos(self.now_us * 1000);
        ack.acked = acked as f64;
        ack.rtt = (acked > 0).then_some(Duration::from_micros(rtt_us));
        ack.smoothed_rtt = Duration::from_nanos(self.srtt as u64 * 125_000);
        ack.outstanding = (self.next - self.una) as f64;
        ack.flight_before = flight as f64;
        ack.flight = ack.outstanding;
        ack.head = None::<Head>;
        ack.receive_window = 1000.0;
        ack.mss = 1000;
        self.wire.ack(Duration::ZERO);
    }

    fn fill(&mut self) {
        self.next = self.next.max(self.una + self.cwnd().min(1000));
    }

    /// What `tcp-linux.cc` does with cwnd when losses are repaired.
    fn leave(&mut self) {
        let flight = (self.next - self.una) as f64;
        let window = &mut self.wire.window;
        if window.cwnd < window.ssthresh {
            window.cwnd = window.ssthresh.min(flight + 3.0);
        }
    }
}

/// 4000 ACKs, every fifth for two segments, over a path of 600 to 652 ms; a
/// loss with its recovery at 1500 and 3300, a timeout at 2400.
fn script(name: &str, ssthresh: f64) -> Script {
    let version = Parameters::new().with("version", "ns-2");
    let controller = build(&format!("{name}-linux"), &version).unwrap();
    let mut s = Script {
        wire: Wire::new(controller, 2.0, ssthresh),
        una: 0,
        next: 0,
        srtt: 4800,
        now_us: 600_000,
        hash: 1_469_598_103_934_665_603,
        events: 0,
        samples: Vec::new(),
    };
    let rtt = Some(Duration::from_millis(600));
    s.wire.controller.on_established(rtt, &mut s.wire.window);
    s.fill();
    s.note();
    let mut until = None;
    for i in 0..4000 {
        s.now_us += if i == 0 { 600_000 } else { 1200 };
        let rtt_us = (600 + 12 * ((i / 200) % 5) + (i * 7) % 5) * 1000;
        if i == 1500 || i == 3300 {
            recovery(&mut s);
            continue;
        }
        if i == 2400 {
            until = Some(s.next);
            let timeout = a_timeout(s.cwnd() as f64);
            s.wire.controller.on_timeout(&timeout, &mut s.wire.window);
            s.note();
        }
        if let Some(end) = until {
            let flight = s.cwnd();
            if s.una + 1 >= end {
                s.next = s.una + 1 + flight / 2;
            }
            s.ack(1, rtt_us, flight);
            if s.una >= end {
                until = None;
                s.leave();
                s.fill();
            }
        } else {
            let flight = s.next - s.una;
            let acked = if i % 5 == 0 && flight >= 2 { 2 } else { 1 };
            s.ack(acked, rtt_us, flight);
            s.fill();
        }
        s.note();
    }
    s
}

/// 43 duplicates, the loss after the third; then all that was lost arrives.
fn recovery(s: &mut Script) {
    let flight = s.next - s.una;
    let end = s.next;
    for i in 0..43 {
        if i == 3 {
            let mut loss = a_loss(s.cwnd() as f64);
            loss.mss = 1000;
            s.wire.controller.on_loss(&loss, &mut s.wire.window);
            s.note();
        }
        s.ack(0, 0, flight);
        s.now_us += 1200;
    }
    s.next += s.wire.window.ssthresh as u64 / 2;
    s.ack(end - s.una, 620_000, flight);
    let mut exit = an_exit((s.next - s.una) as f64, false);
    exit.mss = 1000;
    s.wire
        .controller
        .on_recovery_exit(&exit, &mut s.wire.window);
    s.fill();
    s.note();
}

fn matches(name: &str) {
    let text = include_str!("linux/ns2.txt");
    let mut runs = 0;
    for threshold in ["200", "1000"] {
        let title = format!("{name} {threshold}");
        let mut lines = text.lines().skip_while(|line| *line != title).skip(1);
        let expected: Vec<u64> = lines
            .by_ref()
            .take_while(|line| !line.starts_with("end"))
            .flat_map(str::split_whitespace)
            .map(|word| word.parse().unwrap())
            .collect();
        let s = script(name, threshold.parse().unwrap());
        assert_eq!(s.samples, expected, "{title}");
        let end = format!("end {} {} {}", s.cwnd(), s.wire.window.ssthresh, s.hash);
        assert!(text.lines().any(|line| line == end), "{title}: {end}");
        runs += 1;
    }
    assert_eq!(runs, 2);
}

#[test]
fn reno() {
    matches("reno");
}

#[test]
fn vegas() {
    matches("vegas");
}

#[test]
fn veno() {
    matches("veno");
}

#[test]
fn highspeed() {
    matches("highspeed");
}

#[test]
fn scalable() {
    matches("scalable");
}

#[test]
fn westwood() {
    matches("westwood");
}

#[test]
fn hybla() {
    matches("hybla");
}

/// Today's kernel, `cwnd` and `ssthresh` as given, after a handshake of 600 ms.
fn current(name: &str, cwnd: f64, ssthresh: f64) -> Wire {
    let controller = build(name, &Parameters::new()).unwrap();
    let mut wire = Wire::new(controller, cwnd, ssthresh);
    wire.next.outstanding = cwnd - 1.0;
    wire
}

#[test]
fn today_a_segment_counts_and_not_an_ack() {
    let mut wire = current("reno-linux", 6.0, 10.0);
    wire.next.acked = 2.0;
    // Slow start stops at ssthresh; the ACK that reaches it counts on.
    assert_eq!(wire.cwnds(2), [8.0, 10.0]);
    assert_eq!(wire.cwnds(5), [10.0, 10.0, 10.0, 10.0, 11.0]);
    // 20 segments in one ACK: two steps of ten, not more.
    let mut wire = current("reno-linux", 10.0, 10.0);
    wire.next.acked = 20.0;
    assert_eq!(wire.cwnds(1), [12.0]);
}

#[test]
fn todays_vegas_divides_by_the_base() {
    // W = 50, base 600 ms: diff is 1.0, 2.5, 4.99 and 5.08 before it is cut to
    // whole segments; thresholds 2 and 4.
    for (milliseconds, cwnd) in [(612, 51.0), (630, 50.0), (659, 50.0), (661, 49.0)] {
        let mut wire = current("vegas-linux", 50.0, 2.0);
        wire.controller.on_established(None, &mut wire.window);
        // One round of Reno with the base in it.
        wire.acks(1);
        wire.next.rtt = Some(Duration::from_millis(milliseconds));
        wire.acks(49);
        wire.window.cwnd = 50.0;
        wire.acks(1);
        assert_eq!(wire.window.cwnd, cwnd, "{milliseconds} ms");
    }
}

#[test]
fn todays_vegas_leaves_slow_start_for_the_actual_rate() {
    let mut wire = current("vegas-linux", 50.0, f64::INFINITY);
    wire.controller.on_established(None, &mut wire.window);
    wire.acks(1);
    wire.next.rtt = Some(Duration::from_millis(660));
    wire.acks(49);
    // 99 segments in 660 ms are 90 in 600: cwnd 91. Of ssthresh, which this
    // would set to 91, tcp_current_ssthresh leaves as much.
    wire.window.cwnd = 100.0;
    wire.acks(1);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (91.0, 91.0));
}

#[test]
fn veno_in_half_segments() {
    // W = 50, base 600 ms: N = 1.61 at 620 ms and 4.55 at 660 ms.
    for (milliseconds, ssthresh) in [(620, 40.0), (660, 25.0)] {
        let mut wire = current("veno-linux", 50.0, 50.0);
        wire.acks(3);
        wire.next.rtt = Some(Duration::from_millis(milliseconds));
        wire.acks(1);
        assert_eq!(wire.window.cwnd, 50.0);
        wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
        assert_eq!(wire.window.ssthresh, ssthresh, "{milliseconds} ms");
    }
}

#[test]
fn todays_scalable_takes_a_hundred() {
    let mut wire = current("scalable-linux", 1000.0, 2.0);
    assert_eq!(wire.cwnds(100)[98..], [1000.0, 1001.0]);
    wire.controller.on_loss(&a_loss(0.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1001.0 - 125.0);
}

#[test]
fn todays_hybla_starts_at_rho_and_jumps_to_the_threshold() {
    let mut wire = current("hybla-linux", 10.0, 500.0);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    assert_eq!(wire.window.cwnd, 24.0);
    assert_eq!(wire.cwnds(1), [500.0]);
    // 147/128 of a segment at first, the rest kept: 19/128, 18/128 and so on.
    assert_eq!(wire.cwnds(8)[5..], [506.0, 507.0, 509.0]);
    // Without a threshold the first ACK gives the clamp.
    let mut wire = current("hybla-linux", 10.0, f64::INFINITY);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    assert_eq!(wire.cwnds(1), [65_535.0]);
}

#[test]
fn todays_westwood_cuts_when_recovery_ends() {
    // 1000 bytes per ms in every round, smallest RTT 600 ms, MSS 1500: 400.
    let mut wire = current("westwood-linux", 700.0, 2.0);
    wire.next.acked = 1.0;
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    for _ in 0..40_000 {
        wire.ack(Duration::from_micros(1500));
    }
    wire.window.cwnd = 700.0;
    wire.controller.on_loss(&a_loss(300.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (350.0, 350.0));
    wire.controller
        .on_recovery_exit(&an_exit(600.0, false), &mut wire.window);
    // Whole milliseconds and two rounded filters lose up to a percent.
    let cwnd = wire.window.cwnd;
    assert!((396.0..=400.0).contains(&cwnd), "{cwnd}");
    assert_eq!(wire.window.ssthresh, cwnd);
    // A timeout takes the same.
    wire.window.cwnd = 700.0;
    wire.controller
        .on_timeout(&a_timeout(700.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, cwnd));
}

#[test]
fn after_a_timeout_hybla_is_reno_until_all_is_acknowledged() {
    let mut wire = current("hybla-linux", 500.0, 500.0);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    wire.window.cwnd = 500.0;
    wire.controller
        .on_timeout(&a_timeout(500.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 250.0);
    // 11 segments were outstanding.
    wire.next.outstanding = 10.0;
    assert_eq!(wire.cwnds(1), [2.0]);
    wire.next.outstanding = 1.0;
    assert_eq!(wire.cwnds(10)[9], 12.0);
    assert_eq!(wire.cwnds(1), [250.0]);
}

/// ACKs 1 ms apart over 600 ms: the train has lasted for (600 + 1) / 2 ms with
/// the 302nd, at a window of 401.
#[test]
fn cubics_slow_start_ends_with_a_train_of_acks() {
    let train = |gap: Duration, acks: u32| {
        let mut wire = current("cubic-linux", 100.0, f64::INFINITY);
        wire.next.outstanding = 1000.0;
        for _ in 0..acks {
            wire.ack(gap);
        }
        wire.window.ssthresh
    };
    assert_eq!(train(Duration::from_millis(1), 301), f64::INFINITY);
    assert_eq!(train(Duration::from_millis(1), 302), 401.0);
    // ACKs more than 2 ms apart are no train.
    assert_eq!(train(Duration::from_micros(2001), 900), f64::INFINITY);
}

/// The RTT may rise by an eighth, 4 ms at least and 16 ms at most; the ninth
/// sample of a round trip decides.
#[test]
fn cubics_slow_start_ends_where_the_rtt_rises() {
    let ends_after = |base: u64, raised: u64| {
        let mut wire = current("cubic-linux", 100.0, f64::INFINITY);
        let ms = Duration::from_millis;
        // One round trip of ten ACKs at the base.
        wire.next.rtt = Some(ms(base));
        wire.next.outstanding = 10.0;
        for _ in 0..11 {
            wire.ack(ms(3));
        }
        wire.next.rtt = Some(ms(raised));
        wire.next.outstanding = 1000.0;
        (1..=20).find(|_| {
            wire.ack(ms(3));
            wire.window.ssthresh.is_finite()
        })
    };
    for (base, longest) in [(600, 616), (64, 72), (20, 24)] {
        assert_eq!(ends_after(base, longest), None, "{base} ms");
        assert_eq!(ends_after(base, longest + 1), Some(9), "{base} ms");
    }
}

/// A window below 16 segments is not watched, and a slow start after a loss is
/// not, but one after a timeout is.
#[test]
fn cubic_watches_the_slow_starts_of_new_beginnings() {
    let rise = |wire: &mut Wire| {
        wire.next.rtt = Some(Duration::from_millis(600));
        wire.next.outstanding = 0.0;
        wire.acks(3);
        wire.next.rtt = Some(Duration::from_millis(700));
        wire.next.outstanding = 1000.0;
        wire.acks(9);
        wire.window.ssthresh
    };
    let mut wire = current("cubic-linux", 1.0, f64::INFINITY);
    assert_eq!(rise(&mut wire), f64::INFINITY);
    let mut wire = current("cubic-linux", 100.0, f64::INFINITY);
    assert!(rise(&mut wire).is_finite());
    wire.window.ssthresh = 1e6;
    assert_eq!(rise(&mut wire), 1e6);
    let before = wire.window.cwnd;
    wire.controller
        .on_timeout(&a_timeout(before), &mut wire.window);
    // All that was outstanding is acknowledged at once.
    wire.window.ssthresh = 1e6;
    (wire.next.acked, wire.next.outstanding) = (2000.0, 0.0);
    wire.acks(1);
    wire.next.acked = 1.0;
    (wire.window.cwnd, wire.window.ssthresh) = (20.0, 1e6);
    assert!(rise(&mut wire) < 1e6);
}

/// 1000 segments, a loss, 600 ms: the curve is at W_max 9.08 s after the cut, and
/// the window with it, since the curve is read an RTT ahead.
#[test]
fn cubic_is_back_at_its_window_after_k() {
    let mut wire = current("cubic-linux", 1000.0, 500.0);
    wire.acks(1);
    wire.controller.on_loss(&a_loss(1000.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (700.0, 700.0));
    wire.controller
        .on_recovery_exit(&an_exit(700.0, false), &mut wire.window);
    // 1200 us an ACK: 600 ms are 500 of them, less than a window.
    let mut seconds = 0.0;
    while wire.window.cwnd < 990.0 {
        wire.acks(1);
        seconds += 0.0012;
    }
    // W_max - 10 is reached cbrt(10 / 0.4) = 2.9 s before K; a window of lag.
    assert!((5.2..7.5).contains(&seconds), "{seconds}");
}

/// Today's kernels bound the window by its use alone (`tcp_is_cwnd_limited`), so what a loss
/// reduces may be above the receive window; the ns-2 port bounds it there (`snd_cwnd_clamp`).
#[test]
fn only_ns_2_bounds_the_window_by_the_receiver_s() {
    let grown = |name: &str, parameters: &Parameters| {
        let controller = build(&format!("{name}-linux"), parameters).unwrap();
        let mut wire = Wire::new(controller, 10.0, f64::INFINITY);
        wire.next.receive_window = 40.0;
        wire.acks(60);
        wire.window.cwnd
    };
    for name in ["reno", "cubic", "highspeed", "veno", "scalable"] {
        let cwnd = grown(name, &Parameters::new());
        assert!(cwnd > 40.0, "{name}: {cwnd}");
    }
    for name in ["reno", "highspeed", "veno", "scalable"] {
        let cwnd = grown(name, &Parameters::new().with("version", "ns-2"));
        assert!(cwnd <= 40.0, "{name}: {cwnd}");
    }
}
