//! The life of a terminal's associations with one hub over one WAN, one after the other.

use super::connecting::{Failure, Made};
use super::{Current, Shared};
use crate::operate::Path;
use crate::tunnel::association::claims::Claim;
use crate::tunnel::association::throttle::Throttle;
use crate::tunnel::association::{Close, Health, Status, heartbeat, split, tails::Tails, words};
use crate::tunnel::bond;
use crate::tunnel::codec::{CARRIES_UDP, Direction};
use crate::tunnel::moving::Streams;
use crate::udp;
use quinn::ConnectionError;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// First and longest time between attempts to connect.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// The longest to a hub that is not needed, since another one answers: attempts are packets of full
/// size on the link that all share.
const RELAXED: Duration = Duration::from_secs(10);
/// Time until the next attempt where another terminal uses the same key: the two
/// must not take the association from each other all the time.
const REPLACED: Duration = Duration::from_secs(30);
/// Connects, and connects again for ever, unless an association is the last.
pub(super) async fn keep(shared: Arc<Shared>) {
    let mut wait = BACKOFF.0;
    loop {
        let connected = tokio::select! {
            biased;
            () = shared.finishes.notified() => return shared.end(None),
            connected = shared.connect() => connected,
        };
        let lost = match connected {
            Ok(made) if shared.last.load(Ordering::Relaxed) => {
                made.connection.close(Close::Stopping.code(), &[]);
                return shared.end(None);
            }
            Ok(made) => {
                wait = BACKOFF.0;
                let lost = shared.serve(made).await;
                if shared.last.load(Ordering::Relaxed) {
                    return shared.end(Some(&lost));
                }
                Failure::from(lost)
            }
            Err(lost) => lost,
        };
        if lost.replaced {
            wait = REPLACED;
        }
        shared.renew_endpoints();
        shared.status.send_if_modified(|status| {
            let reason = &lost.reason;
            if status.reason.as_ref() != Some(reason) || status.quic != Health::Down {
                tracing::warn!(hub = %shared.target.hub(), reason, "no association with the hub");
            }
            status.late = false;
            status.enter(Health::Down);
            status.reason = Some(reason.clone());
            true
        });
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shared.finishes.notified() => return shared.end(None),
            () = shared.hurry.notified(), if !lost.replaced => wait = BACKOFF.0,
        }
        let most = match shared.relaxed.load(Ordering::Relaxed) {
            true => RELAXED,
            false => BACKOFF.1,
        };
        wait = (2 * wait).min(most);
    }
}

impl Shared {
    /// Holds the address of the association that stands, in place of another.
    pub(super) fn claim(&self, claim: Option<Claim>) {
        *self.claim.lock().unwrap_or_else(PoisonError::into_inner) = claim;
    }

    /// Ends without another association, as the last of them was lost.
    fn end(&self, lost: Option<&ConnectionError>) {
        let hub = self.target.hub();
        match lost {
            Some(ConnectionError::ApplicationClosed(_)) | None => {
                tracing::info!(%hub, "the hub's old process has ended");
            }
            Some(lost) => {
                let reason = words(lost);
                tracing::warn!(%hub, reason, "the association with the hub's old process is lost");
            }
        }
        self.status.send_modify(|status| {
            status.enter(Health::Down);
        });
    }

    /// Serves an association until it is lost.
    async fn serve(&self, mut made: Made) -> ConnectionError {
        self.claim(made.claim.take());
        let lost = self.carry(&made).await;
        self.claim(None);
        lost
    }

    async fn carry(&self, made: &Made) -> ConnectionError {
        let Made {
            connection, gate, ..
        } = made;
        let address = connection.remote_address();
        self.target.answered(address);
        tracing::info!(hub = %self.target.hub(), %address, rtt = ?connection.rtt(), "associated with the hub");
        let moves = self.fallback.is_some();
        self.current.send_replace(Some(Current {
            connection: connection.clone(),
            streams: moves.then(|| Streams::of(connection)),
            gate: Arc::clone(gate),
            peer: made.peer,
            path: bond::Path::quic(connection, gate, self.uplink.sending.knowledge()),
            process: made.process,
            part: Arc::new(tokio::sync::Mutex::new(split::WHOLE)),
        }));
        self.status.send_modify(|status| {
            status.enter(Health::Up);
            status.rtt = Some(connection.rtt());
            status.reason = None;
            status.handed_over = false;
            status.associations += 1;
        });
        let state = &self.common.state;
        let counters = &state.counters;
        counters.associations_opened.increment();
        let wan = self.uplink.name.as_deref();
        let listed = state.list(&made.peer.to_string(), wan, Path::Quic(connection.clone()));
        let budget = self.uplink.sending.budget();
        let mut throttle = Throttle::new(self.uplink.sending.knowledge(), gate.peer(), budget);
        let mut lost_before = None;
        let mut leaving = JoinSet::new();
        let entrance = &self.common.entrance;
        let way = (made.hub & CARRIES_UDP != 0).then(|| {
            let (gate, state) = (Arc::clone(gate), Arc::clone(state));
            leaving.spawn(udp::leave(connection.clone(), Arc::clone(&gate), state));
            entrance.open(self.owner, gate)
        });
        let tails = Tails::start(connection, gate, &made.socket, state, &mut leaving);
        let take = |datagram| {
            if let Some(way) = &way {
                entrance.take(way.association(), datagram);
            }
        };
        let lost = heartbeat::keep(connection, take, |beat| {
            listed.note_lost(beat.lost);
            let mut beat = beat;
            if beat.handed_over {
                // Repairs name no process, and would reach the new one.
                beat.restored = None;
            }
            tails.see(&beat);
            let outage = beat.lost.is_some();
            let up = throttle.suspects(Instant::now(), outage, gate.waited(), &beat.stats);
            if up || beat.warned {
                let direction = if up { Direction::Up } else { Direction::Down };
                // Where one is being looked into, this one waits for its successor.
                let _ = self.suspect.try_send(direction);
            }
            listed.note_draining(beat.drains);
            // Who chooses among the hubs follows their states.
            let tells = |status: &mut Status| !std::mem::replace(&mut status.handed_over, true);
            if beat.handed_over && self.status.send_if_modified(tells) {
                tracing::info!(hub = %self.target.hub(), "the hub has handed over to another process");
            }
            let health = match (beat.drains, outage) {
                (true, _) => Health::Draining,
                (false, true) => Health::Outage,
                (false, false) => Health::Up,
            };
            self.status.send_if_modified(|status| {
                let changed = status.quic != health;
                // Which direction it is may be known later.
                let says = changed || lost_before != beat.lost;
                if says {
                    status.reason = beat.lost.map(|lost| lost.words("hub"));
                    match &status.reason {
                        _ if beat.drains => {
                            let reason = "the hub is about to stop, and takes no new connections";
                            status.reason = Some(reason.to_owned());
                            tracing::warn!(hub = %self.target.hub(), "{reason}");
                        }
                        Some(reason) => {
                            counters.outages.add(changed.into());
                            tracing::warn!(hub = %self.target.hub(), "{reason}");
                        }
                        None => tracing::info!(hub = %self.target.hub(), "the hub answers again"),
                    }
                }
                lost_before = beat.lost;
                let late = std::mem::replace(&mut status.late, beat.late) != beat.late;
                status.rtt = Some(beat.rtt);
                status.enter(health);
                says || late
            });
        })
        .await;
        self.current.send_replace(None);
        drop(way);
        gate.close();
        counters.udp_dropped.add(gate.take_dropped());
        counters.associations_lost.increment();
        lost
    }
}
