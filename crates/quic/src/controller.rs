//! The congestion controls of `bentpipe-cc` in QUIC.
//!
//! quinn asks its [`quinn_proto::congestion::Controller`] for a window and reports what was sent,
//! acknowledged and lost; this adapter converts these to the events that the same control receives
//! from TCP in the simulator. Where QUIC differs:
//! - A segment is a QUIC packet of the path's MTU.
//! - Nothing is acknowledged cumulatively, so `acked` and `delivered` are the same.
//! - quinn finds losses after it has reported an acknowledgement; [`Ack::lost`] therefore has the
//!   losses found after the previous one.
//! - Persistent congestion (RFC 9002, section 7.6) takes the role of a retransmission timeout; the
//!   probes that QUIC sends instead of timing out are not reported.
//! - Reno's growth counts what is acknowledged and its halving takes the window (RFC 9002, appendices
//!   B.5 and B.6; [`HostRules`]).
//! - Actions that a control requests besides a window ([`bentpipe_cc::Actions`]) are not supported;
//!   controls that depend on them are refused ([`refusal`]).

mod adapter;
mod record;
mod refusal;
mod rounds;

pub use refusal::{Refusal, refusal, refused};

use bentpipe_cc::{
    Ack, CWND_LIMIT, Controller, Fault, HostRules, Loss, PathHint, RecoveryExit, Repair, Timeout,
    Window,
};
use bentpipe_units::{Duration as Span, Rate, Segments, Time};
use record::Record;
use rounds::Rounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No window is smaller, packets (RFC 9002, section 7.2).
const SMALLEST: Segments = 2.0;
/// A window for which quinn does not pace.
pub const UNPACED: u64 = 1 << 33;
/// Longest time that an acknowledgement waits for more packets (RFC 9000, section
/// 18.2, `max_ack_delay`).
const ACK_DELAY: Span = Span::from_millis(25);

/// What surrounds a connection: what is known of its path, and who spaces its packets.
pub trait Path: std::fmt::Debug + Send + 'static {
    /// The rate that the connection may use, bytes of IP packets; `None` where it is unknown.
    fn rate(&self) -> Option<Rate>;

    /// The round trip without queues, as far as it is known.
    fn rtt(&self) -> Span;

    /// The state of the path for a control that asks for it: `payload` is the part of an IP
    /// packet that counts.
    fn hint(&self, payload: f64, min_rtt: Option<Span>) -> Option<PathHint>;

    /// So many bytes of IP packets were acknowledged, after `rtt`.
    fn acknowledged(&self, bytes: u64, rtt: Span);

    /// The control paces at `pace`, bytes of IP packets, or leaves pacing to others.
    fn set_pace(&mut self, pace: Option<Rate>);

    /// Window at the start, packets of `mtu` bytes. RFC 9002, section 7.2, has ten; a control that
    /// knows the path may have the whole product of the link.
    fn initial_window(&self, mtu: u16, knows_path: bool) -> Segments {
        let _ = (mtu, knows_path);
        10.0
    }

    /// Slow start threshold at the start, packets; none where `None`.
    fn initial_ssthresh(&self) -> Option<Segments> {
        None
    }

    /// True where something besides the window, the application and the spacing of packets keeps
    /// them back, such as the rate of a link that several connections share: the window then grows
    /// only when it is full. A sender that waits for the spacing alone counts as one that fills its
    /// window (RFC 9002, section 7.8).
    fn may_hold_back(&self) -> bool {
        true
    }

    /// True where packets are spaced at all: by quinn's pacer, by the control's rate, or outside.
    fn spaces_packets(&self) -> bool {
        true
    }

    /// True where packets are spaced outside, so that quinn's own pacer, which has 5/4 of the
    /// window in each round trip, must not be.
    fn is_paced_outside(&self, paces_itself: bool) -> bool {
        let _ = paces_itself;
        false
    }
}

/// A control of `bentpipe-cc` as quinn's controller. Copies share their state:
/// quinn makes one when the peer's address changes, and the path over the
/// satellite is still the same.
#[derive(Debug)]
pub struct Adapter<P>(Arc<Mutex<State<P>>>);

