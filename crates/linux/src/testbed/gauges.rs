//! What a sender's kernel says of its connection (TCP_INFO), looked at again
//! and again.
//!
//! Timeouts the kernel counts itself (6.7 and later). Recoveries and
//! reductions of the window are seen as changes of its state between two looks:
//! one that begins and ends between two looks is missed.

use super::quic::Seen;
use crate::sys;
use bentpipe_cc::Phase;
use bentpipe_outcome::SenderSample;
use bentpipe_traffic::{Application, Deadline};
use bentpipe_units::{Duration, Time};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts of one flow that the tap notes at checkpoints.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    timeouts: AtomicU64,
    reductions: AtomicU64,
    /// Of a flow over QUIC, which no kernel knows.
    pub(crate) quic: Arc<Mutex<Seen>>,
    /// Its packets that have a deadline.
    deadline: Option<Mutex<Deadline>>,
}

impl Gauges {
    /// The counts of a flow with that application.
    pub(crate) fn new(application: &Application) -> Gauges {
        let limit = match application {
            Application::ConstantRate { deadline, .. } => *deadline,
            _ => None,
        };
        Gauges {
            deadline: limit.map(|limit| Mutex::new(Deadline::new(limit))),
            ..Gauges::default()
        }
    }

    /// The packets of a flow that have a deadline.
    pub(crate) fn deadline(&self) -> Option<MutexGuard<'_, Deadline>> {
        let deadline = self.deadline.as_ref()?;
        Some(deadline.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn timeouts(&self) -> u64 {
        self.timeouts.load(Ordering::Relaxed)
    }

    pub(crate) fn reductions(&self) -> u64 {
        self.reductions.load(Ordering::Relaxed)
    }

    /// What the ends of a flow over QUIC have come to.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.quic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// States of a sender (`enum tcp_ca_state`).
const DISORDER: u8 = 1;
const RECOVERY: u8 = 3;

/// A threshold that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u32 = 0x7fff_ffff;

/// The states in which a sender still sends: ESTABLISHED, FIN_WAIT1 (closed by the
/// application, its data not all acknowledged), CLOSE_WAIT, LAST_ACK and CLOSING.
const SENDING: [u8; 5] = [1, 4, 8, 9, 11];

/// The fields of `struct tcp_info` that the test bed reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Info {
    state: u8,
    recovery_state: u8,
    unacknowledged: u32,
    selectively_acknowledged: u32,
    lost: u32,
    sent_again: u32,
    rtt_us: u32,
    ssthresh: u32,
    cwnd: u32,
    retransmissions: u32,
    duplicates: u32,
    timeouts: u16,
}

impl Info {
    /// Reads it from a TCP socket.
    pub(crate) fn of(socket: impl AsFd) -> io::Result<Info> {
        let mut bytes = [0; 256];
        let length = sys::tcp_info(socket, &mut bytes)?;
        Ok(Info::parse(&bytes[..length]))
    }

    /// Fields by their offsets in linux/tcp.h; what an older kernel does not
    /// have is zero.
    fn parse(bytes: &[u8]) -> Info {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let word = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
            four.map_or(0, u32::from_ne_bytes)
        };
        let short = bytes.get(240..242).and_then(|b| b.try_into().ok());
        Info {
            state: byte(0),
            recovery_state: byte(1),
            unacknowledged: word(24),
            selectively_acknowledged: word(28),
            lost: word(32),
            sent_again: word(36),
            rtt_us: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            retransmissions: word(100),
            duplicates: word(216),
            timeouts: short.map_or(0, u16::from_ne_bytes),
        }
    }

    fn sends(&self) -> bool {
        SENDING.contains(&self.state)
    }

    fn phase(&self) -> Phase {
        if self.recovery_state > DISORDER {
            Phase::Recovery
        } else if self.cwnd < self.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// Segments in flight, as the kernel reckons them.
    fn flight(&self) -> u32 {
        let gone = self.selectively_acknowledged + self.lost;
        self.unacknowledged.saturating_sub(gone) + self.sent_again
    }
}

/// The sender of one flow, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    socket: Option<OwnedFd>,
    last: Info,
    /// What the connections before this one had counted.
    before: Totals,
    pub(crate) max_cwnd: u32,
    pub(crate) recoveries: u64,
    /// cwnd and ssthresh before the state that the sender is in.
    entered_with: Option<(u32, u32)>,
    reductions: u64,
    pub(crate) samples: Vec<SenderSample>,
    next_sample: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    retransmissions: u64,
    duplicates: u64,
    timeouts: u64,
}

impl Watched {
    /// From now on the flow's data are sent from this socket.
    pub(crate) fn set(&mut self, socket: OwnedFd) {
        self.fold();
        self.socket = Some(socket);
    }

    fn fold(&mut self) {
        self.before = self.totals();
        self.last = Info::default();
        self.entered_with = None;
    }

    fn totals(&self) -> Totals {
        Totals {
            retransmissions: self.before.retransmissions + u64::from(self.last.retransmissions),
            duplicates: self.before.duplicates + u64::from(self.last.duplicates),
            timeouts: self.before.timeouts + u64::from(self.last.timeouts),
        }
    }

    /// Looks at the socket; a sample is kept every `series`, or when the phase
    /// changes.
    pub(crate) fn look(&mut self, now: Time, series: Option<Duration>, gauges: &Gauges) {
        let Some(Ok(info)) = self.socket.as_ref().map(Info::of) else {
            self.look_at_quic(now, series, gauges);
            return;
        };
        if info.sends() {
            self.note(now, info, series);
            gauges
                .timeouts
                .store(self.totals().timeouts, Ordering::Relaxed);
            gauges.reductions.store(self.reductions, Ordering::Relaxed);
        }
    }

