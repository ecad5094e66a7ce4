//! Counters of the sending half.

/// Counters of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Payload bytes sent again.
    pub retransmitted: u64,
    /// Payload bytes sent, retransmissions included.
    pub payload: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub recoveries: u64,
    /// Times that a loss, an ECN echo or a timeout made the window smaller;
    /// without those that were undone.
    pub reductions: u64,
    /// Times that a loss or timeout was found spurious and undone.
    pub undone: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Probes sent ([`bentpipe_cc::Probes`]); none of them is in `packets`.
    pub probes: u64,
    /// Payload bytes of the probes.
    pub probe_payload: u64,
    /// Data packets found lost, of a stream in a tunnel.
    pub lost: u64,
    /// Answers to probes received; they are acknowledgements, too.
    pub probe_answers: u64,
}

impl SenderCounters {
    /// Counts a data packet with `payload` bytes; `again` if its data was sent
    /// before. Every data packet passes here.
    #[inline]
    pub(super) fn sent(&mut self, payload: u16, again: bool) {
        self.packets += 1;
        self.payload += u64::from(payload);
        self.retransmissions += u64::from(again);
        self.retransmitted += u64::from(payload) * u64::from(again);
    }
}
