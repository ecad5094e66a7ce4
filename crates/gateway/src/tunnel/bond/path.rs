//! An association, or the fallback of one, as bonded connections see it: its delay, its rate, and
//! whether it works.

use crate::tunnel::association::{Close, progress};
use crate::tunnel::known::Knowledge;
use crate::tunnel::sharing::Gate;
use bentpipe_units::Rate;
use quinn::{Connection, ConnectionError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the other box may take, besides one and a half round trips, to acknowledge what was sent. QUIC
/// finds a loss and repairs it within that; a path that does neither has gone.
const SLACK: Duration = Duration::from_millis(300);
/// What may wait in this box when something is sent, bytes.
const AHEAD: f64 = 64_000.0;
/// The longest round trip that counts: after an outage QUIC measures longer ones.
const LONGEST: Duration = Duration::from_secs(3);
/// How long what QUIC says holds: each question copies the state of its congestion control.
const FRESH: Duration = Duration::from_millis(2);
/// Time between two questions whether the fallback works again.
const ASK: Duration = Duration::from_millis(500);

/// A path as subflows use it; tests have their own.
pub(super) trait Way: std::fmt::Debug + Send + Sync {
    /// Time until what leaves now arrives.
    fn delay(&self) -> Duration;
    /// Time after which that should have been acknowledged.
    fn patience(&self) -> Duration;
    /// Bytes a second that it carries, as far as that is known.
    fn rate(&self) -> Option<f64>;
    /// Something has arrived by it.
    fn note_heard(&self, now: Instant);
    /// What left at that time is overdue. Where nothing that left after it has arrived either, the path
    /// does not work.
    fn note_overdue(&self, left: Instant, now: Instant);
    /// Whether it does not deliver, for all that is known.
    fn is_late(&self) -> bool;
    /// Whether it is late and somebody is to ask now whether it works again.
    fn asks(&self, now: Instant) -> bool;
}

/// A way to the other box that bonded connections share.
#[derive(Debug)]
pub(crate) struct Path {
    /// `None` for the fallback.
    connection: Option<Connection>,
    gate: Option<Arc<Gate>>,
    knowledge: Arc<Knowledge>,
    late: Mutex<Late>,
    /// This box has ended it because the other one has gone.
    gone: AtomicBool,
    seen: Mutex<Option<Seen>>,
}

/// What QUIC has said of an association.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    rtt: Duration,
    /// When the newest packet left that is acknowledged.
    newest: Option<Instant>,
}

#[derive(Debug)]
struct Late {
    /// When it was last found that it does not deliver.
    since: Option<Instant>,
    /// When something arrived by the fallback, and when it was last asked whether it works.
    heard: Instant,
    asked: Option<Instant>,
}

impl Path {
    /// That of an association.
    pub(crate) fn quic(
        connection: &Connection,
        gate: &Arc<Gate>,
        knowledge: &Arc<Knowledge>,
    ) -> Arc<Path> {
        Path::new(Some((connection, gate)), knowledge)
    }

    /// That of the fallback over this link.
    pub(crate) fn tls(knowledge: &Arc<Knowledge>) -> Arc<Path> {
        Path::new(None, knowledge)
    }

    fn new(quic: Option<(&Connection, &Arc<Gate>)>, knowledge: &Arc<Knowledge>) -> Arc<Path> {
        Arc::new(Path {
            connection: quic.map(|(connection, _)| connection.clone()),
            gate: quic.map(|(_, gate)| Arc::clone(gate)),
            knowledge: Arc::clone(knowledge),
            late: Mutex::new(Late {
                since: None,
                heard: Instant::now(),
                asked: None,
            }),
            gone: AtomicBool::new(false),
            seen: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Late> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self, connection: &Connection) -> Seen {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match *seen {
            Some(seen) if seen.at.elapsed() < FRESH => seen,
            _ => {
                let (acknowledged, _) = progress(connection);
                *seen.insert(Seen {
                    at: Instant::now(),
                    rtt: acknowledged.rtt.unwrap_or_else(|| connection.rtt()),
                    newest: acknowledged.newest,
                })
            }
        }
    }

    /// Its round trip now, with the queues on the way.
    fn rtt(&self) -> Duration {
        match &self.connection {
            Some(connection) => self.seen(connection).rtt.min(LONGEST),
            None => self.knowledge.rtt(),
        }
    }

    /// This box ends it, and what it has carried: the process of the other one has gone, or is not known
    /// any more.
    pub(crate) fn note_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// The association stands.
    pub(super) fn stands(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|it| it.close_reason().is_none())
    }

    /// The other box has ended it, or does not know it any more: its process has gone, and what it had.
    pub(super) fn is_gone(&self) -> bool {
        if self.gone.load(Ordering::Relaxed) {
            return true;
        }
        let reason = self.connection.as_ref().and_then(Connection::close_reason);
        match reason {
            Some(ConnectionError::ApplicationClosed(close)) => {
                close.error_code != Close::Replaced.code()
            }
            Some(ConnectionError::Reset) => true,
            _ => false,
        }
    }

    /// When the newest packet left that the other box is known to have.
    fn newest(&self) -> Option<Instant> {
        match &self.connection {
            Some(connection) => self.seen(connection).newest,
            None => Some(self.lock().heard),
        }
    }
}

impl Way for Path {
    /// Half of the round trip, since nothing tells the two directions apart, and what waits in this box.
    fn delay(&self) -> Duration {
        let waits = self.gate.as_ref().zip(self.rate());
        let waits = waits.map_or(0.0, |(gate, rate)| gate.backlog() as f64 / rate);
        self.rtt() / 2 + Duration::from_secs_f64(waits.min(LONGEST.as_secs_f64()))
    }

    fn patience(&self) -> Duration {
        // The rate that the congestion control allows says nothing here: it collapses when the path goes,
        // and what left just before would not be missed for minutes.
        let rate = self.knowledge.rate().map(|rate| rate.bps_f64() / 8.0);
        let waits = match (rate, self.rate()) {
            (Some(rate), _) => (AHEAD / rate).min(60.0),
            (None, Some(measured)) => (AHEAD / measured).min(1.0),
            (None, None) => 0.0,
        };
        self.rtt() * 3 / 2 + SLACK + Duration::from_secs_f64(waits)
    }

    fn rate(&self) -> Option<f64> {
        let known = || self.knowledge.rate().map(Rate::bps_f64);
        let bits = self.gate.as_ref().map_or_else(known, |gate| gate.rate());
        bits.filter(|bits| *bits > 0.0).map(|bits| bits / 8.0)
    }

    fn note_heard(&self, now: Instant) {
        if self.connection.is_none() {
            self.lock().heard = now;
        }
    }

    fn note_overdue(&self, left: Instant, now: Instant) {
        if self.newest().is_none_or(|newest| newest <= left) {
            self.lock().since = Some(now);
        }
    }

    fn is_late(&self) -> bool {
        let Some(since) = self.lock().since else {
            return false;
        };
        let is_late = self.newest().is_none_or(|newest| newest <= since);
        if !is_late {
            self.lock().since = None;
        }
        is_late
    }

    /// Heartbeats ask it of an association.
    fn asks(&self, now: Instant) -> bool {
        if self.connection.is_some() || !self.is_late() {
            return false;
        }
        let mut late = self.lock();
        let due = late
            .asked
            .is_none_or(|at| now.saturating_duration_since(at) >= ASK);
        if due {
            late.asked = Some(now);
        }
        due
    }
}