    /// A sample of a sender over QUIC, where the flow has one.
    fn look_at_quic(&mut self, now: Time, series: Option<Duration>, gauges: &Gauges) {
        let (Some(interval), true) = (series, now >= self.next_sample) else {
            return;
        };
        if let Some(sample) = gauges.seen().sample(now) {
            self.next_sample = now + interval;
            self.samples.push(sample);
        }
    }

    fn note(&mut self, now: Time, info: Info, series: Option<Duration>) {
        let before = self.last;
        self.max_cwnd = self.max_cwnd.max(info.cwnd);
        self.count(&before, &info);
        self.last = info;
        let Some(interval) = series else { return };
        let phase = info.phase().name();
        if now < self.next_sample && self.samples.last().is_some_and(|s| s.phase == phase) {
            return;
        }
        self.next_sample = now + interval;
        let totals = self.totals();
        self.samples.push(SenderSample {
            at: now,
            cwnd: f64::from(info.cwnd),
            ssthresh: if info.ssthresh >= INFINITE {
                f64::INFINITY
            } else {
                f64::from(info.ssthresh)
            },
            flight: f64::from(info.flight()),
            rtt: Duration::from_micros(u64::from(info.rtt_us)),
            retransmissions: totals.retransmissions,
            spurious_retransmissions: totals.duplicates,
            phase,
        });
    }

    /// Counts what the step from one look to the next shows.
    fn count(&mut self, before: &Info, now: &Info) {
        let (was, is) = (before.recovery_state, now.recovery_state);
        if is == RECOVERY && was != RECOVERY {
            self.recoveries += 1;
        }
        if is > was && is > DISORDER {
            // CWR, Recovery or Loss, and a timeout in any of them.
            if self.entered_with.is_none() {
                self.entered_with = Some((before.cwnd, before.ssthresh));
            }
            self.reductions += 1;
        }
        if is <= DISORDER
            && let Some((cwnd, ssthresh)) = self.entered_with.take()
            && now.cwnd >= cwnd
            && now.ssthresh >= ssthresh
        {
            // Undone, or nothing was cut.
            self.reductions = self.reductions.saturating_sub(1);
        }
    }

    /// Number of retransmission timeouts so far.
    pub(crate) fn timeouts(&self) -> u64 {
        self.totals().timeouts
    }

    /// Times that the window was reduced.
    pub(crate) fn reductions(&self) -> u64 {
        self.reductions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(recovery_state: u8, cwnd: u32, ssthresh: u32) -> Info {
        Info {
            state: 1,
            recovery_state,
            cwnd,
            ssthresh,
            ..Info::default()
        }
    }

    fn run(steps: &[Info]) -> Watched {
        let mut watched = Watched::default();
        for (i, step) in steps.iter().enumerate() {
            let now = Time::ZERO + Duration::from_millis(i as u64);
            watched.note(now, *step, Some(Duration::ZERO));
        }
        watched
    }

    #[test]
    fn fields_are_where_the_kernel_has_them() {
        let mut bytes = [0_u8; 248];
        bytes[0] = 1;
        bytes[1] = 4;
        for (at, value) in [(24, 9), (32, 2), (36, 1), (68, 511_000), (76, 20), (80, 30)] {
            bytes[at..at + 4].copy_from_slice(&u32::to_ne_bytes(value));
        }
        bytes[240..242].copy_from_slice(&3_u16.to_ne_bytes());
        let info = Info::parse(&bytes);
        assert_eq!((info.rtt_us, info.ssthresh, info.cwnd), (511_000, 20, 30));
        assert_eq!((info.flight(), info.timeouts), (8, 3));
        assert_eq!(info.phase(), Phase::Recovery);
        // An older kernel's is shorter.
        assert_eq!(Info::parse(&bytes[..104]).timeouts, 0);
        assert_eq!(Info::parse(&bytes[..104]).cwnd, 30);
    }

    #[test]
    fn a_recovery_is_one_reduction() {
        let watched = run(&[
            info(0, 40, INFINITE),
            info(3, 30, 20),
            info(3, 20, 20),
            info(0, 20, 20),
        ]);
        assert_eq!((watched.recoveries, watched.reductions()), (1, 1));
        assert_eq!(watched.max_cwnd, 40);
        let phases: Vec<&str> = watched.samples.iter().map(|s| s.phase).collect();
        assert_eq!(
            phases,
            ["slow_start", "recovery", "recovery", "congestion_avoidance"]
        );
        assert!(watched.samples[0].ssthresh.is_infinite());
    }

    #[test]
    fn a_timeout_in_recovery_is_a_second_reduction() {
        let watched = run(&[
            info(0, 40, INFINITE),
            info(3, 20, 20),
            info(4, 1, 10),
            info(0, 10, 10),
        ]);
        assert_eq!((watched.recoveries, watched.reductions()), (1, 2));
    }

    #[test]
    fn what_is_undone_does_not_count() {
        let watched = run(&[
            info(0, 40, INFINITE),
            info(3, 20, 20),
            info(0, 40, INFINITE),
        ]);
        assert_eq!((watched.recoveries, watched.reductions()), (1, 0));
        // Out of congestion avoidance the new threshold may exceed the old.
        let watched = run(&[info(0, 40, 10), info(3, 20, 20), info(0, 20, 20)]);
        assert_eq!(watched.reductions(), 1);
    }
}
