//! Limits, and the treatment of connections beyond them: intercepted ones bypass the gateway,
//! SOCKS5 and CONNECT answer with an error, and a hub resets.

use super::read;
use bentpipe_document::Reported;
use bentpipe_document::schema::{Kind, SPAN, integer};
use bentpipe_units::{Bytes, Duration as Span};
use std::time::Duration;

/// Limits of one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of payload held for connections, all together.
    pub memory: u64,
    /// How long connections may go on after the gateway was told to stop.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        read::of_defaults(read)
    }
}

bentpipe_document::table! {
    /// limits, beyond which new intercepted connections pass directly, SOCKS5 and CONNECT answer with an error, and a hub resets
    pub(super) LimitsTable at "limits", called "the limits of", example "[limits]\nconnections = 20000";
    /// connections at a time
    connections: u64 [integer(1, 10_000_000)], default 50_000;
    /// payload that is held for connections, all together: sent and not acknowledged, or not read by its host, in QUIC's buffers and sockets too
    memory: Bytes [Kind::Size { min: 1 << 20, max: 1 << 40 }], default "256 MB";
    /// how long connections may go on after the gateway was told to stop
    drain: Span [SPAN], default "30 s";
}

/// The section.
pub(super) fn read(table: LimitsTable) -> Result<Limits, Reported> {
    Ok(Limits {
        connections: usize::try_from(table.connections?.value).unwrap_or(usize::MAX),
        memory: table.memory?.value.get(),
        drain: read::time(table.drain?.value),
    })
}
