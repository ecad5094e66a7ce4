//! The turn of one stream.

use super::{Gate, Subscriber};
use std::sync::Arc;

/// The turn of a stream: it gives QUIC so many bytes at once, or gives the turn back.
#[derive(Debug)]
pub(crate) struct Grant {
    pub(super) gate: Arc<Gate>,
    pub(super) subscriber: Subscriber,
    pub(super) weight: u64,
    pub(super) bytes: u64,
}

impl Grant {
    pub(super) fn free(gate: &Arc<Gate>, subscriber: Subscriber, weight: u64, bytes: u64) -> Grant {
        gate.lock().granted += bytes;
        gate.lock().backlog += bytes;
        Grant {
            gate: Arc::clone(gate),
            subscriber,
            weight,
            bytes,
        }
    }

    /// Bytes that it is for.
    pub(in crate::tunnel) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// QUIC was given so many of them.
    pub(in crate::tunnel) fn spend(&mut self, bytes: usize) {
        let bytes = self.bytes.min(bytes as u64);
        self.bytes -= bytes;
        self.gate.spend(bytes);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.gate.refund(self.subscriber, self.weight, self.bytes);
        }
    }
}
