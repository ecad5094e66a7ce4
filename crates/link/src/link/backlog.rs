//! The queue of a transmitter whose future is known.

use crate::Limit;
use crate::ring::Ring;
use bentpipe_units::{Duration, Time};

/// The packets that wait for a transmitter.
///
/// The transmitter serves in order, so that the start of a packet's transmission
/// is known when it is accepted. The packets whose start lies after `now` wait
/// at `now`; the others leave this ring lazily.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
    limit: Limit,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// When its transmission starts.
    start: Time,
    bytes: u32,
    /// How long it waits until then, in 1024 ns: there is room for 32 bits,
    /// and a shift is cheaper than a division.
    waits: u32,
}

impl Backlog {
    pub(crate) fn new(limit: Limit) -> Backlog {
        Backlog {
            waiting: Ring::new(),
            waiting_bytes: 0,
            limit,
        }
    }

    /// Forgets the packets whose transmission has started by `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(&Waiting { start, bytes, .. }) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting.drop_front();
            self.waiting_bytes -= u64::from(bytes);
        }
    }

    /// The transmitter is idle: the transmission of every packet has started.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// True if one more packet of `bytes` may wait.
    #[inline]
    pub(crate) fn admits(&self, bytes: u32) -> bool {
        self.limit.admits(self.packets(), self.waiting_bytes, bytes)
    }

    /// A packet of `bytes` waits from `now` to `start`.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, start: Time, bytes: u32) {
        let waits = u32::try_from(start.since(now).as_nanos() >> 10).unwrap_or(u32::MAX);
        self.waiting.push_back(Waiting {
            start,
            bytes,
            waits,
        });
        self.waiting_bytes += u64::from(bytes);
    }

    /// The packets that have entered and wait at `now`, of those that had not
    /// started at the last [`Backlog::advance`].
    pub(crate) fn waiting_at(&self, now: Time) -> u64 {
        let waits = |w: &&Waiting| {
            let all = Duration::from_nanos(u64::from(w.waits) << 10);
            // Rounded down: a packet that enters this microsecond may count.
            w.start > now && w.start.since(now) <= all
        };
        self.waiting.iter().filter(waits).count() as u64
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    pub(crate) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// The waiting times that lie after `now`, summed over all packets that
    /// are here and those that come after it; to a microsecond a packet.
    pub(crate) fn still_to_wait(&self, now: Time) -> Duration {
        self.waiting
            .iter()
            .map(|w| {
                let all = Duration::from_nanos(u64::from(w.waits) << 10);
                w.start.since(now).min(all)
            })
            .fold(Duration::ZERO, |sum, wait| sum + wait)
    }
}
