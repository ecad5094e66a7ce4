//! Repairs for what is sent last, so that a lost packet of it costs no round trip.
//!
//! QUIC finds a lost packet when later ones are acknowledged, and sends its data again: a round trip later.
//! Inside a transfer this costs little, since the others go on. At its end all of it waits; and what is lost of the last packets
//! is found by a probe only, later still (RFC 9002, section 6.2). A box that has seen loss therefore
//! sends repairs after the last packets before a pause ([`Outgoing`]), from which the other box restores
//! what is missing ([`Incoming`]).
//!
//! The code is below QUIC, over its encrypted packets as the socket sends and receives them. It covers
//! whatever they carry, streams, their ends and datagrams alike, and a restored packet is to QUIC one that arrived late:
//! its encryption verifies it. Congestion control, and what counts as lost, stay as they are (RFC 9265,
//! section 5, on codes below the transport); repairs take their turn in the [shaper](super::shaper) and at
//! most a tenth of the rate. Loss counts as seen where a thousandth of the packets is lost, in either direction;
//! what an outage costs does not count, nor does what a link loses that delivers less than its rate ([`loss`]).
//!
//! A box sends repairs only to one that has said that it reads them. Whoever can send packets in the name of the other
//! box can send repairs, too, which make it keep the last packets, and compute a little; they can
//! put nothing into the association.

mod field;
mod incoming;
mod loss;
mod outgoing;
mod repair;

use bentpipe_units::Rate;
use incoming::Incoming;
use loss::{Loss, Totals};
use outgoing::{Conditions, Credit, Outgoing};
use quinn::udp::EcnCodepoint;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Parts of a round trip after which a pause counts as one; and the limits of that time.
const PARTS: u32 = 32;
const WAIT: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// The same in full packets of the rate: on a slow link packets are that far apart.
const WAIT_PACKETS: f64 = 3.0 * 1_500.0 * 8.0;
/// Bits a second that are assumed of a link of unknown rate.
const UNKNOWN: f64 = 10e6;
/// Associations of one socket that keep packets at a time; each keeps up to 300 kB.
const MOST_KEEPING: usize = 128;

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

/// What the associations of one socket have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// Those that keep packets.
    keeping: AtomicUsize,
    /// What all of their repairs may take of the link.
    credit: Mutex<Credit>,
}

/// The place of one that keeps packets.
#[derive(Debug)]
struct Place(Arc<Common>);

impl Common {
    fn take(self: &Arc<Common>) -> Option<Place> {
        let more = |count| (count < MOST_KEEPING).then_some(count + 1);
        let taken = self.keeping.fetch_update(Relaxed, Relaxed, more);
        taken.is_ok().then(|| Place(Arc::clone(self)))
    }

    /// Some keep packets.
    pub(super) fn any_keeps(&self) -> bool {
        self.keeping.load(Relaxed) > 0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.keeping.fetch_sub(1, Relaxed);
    }
}

/// The code of one association, in both directions.
#[derive(Debug)]
pub(super) struct Coding {
    common: Arc<Common>,
    /// Packets that are sent are kept.
    sends: AtomicBool,
    /// Packets were sent that QUIC wants acknowledged; those that only acknowledge need no repair.
    eliciting: AtomicBool,
    sending: Mutex<Sending>,
    /// What is due has changed.
    changed: Notify,
    /// Packets that are received are kept.
    receives: AtomicBool,
    receiving: Mutex<Option<(Incoming, Place)>>,
    restored: AtomicU64,
}

#[derive(Debug)]
struct Sending {
    loss: Loss,
    /// Where loss is seen: the packets and what repairs are made with.
    active: Option<(Outgoing, Conditions, Place)>,
    ecn: Option<EcnCodepoint>,
}

/// Repairs that are to be sent one after the other.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) datagrams: Vec<Vec<u8>>,
    /// That of the packets: a restored packet has that of its repair.
    pub(super) ecn: Option<EcnCodepoint>,
}