impl<P> Clone for Adapter<P> {
    fn clone(&self) -> Adapter<P> {
        Adapter(Arc::clone(&self.0))
    }
}

/// What a controller has come to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct View {
    /// Window, packets.
    pub cwnd: Segments,
    /// Slow start threshold, packets; infinite where there is none.
    pub ssthresh: Segments,
    /// Where the control is.
    pub phase: bentpipe_cc::Phase,
    /// Bytes of QUIC packets in flight.
    pub flight: u64,
    /// Bytes of QUIC packets in a window.
    pub window: u64,
    /// Payload of UDP in a full packet, bytes.
    pub mtu: u16,
    /// Packets that the control lets go together where it paces.
    pub quantum: u32,
    /// Smoothed round trip; zero before the first.
    pub smoothed_rtt: Span,
    /// Smallest round trip so far.
    pub min_rtt: Option<Span>,
    /// Mean of all samples of the round trip, one an acknowledgement.
    pub mean_rtt: Option<Span>,
    /// Samples of the round trip.
    pub samples: u64,
    /// Largest window so far, packets.
    pub max_cwnd: Segments,
    /// Losses that the control was told of: once a round trip at most.
    pub reductions: u64,
    /// Times that persistent congestion was found (RFC 9002, section 7.6).
    pub persistent: u64,
}

/// Sums over the life of a connection.
#[derive(Debug, Default)]
struct Sums {
    rtt_ns: u128,
    samples: u64,
    max_cwnd: Segments,
    reductions: u64,
    persistent: u64,
}

#[derive(Debug)]
struct State<P> {
    control: Controller,
    window: Window,
    path: P,
    /// The pacing rate that the path was told.
    pace: Option<Rate>,
    sums: Sums,
    /// The instant that is [`Time::ZERO`].
    began: Instant,
    established: bool,
    needs_path: bool,
    owns_window: bool,
    rate_samples: bool,
    /// The rate of the last path hint.
    hinted: Option<Rate>,
    initial: u64,
    mtu: u16,
    min_rtt: Span,
    smoothed: Span,
    record: Record,
    rounds: Rounds,
    /// Information collected from the current acknowledgement.
    batch: Batch,
    lost: Segments,
    /// Bytes in flight, as far as it can be counted: quinn says it with each
    /// acknowledgement.
    flight: u64,
    /// quinn's smoothed round trip, by which it paces.
    pacing_rtt: Duration,
    /// The window was full since the last acknowledgement.
    filled: bool,
    recovery: Option<Recovery>,
    /// When the window was reduced last. What was sent before belongs to that loss, also where it
    /// is found after the recovery (RFC 9002, appendix B.6).
    reduced: Option<Instant>,
}

/// Data acknowledged by one acknowledgement frame.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    newest: Option<Instant>,
}

/// A loss that is being repaired.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    began: Instant,
    repair: Repair,
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

