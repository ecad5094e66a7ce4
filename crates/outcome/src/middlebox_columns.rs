//! The columns of what middleboxes did.

use crate::MiddleboxOutcome;
use crate::columns::Field;
use crate::value::Kind::{Integer, Text};

pub(crate) static MIDDLEBOX: [Field<MiddleboxOutcome>; 9] = [
    Field::new("middlebox", Text, "name of the box", |_, m| {
        m.name.as_str().into()
    }),
    Field::new("middlebox_kind", Text, "what it is", |_, m| {
        m.kind.as_str().into()
    }),
    Field::new(
        "seen_packets",
        Integer,
        "packets that came to it",
        |_, m| m.seen_packets.into(),
    ),
    Field::new(
        "cached_packets",
        Integer,
        "data packets that it put into its cache",
        |_, m| m.cached_packets.into(),
    ),
    Field::new(
        "overflow_packets",
        Integer,
        "data packets that it did not put there: the cache was full, or the queue behind",
        |_, m| m.overflow_packets.into(),
    ),
    Field::new(
        "local_retransmissions",
        Integer,
        "packets that it sent again",
        |_, m| m.local_retransmissions.into(),
    ),
    Field::new(
        "local_timeouts",
        Integer,
        "times that its own timer made it send a packet again",
        |_, m| m.local_timeouts.into(),
    ),
    Field::new(
        "suppressed_acks",
        Integer,
        "acknowledgements that ended at it",
        |_, m| m.suppressed_acks.into(),
    ),
    Field::new(
        "own_acks",
        Integer,
        "acknowledgements that it sent itself",
        |_, m| m.own_acks.into(),
    ),
];
