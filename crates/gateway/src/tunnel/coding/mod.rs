//! Repairs for what is sent last, so that a lost packet of it costs no round trip.
//!
//! QUIC finds a lost packet when later ones are acknowledged, and sends its data again: a round trip later.
//! Inside a transfer this costs little, since the others go on. At its end all of it waits; and what is
//! lost of the last packets is found by a probe only, later still (RFC 9002, section 6.2). A box that
//! has seen loss therefore sends repairs after the last packets before a pause (`Outgoing`), from which
//! the other box restores what is missing (`Incoming`).
//!
//! The code is below QUIC, over its encrypted packets as the socket sends and receives them. It covers
//! whatever they carry, streams, their ends and datagrams alike. A restored packet is to QUIC one that
//! arrived late: its encryption verifies it, and QUIC may have found it lost and sends its data again, as it
//! would without the code (RFC 9265, section 5, on codes below the transport). What is saved is the wait of
//! the receiver. Repairs take their turn in the [shaper](super::shaper) and at most a tenth of the rate.
//!
//! Loss counts as seen where a thousandth of the packets is lost, or where the other direction loses some
//! and few packets are sent in this one ([`bentpipe_quic::coding`], whose arithmetic the simulator has as
//! well). What an outage costs does not count, nor what a link loses that delivers less than its rate
//! (`loss`).
//!
//! A box sends repairs only to one that has said that it reads them. Whoever can send packets in the name of
//! the other box can send repairs, too, which make it keep the last packets, and compute a little; they can
//! put nothing into the association.

mod field;
mod incoming;
mod loss;
mod outgoing;
mod paths;
mod repair;

pub(super) use paths::Paths;
pub(super) use repair::is_repair;

use bentpipe_units::Rate;
use incoming::Incoming;
use loss::{Loss, Totals};
use outgoing::{Conditions, Group, Outgoing, PACKET};
use paths::Place;
use quinn::udp::EcnCodepoint;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Bits a second that are assumed of a link of unknown rate.
const UNKNOWN: f64 = 10e6;

/// What is known of the path of an association.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Packets that were sent so far, and those of them that QUIC has found to be lost.
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Packets that the other box has restored so far; `None` where it does not read repairs.
    pub(super) restored: Option<u64>,
    pub(super) rtt: Duration,
    /// The rate that packets may take.
    pub(super) rate: Option<Rate>,
    /// The link is away, or delivers less than its rate.
    pub(super) interrupted: bool,
}

/// The code of one association, in both directions.
#[derive(Debug)]
pub(super) struct Coding {
    paths: Arc<Paths>,
    /// Packets that are sent are kept.
    sends: AtomicBool,
    /// What is sent next carries more than acknowledgements.
    carries: AtomicBool,
    sending: Mutex<Sending>,
    /// Packets were sent after all had been covered, or a stream has paused.
    changed: Notify,
    /// Packets that are received are kept.
    receives: AtomicBool,
    receiving: Mutex<Option<(Incoming, Place)>>,
    restored: AtomicU64,
}

#[derive(Debug, Default)]
struct Sending {
    loss: Loss,
    /// Where loss is seen: the packets and what repairs are made with.
    active: Option<(Outgoing, Conditions, Place)>,
    ecn: Option<EcnCodepoint>,
}

/// Repairs that are to be made and sent.
#[derive(Debug)]
pub(super) struct Due {
    groups: Vec<Group>,
    conditions: Conditions,
    /// That of the packets: a restored packet has that of its repair.
    pub(super) ecn: Option<EcnCodepoint>,
}

impl Coding {
    /// That of an association over one of these paths.
    pub(super) fn new(paths: &Arc<Paths>) -> Arc<Coding> {
        Arc::new(Coding {
            paths: Arc::clone(paths),
            sends: AtomicBool::new(false),
            carries: AtomicBool::new(false),
            sending: Mutex::default(),
            changed: Notify::new(),
            receives: AtomicBool::new(false),
            receiving: Mutex::new(None),
            restored: AtomicU64::new(0),
        })
    }