impl<P: Path> Adapter<P> {
    /// `control` on `path`, for a connection that begins at `now` with packets of `mtu` bytes.
    #[must_use]
    pub fn new(control: Controller, seed: u64, path: P, now: Instant, mtu: u16) -> Adapter<P> {
        let initial = path.initial_window(mtu, control.needs_path());
        let mut window = Window::new(initial);
        if let Some(ssthresh) = path.initial_ssthresh() {
            window.ssthresh = ssthresh;
        }
        window.mss = u32::from(mtu);
        let mut state = State {
            established: false,
            needs_path: control.needs_path(),
            owns_window: control.owns_window(),
            rate_samples: control.needs_rate_samples(),
            hinted: None,
            initial: 0,
            control,
            window,
            path,
            pace: None,
            sums: Sums::default(),
            began: now,
            mtu,
            min_rtt: Span::MAX,
            smoothed: Span::ZERO,
            record: Record::default(),
            rounds: Rounds::default(),
            batch: Batch::default(),
            lost: 0.0,
            flight: 0,
            pacing_rtt: Duration::ZERO,
            filled: false,
            recovery: None,
            reduced: None,
        };
        state.control.seed(seed);
        state.control.apply_host_rules(HostRules {
            counts_bytes: true,
            halves_window: true,
            spaces_packets: state.path.spaces_packets(),
            ..HostRules::default()
        });
        state.control.on_open(CWND_LIMIT);
        state.hint(None);
        state.initial = state.bytes();
        Adapter(Arc::new(Mutex::new(state)))
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A packet of `bytes` that was sent at `sent` is acknowledged; quinn, which paces by it, has
    /// smoothed the round trip to `pacing_rtt`.
    pub fn acknowledged(&self, sent: Instant, bytes: u64, pacing_rtt: Duration) {
        let mut state = self.lock();
        state.pacing_rtt = pacing_rtt;
        state.acknowledged(sent, bytes);
    }

    /// Asks something of the path.
    pub fn path<R>(&self, ask: impl FnOnce(&P) -> R) -> R {
        ask(&self.lock().path)
    }

    /// Name of the congestion control.
    #[must_use]
    pub fn name(&self) -> String {
        self.lock().control.name().to_owned()
    }

    /// Why a user's own control was stopped, if it was.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.lock().control.fault().cloned()
    }

    /// The rate that the control paces at, bytes of IP packets, if it does.
    #[must_use]
    pub fn pace(&self) -> Option<Rate> {
        self.lock().pace
    }

    /// The rate at which packets are spaced outside quinn, IP packets with `headers` bytes of IP
    /// and UDP: the control's own, or `gain` windows in a smoothed round trip.
    #[must_use]
    pub fn pace_at(&self, gain: Option<f64>, headers: u16) -> Option<Rate> {
        let state = self.lock();
        if state.pace.is_some() || gain.is_none() {
            return state.pace;
        }
        let seconds = state.smoothed.as_secs();
        let packets = state.window.cwnd * gain? / seconds;
        let bytes = state.mss() + f64::from(headers);
        (seconds > 0.0).then(|| Rate::from_bps_f64(8.0 * bytes * packets))
    }

    /// What it has come to.
    #[must_use]
    pub fn view(&self) -> View {
        let state = self.lock();
        let sums = &state.sums;
        let samples = u128::from(sums.samples);
        View {
            cwnd: state.window.cwnd,
            ssthresh: state.window.ssthresh,
            phase: state.control.phase(&state.window),
            flight: state.flight,
            window: state.bytes(),
            mtu: state.mtu,
            quantum: state.window.send_quantum,
            smoothed_rtt: state.smoothed,
            min_rtt: Some(state.min_rtt).filter(|rtt| *rtt != Span::MAX),
            mean_rtt: sums
                .rtt_ns
                .checked_div(samples)
                .map(|ns| Span::from_nanos(ns as u64)),
            samples: sums.samples,
            max_cwnd: sums.max_cwnd,
            reductions: sums.reductions,
            persistent: sums.persistent,
        }
    }
}

impl<P: Path> State<P> {
    fn time(&self, at: Instant) -> Time {
        Time::from_nanos(span(at.saturating_duration_since(self.began)).as_nanos())
    }

    fn mss(&self) -> f64 {
        f64::from(self.mtu.max(1))
    }

    fn segments(&self, bytes: u64) -> Segments {
        bytes as f64 / self.mss()
    }

    /// The window in bytes: quinn sends while flight + packet < window.
    fn bytes(&self) -> u64 {
        let whole = self.window.cwnd.clamp(SMALLEST, CWND_LIMIT).floor();
        (whole * self.mss()) as u64 + 1
    }

    /// Part of an IP packet that counts as a segment.
    fn payload(&self) -> f64 {
        // The shaper counts what each packet really has.
        self.mss() / (self.mss() + f64::from(crate::IP_HEADERS))
    }

    /// Passes the state of the path on, where it has changed or `min_rtt` is new.
    fn hint(&mut self, min_rtt: Option<Span>) {
        if !self.needs_path {
            return;
        }
        let rate = self.path.rate();
        if rate == self.hinted && min_rtt.is_none() {
            return;
        }
        self.hinted = rate;
        let rtt = self.known_rtt();
        if let Some(hint) = self.path.hint(self.payload(), Some(rtt)) {
            self.control.on_path(&hint, &mut self.window);
        }
    }