impl Coding {
    pub(super) fn new(common: &Arc<Common>) -> Coding {
        Coding {
            common: Arc::clone(common),
            sends: AtomicBool::new(false),
            eliciting: AtomicBool::new(false),
            sending: Mutex::new(Sending {
                loss: Loss::default(),
                active: None,
                ecn: None,
            }),
            changed: Notify::new(),
            receives: AtomicBool::new(false),
            receiving: Mutex::new(None),
            restored: AtomicU64::new(0),
        }
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins or ends to send repairs, as the path needs them.
    pub(super) fn see(&self, now: Instant, seen: &Seen) {
        let mut sending = self.sending();
        let totals = Totals {
            sent: seen.sent,
            lost: seen.lost + seen.restored.unwrap_or(0),
            lost_of_other: self.restored(),
        };
        sending.loss.take(now, totals, seen.interrupted, seen.rtt);
        let wanted = seen.restored.is_some() && !seen.interrupted;
        let Some(share) = sending.loss.share().filter(|_| wanted) else {
            self.sends.store(false, Relaxed);
            sending.active = None;
            return;
        };
        let rate = seen.rate.map_or(UNKNOWN, Rate::bps_f64).max(8.0);
        let packets = Duration::from_secs_f64((WAIT_PACKETS / rate).min(60.0));
        let conditions = Conditions {
            share,
            rtt: seen.rtt,
            rate: rate / 8.0,
            wait: (seen.rtt / PARTS).clamp(WAIT.0, WAIT.1).max(packets),
        };
        match &mut sending.active {
            Some((_, known, _)) => *known = conditions,
            none => {
                let place = self.common.take();
                *none = place.map(|place| (Outgoing::default(), conditions, place));
                self.sends.store(none.is_some(), Relaxed);
            }
        }
    }

    /// QUIC has made a packet that it wants acknowledged, and sends it next.
    pub(super) fn note_eliciting(&self) {
        if self.sends.load(Relaxed) {
            self.eliciting.store(true, Relaxed);
        }
    }

    /// The socket has sent these packets.
    pub(super) fn sent<'a>(
        &self,
        now: Instant,
        packets: impl Iterator<Item = &'a [u8]>,
        ecn: Option<EcnCodepoint>,
    ) {
        if !self.sends.load(Relaxed) || !self.eliciting.swap(false, Relaxed) {
            return;
        }
        let mut sending = self.sending();
        sending.ecn = ecn;
        if let Some((outgoing, ..)) = &mut sending.active {
            packets.for_each(|packet| outgoing.sent(now, packet));
            self.changed.notify_one();
        }
    }

    /// A small stream has nothing more to send for now, after so many bytes.
    pub(super) fn pause(&self, bytes: u64) {
        if !self.sends.load(Relaxed) {
            return;
        }
        if let Some((outgoing, conditions, _)) = &mut self.sending().active {
            outgoing.pause(Instant::now(), bytes, conditions);
            self.changed.notify_one();
        }
    }

    /// Waits until repairs are due, and returns them. `idle` says whether nothing waits to be sent. It may
    /// be dropped at any time and loses nothing.
    pub(super) async fn due(&self, idle: impl Fn() -> bool) -> Due {
        loop {
            let changed = self.changed.notified();
            let due = {
                let mut sending = self.sending();
                let ecn = sending.ecn;
                match &mut sending.active {
                    None => None,
                    Some((outgoing, conditions, _)) => {
                        let idle = idle();
                        let due = outgoing.due(idle, conditions);
                        let now = Instant::now();
                        if due.is_some_and(|due| due <= now) {
                            let credit = &self.common.credit;
                            let mut credit = credit.lock().unwrap_or_else(PoisonError::into_inner);
                            let datagrams = outgoing.take(now, idle, conditions, &mut credit);
                            return Due { datagrams, ecn };
                        }
                        // Whether something waits may change without a word.
                        due.map(|due| due.min(now + conditions.wait))
                    }
                }
            };
            match due {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => changed.await,
            }
        }
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
                let place = self.common.take();
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

/// True where a datagram may be a repair.
pub(super) fn is_repair(datagram: &[u8]) -> bool {
    repair::is_repair(datagram)
}

/// Reads a datagram as a repair and restores what it can with these packets: for fuzzing.
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
