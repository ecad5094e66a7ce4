//! Limits, beyond which connections bypass the gateway or are refused.

/// Limits of one box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of payload held for connections, all together.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 50_000,
            memory: 256 << 20,
        }
    }
}
