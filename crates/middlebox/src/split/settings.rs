//! The settings of a split-connection PEP.

use bentpipe_tcp::Transport;
use bentpipe_units::Bytes;

/// When a PEP answers a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Accept {
    /// At once.
    #[default]
    Early,
    /// When the onward leg is open; refused if that is refused.
    Late,
}

impl Accept {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Accept); 2] = [("early", Accept::Early), ("late", Accept::Late)];
}

/// What the relay buffer and the receive buffer have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Pool {
    /// Each has its own room.
    #[default]
    Separate,
    /// One room of [`SplitSettings::buffer`] for both: what the upstream sender
    /// may send, what waits, and what the onward leg has not acknowledged.
    Shared,
}

impl Pool {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Pool); 2] =
        [("separate", Pool::Separate), ("shared", Pool::Shared)];
}

/// The settings of a split-connection PEP.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SplitSettings {
    /// Bytes that were relayed and that the onward leg has not acknowledged, at
    /// most, in each direction.
    pub buffer: Bytes,
    /// Bytes that have arrived and wait for the relay, at most, in each
    /// direction; as `buffer` where `None`. The largest window that the PEP
    /// advertises. Not used with [`Pool::Shared`].
    pub receive_buffer: Option<Bytes>,
    /// When a SYN is answered.
    pub accept: Accept,
    /// Whether the buffers share their room.
    pub pool: Pool,
    /// Transport of the leg that the PEP is there for; the flow's where `None`.
    pub transport: Option<Transport>,
    /// The flows that are split, by the names of their tables; all where empty.
    pub flows: Vec<String>,
}

impl Default for SplitSettings {
    fn default() -> SplitSettings {
        SplitSettings {
            buffer: Bytes::new(1_000_000),
            receive_buffer: None,
            accept: Accept::Early,
            pool: Pool::Separate,
            transport: None,
            flows: Vec::new(),
        }
    }
}

impl SplitSettings {
    /// The receive buffer of the PEP's endpoints.
    #[must_use]
    pub fn receive_buffer(&self) -> Bytes {
        match (self.pool, self.receive_buffer) {
            (Pool::Separate, Some(bytes)) => bytes,
            _ => self.buffer,
        }
    }
}
