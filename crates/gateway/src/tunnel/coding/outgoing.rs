//! What a box has sent and has not made repairs for, and the repairs.

use super::field::{self, Multiples};
use super::repair::{self, LENGTH, LONGEST, Part, Repair, fingerprint};
use bentpipe_quic::coding::{self, Budget, PROTECTED};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A full packet, bytes.
pub(super) const PACKET: u32 = 1_500;
/// Times of a pause after which repairs come, although more streams pause.
const PAUSES: u32 = 4;

/// A packet that was sent.
#[derive(Debug)]
struct Packet {
    at: Instant,
    bytes: Box<[u8]>,
}

/// When small streams have sent what they had.
#[derive(Clone, Copy, Debug)]
struct Pause {
    /// Before the first of their packets.
    from: Instant,
    /// After the last of them.
    until: Instant,
}

/// What repairs are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// The share of packets that is lost.
    pub(super) share: f64,
    /// A packet that is older has been acknowledged, or QUIC knows that it is lost.
    pub(super) rtt: Duration,
    /// Bytes a second that the link takes.
    pub(super) rate: f64,
    /// Time without a packet that is a pause.
    pub(super) wait: Duration,
}

/// What the repairs of all associations may take of a link.
#[derive(Debug)]
pub(super) struct Credit(Mutex<(Budget, Option<Instant>)>);

impl Default for Credit {
    fn default() -> Credit {
        Credit(Mutex::new((Budget::new(PACKET), None)))
    }
}

impl Credit {
    /// Takes so many bytes of a link of so many bytes a second, if there are as many.
    fn take(&self, now: Instant, rate: f64, bytes: usize) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (budget, since) = &mut *state;
        let before = since.replace(now).unwrap_or(now);
        budget.pass(now.saturating_duration_since(before), rate);
        budget.take(u32::try_from(bytes).unwrap_or(u32::MAX))
    }
}

/// The packets of one association that are not covered.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    recent: VecDeque<Packet>,
    /// Small streams that have paused while others send.
    paused: Option<Pause>,
}

impl Outgoing {
    /// Takes a packet that was sent.
    pub(super) fn sent(&mut self, now: Instant, packet: &[u8]) {
        if packet.len() > LONGEST {
            return;
        }
        if self.recent.len() == PROTECTED {
            self.recent.pop_front();
        }
        self.recent.push_back(Packet {
            at: now,
            bytes: packet.into(),
        });
    }

    /// All packets are covered.
    pub(super) fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    /// A stream has nothing more to send after so many bytes, which go before what others send.
    pub(super) fn pause(&mut self, now: Instant, bytes: u64, conditions: &Conditions) {
        let Conditions { wait, rate, .. } = *conditions;
        let takes = Duration::from_secs_f64((bytes as f64 / rate).min(1.0));
        let (before, after) = (wait / 4, wait / 2 + takes);
        if rate * (before + after).as_secs_f64() > PROTECTED as f64 * f64::from(PACKET) {
            // The link is so fast that its packets would not be known any more.
            return;
        }
        self.paused = self.paused.filter(|it| it.until >= now);
        let from = now.checked_sub(before).unwrap_or(now);
        let pause = self.paused.get_or_insert(Pause { from, until: now });
        // Where one pauses after the other, repairs come all the same.
        let until = (now + after).min(pause.from + PAUSES * wait);
        pause.until = pause.until.max(until);
    }

    /// When nothing has been sent for long enough: `wait` after the last packet where nothing waits to be
    /// sent (`idle`); where something does, packets are only apart, and the end comes later.
    fn silent(&self, idle: bool, conditions: &Conditions) -> Option<Instant> {
        let Conditions { wait, rtt, .. } = *conditions;
        let last = self.recent.back()?.at;
        Some(last + if idle { wait } else { wait.max(rtt / 2) })
    }

    /// When repairs are due.
    pub(super) fn due(&self, idle: bool, conditions: &Conditions) -> Option<Instant> {
        let silent = self.silent(idle, conditions)?;
        let paused = self.paused.map(|it| it.until);
        Some(paused.map_or(silent, |paused| silent.min(paused)))
    }

    /// The packets that repairs are due for, in groups; they are covered then.
    pub(super) fn take(&mut self, now: Instant, idle: bool, conditions: &Conditions) -> Vec<Group> {
        let Conditions { rtt, wait, .. } = *conditions;
        let is_silent = self
            .silent(idle, conditions)
            .is_some_and(|silent| silent <= now);
        // What others have sent before is none of those that have paused.
        let first = match self.paused.take().filter(|_| !is_silent) {
            Some(pause) => self.recent.partition_point(|it| it.at < pause.from),
            None => 0,
        };
        let mut all = self.recent.split_off(first);
        let fresh = rtt.max(2 * wait);
        all.retain(|it| now.saturating_duration_since(it.at) <= fresh);
        // Losses come in bursts, which groups that take packets in turn share.
        let count = coding::generations(all.len());
        let mut groups: Vec<Group> = (0..count).map(|_| Group(Vec::new())).collect();
        for (at, packet) in all.into_iter().enumerate() {
            groups[at % count].0.push(packet.bytes);
        }
        groups
    }
}

/// Packets that are coded together.
#[derive(Debug)]
pub(super) struct Group(Vec<Box<[u8]>>);

impl Group {
    /// The repairs for it as datagrams, as far as there is credit.
    pub(super) fn repairs(&self, conditions: &Conditions, credit: &Credit) -> Vec<Vec<u8>> {
        let Conditions { share, rate, .. } = *conditions;
        let fingerprints = self.0.iter().map(|it| fingerprint(it));
        let Some(packets) = fingerprints.collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        let longest = self.0.iter().map(|it| it.len()).max().unwrap_or(0);
        let coded = LENGTH + longest;
        // The path carries what is as long as a packet, but for certain no more.
        let whole = repair::length(packets.len(), coded);
        let parts: &[Part] = match whole <= longest.max(1_200) {
            true => &[Part::Whole],
            false => &[Part::First, Part::Second],
        };
        let mut datagrams = Vec::new();
        for number in 0..coding::repairs(packets.len(), parts.len(), share) {
            if !credit.take(Instant::now(), rate, whole) {
                break;
            }
            let mut sum = vec![0; coded];
            for (at, packet) in self.0.iter().enumerate() {
                let multiples = Multiples::of(field::factor(number, at));
                repair::add(&mut sum, packet, 0..coded, &multiples);
            }
            datagrams.extend(parts.iter().map(|&part| {
                let repair = Repair {
                    part,
                    number,
                    coded,
                    packets: packets.clone(),
                    bytes: &sum[part.range(coded)],
                };
                repair.encode()
            }));
        }
        datagrams
    }
}

#[cfg(test)]
mod tests;
