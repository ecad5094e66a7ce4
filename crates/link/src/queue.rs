//! Queue disciplines: who may wait for the transmitter.

use crate::{Limit, QueueSettings};
use bentpipe_units::{Bytes, Time};
use std::collections::VecDeque;

/// The packets that wait for a transmitter, as their start times and sizes.
///
/// The transmitter serves in order, so a packet's transmission starts at a
/// time that is known when it is accepted. Who waits at `now` are those whose
/// start lies after it; they leave this ring lazily.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    waiting: VecDeque<(Time, u32)>,
    waiting_bytes: u64,
    limit: Limit,
}

impl Queue {
    pub(crate) fn new(settings: &QueueSettings) -> Queue {
        let QueueSettings::DropTail { limit } = *settings;
        Queue {
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            limit,
        }
    }

    /// Forgets those whose transmission has started by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(&(start, bytes)) = self.waiting.front() {
            if start > now {
                break;
            }
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(bytes);
        }
    }

    /// True if one more packet of `bytes` may wait.
    pub(crate) fn admits(&self, bytes: u32) -> bool {
        match self.limit {
            Limit::Packets(n) => self.waiting.len() < n as usize,
            Limit::Bytes(n) => Bytes::new(self.waiting_bytes) + Bytes::new(u64::from(bytes)) <= n,
        }
    }

    pub(crate) fn push(&mut self, start: Time, bytes: u32) {
        self.waiting.push_back((start, bytes));
        self.waiting_bytes += u64::from(bytes);
    }

    pub(crate) fn packets(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.waiting_bytes
    }
}