    /// The paths of all associations of its link.
    pub(super) const fn paths(&self) -> &Arc<Paths> {
        &self.paths
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins or ends to send repairs, as the path needs them.
    pub(super) fn see(&self, now: Instant, seen: &Seen) {
        let mut sending = self.sending();
        let totals = Totals {
            sent: seen.sent,
            // Most that the other box restores QUIC finds lost as well; of the last packets it does not.
            lost: seen.lost.max(seen.restored.unwrap_or(0)),
            lost_of_other: self.restored(),
        };
        sending.loss.take(now, totals, seen.interrupted, seen.rtt);
        let wanted = seen.restored.is_some() && !seen.interrupted;
        let Some(share) = sending.loss.share().filter(|_| wanted) else {
            self.sends.store(false, Relaxed);
            sending.active = None;
            return;
        };
        let rate = seen.rate.map_or(UNKNOWN, Rate::bps_f64) / 8.0;
        let conditions = Conditions {
            share,
            rtt: seen.rtt,
            rate,
            wait: bentpipe_quic::coding::pause(seen.rtt, rate, PACKET),
        };
        match &mut sending.active {
            Some((_, known, _)) => *known = conditions,
            none => {
                let place = self.paths.send();
                *none = place.map(|place| (Outgoing::default(), conditions, place));
                self.sends.store(none.is_some(), Relaxed);
            }
        }
    }

    /// True where packets that are sent are kept.
    pub(super) fn sends(&self) -> bool {
        self.sends.load(Relaxed)
    }

    /// What QUIC sends next carries more than acknowledgements, which need no repair.
    pub(super) fn note_carries(&self) {
        self.carries.store(true, Relaxed);
    }

    /// The socket has sent these packets.
    pub(super) fn sent<'a>(
        &self,
        now: Instant,
        packets: impl Iterator<Item = &'a [u8]>,
        ecn: Option<EcnCodepoint>,
    ) {
        if !self.sends() || !self.carries.swap(false, Relaxed) {
            return;
        }
        let mut sending = self.sending();
        sending.ecn = ecn;
        if let Some((outgoing, ..)) = &mut sending.active {
            let waits = outgoing.is_empty();
            packets.for_each(|packet| outgoing.sent(now, packet));
            if waits {
                self.changed.notify_one();
            }
        }
    }

    /// A small stream has nothing more to send for now, after so many bytes.
    pub(super) fn pause(&self, bytes: u64) {
        if !self.sends() {
            return;
        }
        if let Some((outgoing, conditions, _)) = &mut self.sending().active {
            outgoing.pause(Instant::now(), bytes, conditions);
            self.changed.notify_one();
        }
    }

    /// Waits until repairs are due. `idle` says whether nothing waits to be sent. It may be dropped at any
    /// time and loses nothing.
    pub(super) async fn due(&self, idle: impl Fn() -> bool) -> Due {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut sending = self.sending();
                let ecn = sending.ecn;
                match &mut sending.active {
                    None => None,
                    Some((outgoing, conditions, _)) => {
                        let (idle, conditions) = (idle(), *conditions);
                        let due = outgoing.due(idle, &conditions);
                        let now = Instant::now();
                        if due.is_some_and(|due| due <= now) {
                            let groups = outgoing.take(now, idle, &conditions);
                            return Due {
                                groups,
                                conditions,
                                ecn,
                            };
                        }
                        // Whether something waits may change without a word.
                        due.map(|due| due.min(now + conditions.wait))
                    }
                }
            };
            match due {
                Some(due) => {
                    let _ = tokio::time::timeout_at(due.into(), changed).await;
                }
                None => changed.await,
            }
        }
    }

    /// The repairs, as datagrams: of one group after the other, as they are asked for.
    pub(super) fn repairs<'a>(&'a self, due: &'a Due) -> impl Iterator<Item = Vec<u8>> + 'a {
        let of_group = |group: &Group| group.repairs(&due.conditions, self.paths.credit());
        due.groups.iter().flat_map(of_group)
    }

    /// True where packets that arrive are kept.
    pub(super) fn receives(&self) -> bool {
        self.receives.load(Relaxed)
    }

    /// A datagram has arrived, which may be a repair; returns the packets that it restores.
    pub(super) fn received(&self, now: Instant, datagram: &[u8]) -> Vec<Box<[u8]>> {
        let repair = repair::is_repair(datagram)
            .then(|| repair::decode(datagram))
            .flatten();
        if repair.is_none() && !self.receives() {
            return Vec::new();
        }
        let mut receiving = self
            .receiving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let restored = match (repair, &mut *receiving) {
            (Some(repair), Some((incoming, _))) => incoming.repair(now, &repair),
            (None, Some((incoming, _))) => {
                incoming.received(datagram);
                Vec::new()
            }
            // Those that follow the next packets will be of use.
            (Some(_), none) => {
                let place = self.paths.receive();
                *none = place.map(|place| (Incoming::new(now), place));
                Vec::new()
            }
            (None, None) => Vec::new(),
        };
        if receiving
            .as_ref()
            .is_some_and(|(incoming, _)| incoming.is_over(now))
        {
            *receiving = None;
        }
        self.receives.store(receiving.is_some(), Relaxed);
        self.restored.fetch_add(restored.len() as u64, Relaxed);
        restored
    }

    /// Packets that were restored so far.
    pub(super) fn restored(&self) -> u64 {
        self.restored.load(Relaxed)
    }
}

/// Reads datagrams as what the other box sends, and restores what it can: for fuzzing.
#[doc(hidden)]
pub fn fuzz(datagrams: &[&[u8]]) {
    let coding = Coding::new(&Arc::default());
    let now = Instant::now();
    for datagram in datagrams {
        let _ = coding.received(now, datagram);
    }
}

#[cfg(test)]
mod tests;