    /// The round trip that the window of a control that knows the path covers: the
    /// smallest one, no shorter than the configured one, and the time that the
    /// other box may hold an acknowledgement back.
    fn known_rtt(&self) -> Span {
        let configured = self.path.rtt();
        let measured = Some(self.min_rtt).filter(|rtt| *rtt != Span::MAX);
        measured.unwrap_or(configured).max(configured) + ACK_DELAY
    }

    /// After each call of the control: what it asks for besides the window.
    fn settle(&mut self) {
        if self.window.actions.limits_rate {
            self.record.limit(self.flight);
        }
        self.window.actions = bentpipe_cc::Actions::default();
        // A control that is given the link's rate leaves pacing to the shaper, which has the same
        // rate.
        let shaped = self.needs_path && self.path.rate().is_some();
        let payload = self.payload();
        let pace = self.window.pacing_rate.filter(|_| !shaped);
        let pace = pace.map(|rate| Rate::from_bps_f64(rate.bps_f64() / payload));
        if pace != self.pace {
            self.pace = pace;
            self.path.set_pace(pace);
        }
        self.sums.max_cwnd = self.sums.max_cwnd.max(self.window.cwnd);
    }

    fn sent(&mut self, now: Instant, bytes: u64) {
        self.hint(None);
        if self.rate_samples {
            self.record.sent(now, bytes, self.flight);
        }
        self.flight += bytes;
        let window = self.bytes();
        self.filled |= self.flight + 2 * u64::from(self.mtu) > window;
    }

    fn acknowledged(&mut self, sent: Instant, bytes: u64) {
        self.batch.bytes += bytes;
        self.batch.newest = self.batch.newest.max(Some(sent));
        self.record.acknowledged(sent, bytes);
    }

    /// The end of an acknowledgement frame.
    fn acknowledge(&mut self, now: Instant, flight: u64, app_limited: bool) {
        let batch = std::mem::take(&mut self.batch);
        let flight_before = flight + batch.bytes;
        self.flight = flight;
        let Some(newest) = batch.newest else { return };
        let rtt = span(now.saturating_duration_since(newest));
        let packets = (batch.bytes as f64 / self.payload()) as u64;
        self.path.acknowledged(packets, rtt);
        self.sums.rtt_ns += u128::from(rtt.as_nanos());
        self.sums.samples += 1;
        let smaller = rtt < self.min_rtt;
        self.min_rtt = self.min_rtt.min(rtt);
        // As RFC 6298; quinn's own is one acknowledgement behind.
        self.smoothed = if self.smoothed.is_zero() {
            rtt
        } else {
            Span::from_nanos((self.smoothed.as_nanos() / 8).saturating_mul(7) + rtt.as_nanos() / 8)
        };
        if !self.established {
            self.established = true;
            self.control.on_established(Some(rtt), &mut self.window);
        }
        self.hint(smaller.then_some(self.min_rtt));
        if app_limited {
            self.record.limit(flight);
        }
        let ack = self.describe(now, rtt, batch, flight_before, app_limited);
        self.control.on_sample(&ack, &mut self.window);
        self.end_recovery(newest, ack.now);
        if self.recovery.is_none() {
            self.control.on_ack(&ack, &mut self.window);
        }
        if self.owns_window {
            let repair = self.recovery.map_or(Repair::None, |it| it.repair);
            self.control.on_control(&ack, repair, &mut self.window);
        }
        self.filled = false;
        self.settle();
    }

