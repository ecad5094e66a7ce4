//! Observers of passing packets, such as a capture or the test bed, which measures transfers.

use super::network::Cause;
use bentpipe_scenario::LinkId;
use bentpipe_units::{Duration, Time};

/// A packet as an observer sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The number of its pair of hosts: of its flow, where pairs are
    /// [`Flows`](super::Pairs::Flows).
    pub pair: u32,
    /// True if it goes to the pair's `to` end.
    pub forward: bool,
    /// Bytes on the links: of the packet, or of the packets in a GSO segment.
    pub bytes: u32,
    /// The packet in its current form, from its IP header on.
    pub packet: &'a [u8],
}

/// Sees what happens to packets, on the emulator's thread: what it does makes
/// packets late. Times count from the start of the run.
pub trait Tap {
    /// False lets the emulator leave every call out.
    const ACTIVE: bool = true;

    /// A packet was read from the host that sends it, at `at`.
    fn entered(&mut self, at: Time, seen: &Seen<'_>);

    /// A packet is about to be written to the host that it goes to. It is due
    /// there at `at` and `late` by so much.
    fn arrived(&mut self, at: Time, late: Duration, seen: &Seen<'_>);

    /// The model drops a packet at `link`; at none, where there is no route.
    /// `at` may lie ahead: what a channel destroys it destroys at the end of
    /// its transmission.
    fn dropped(&mut self, at: Time, link: Option<LinkId>, why: Cause, seen: &Seen<'_>);
}

/// Observes nothing.
impl Tap for () {
    const ACTIVE: bool = false;
    fn entered(&mut self, _: Time, _: &Seen<'_>) {}
    fn arrived(&mut self, _: Time, _: Duration, _: &Seen<'_>) {}
    fn dropped(&mut self, _: Time, _: Option<LinkId>, _: Cause, _: &Seen<'_>) {}
}
