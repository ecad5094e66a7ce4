//! A datagram that waits for its turn.

use crate::config::WEIGHT;
use crate::usage::Member;
use bytes::Bytes;
use std::sync::Arc;

/// A datagram of the association.
#[derive(Debug)]
pub(crate) struct Datagram {
    /// Its bytes.
    pub(crate) bytes: Bytes,
    /// It may go in parts, where the path carries less.
    pub(crate) divisible: bool,
    /// Whose it is, unless the boxes speak of themselves.
    pub(crate) member: Option<Arc<Member>>,
}

impl Datagram {
    /// What one box says to the other.
    pub(crate) const fn between_boxes(bytes: Bytes) -> Datagram {
        Datagram {
            bytes,
            divisible: true,
            member: None,
        }
    }

    pub(super) fn weight(&self) -> u64 {
        self.member
            .as_ref()
            .map_or(WEIGHT, |member| member.weight())
    }
}