    fn describe(
        &mut self,
        now: Instant,
        rtt: Span,
        batch: Batch,
        flight_before: u64,
        app_limited: bool,
    ) -> Ack {
        let mss = u32::from(self.mtu);
        let rate_sample = self.record.sample(now, self.min_rtt, mss);
        let newest = batch.newest.unwrap_or(now);
        let (round_start, delivery_rate) = self.rounds.count(now, newest, batch.bytes);
        let full = !self.path.may_hold_back()
            || self.filled
            || flight_before + 2 * u64::from(self.mtu) > self.bytes();
        let delivered = self.segments(batch.bytes);
        Ack {
            now: self.time(now),
            acked: delivered,
            delivered,
            duplicate: false,
            rtt: Some(rtt),
            min_rtt: if self.needs_path {
                self.known_rtt()
            } else {
                self.min_rtt
            },
            smoothed_rtt: self.smoothed,
            delivery_rate,
            rate_sample,
            lost: std::mem::take(&mut self.lost),
            probes: 0,
            high_probes: 0,
            congestion_echo: false,
            flight_before: self.segments(flight_before),
            flight: self.segments(self.flight),
            outstanding: self.segments(self.flight),
            head: None,
            cwnd_limited: full && !app_limited,
            round_start,
            in_recovery: self.recovery.is_some(),
            receive_window: CWND_LIMIT,
            mss,
        }
    }

    /// Ends the recovery when what was sent after its beginning arrives.
    fn end_recovery(&mut self, newest: Instant, now: Time) {
        if self.recovery.is_none_or(|it| newest <= it.began) {
            return;
        }
        let ended = self.recovery.take();
        if ended.is_some_and(|it| it.repair == Repair::Recovery) {
            let exit = RecoveryExit {
                now,
                flight: self.segments(self.flight),
                recovery_fix: false,
                min_rtt: self.min_rtt,
                mss: u32::from(self.mtu),
            };
            self.control.on_recovery_exit(&exit, &mut self.window);
        }
    }

    /// Packets were lost, the newest of them sent at `sent`, or, with no bytes,
    /// marked.
    fn congested(&mut self, now: Instant, sent: Instant, persistent: bool, bytes: u64) {
        let flight = self.segments(self.flight);
        self.flight = self.flight.saturating_sub(bytes);
        self.lost += self.segments(bytes);
        if persistent {
            self.sums.persistent += 1;
            let again = self.recovery.is_some_and(|it| it.repair == Repair::Timeout);
            let timeout = Timeout {
                now: self.time(now),
                flight,
                outstanding: flight,
                first: !again,
                min_rtt: self.min_rtt,
                mss: u32::from(self.mtu),
            };
            self.control.on_timeout(&timeout, &mut self.window);
            // RFC 9002, appendix B.8: older losses may reduce the window again.
            self.reduced = None;
            self.recovery = Some(Recovery {
                began: now,
                repair: Repair::Timeout,
            });
        } else if self.reduced.is_none_or(|began| sent > began) {
            self.sums.reductions += 1;
            let loss = Loss {
                now: self.time(now),
                flight,
                outstanding: flight,
                ecn: bytes == 0,
                head: None,
                smoothed_rtt: self.smoothed,
                min_rtt: self.min_rtt,
                mss: u32::from(self.mtu),
            };
            self.control.on_loss(&loss, &mut self.window);
            self.reduced = Some(now);
            self.recovery = Some(Recovery {
                began: now,
                repair: Repair::Recovery,
            });
        }
        self.settle();
    }

    /// True where quinn's pacer, at 5/4 of the window in its smoothed round trip, would
    /// be slower than the shaper: after a first sample that was far too long, because
    /// the link came up during the handshake, it would be so for many round trips.
    fn is_held_back(&self, window: u64) -> bool {
        let rate = self.path.rate().filter(|_| self.needs_path);
        rate.is_some_and(|rate| {
            let paced = window as f64 * 8.0 * 1.25;
            paced < rate.bps_f64() * 1.2 * self.pacing_rtt.as_secs_f64()
        })
    }

    /// Keeps the window in bytes where packets become larger or smaller.
    fn resize(&mut self, mtu: u16) {
        let scale = self.mss() / f64::from(mtu.max(1));
        self.mtu = mtu;
        self.window.mss = u32::from(mtu);
        self.window.cwnd = (self.window.cwnd * scale).max(SMALLEST);
        self.window.ssthresh = (self.window.ssthresh * scale).max(SMALLEST);
        self.hinted = None;
        self.hint(None);
    }
}
