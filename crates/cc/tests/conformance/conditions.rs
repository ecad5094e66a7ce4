//! What a sender is put through.

/// A path, its receiver and its application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) name: &'static str,
    /// Time to send a segment, microseconds.
    pub(crate) spacing: u64,
    /// Round trip without a queue, microseconds.
    pub(crate) rtt: u64,
    /// It moves by up to so much, in steps every two seconds.
    pub(crate) rtt_steps: u64,
    /// Segments that may wait.
    pub(crate) queue: u64,
    /// Losses in a million.
    pub(crate) loss: u64,
    /// Segments per acknowledgement.
    pub(crate) ack_every: u32,
    /// The receive window, segments.
    pub(crate) receive_window: u64,
    /// The application writes so many segments, then rests for a second; 0: always.
    pub(crate) burst: u64,
    /// Every so many timeouts one proves spurious; 0: none.
    pub(crate) spurious: u64,
    /// Complete silence of two seconds after so many acknowledgements; 0: none.
    pub(crate) outage_every: u64,
}
