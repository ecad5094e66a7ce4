//! Observers of the packets of a run, such as captures.

use bentpipe_tcp::Packet;
use bentpipe_units::Time;

/// Sees every packet at the endpoints. Endpoint `2 f` is the `from` side of
/// flow `f`, endpoint `2 f + 1` its `to` side.
pub trait Observer {
    /// False lets the simulator leave every call out.
    const ACTIVE: bool = true;

    /// `endpoint` sends `packet`.
    fn sent(&mut self, now: Time, endpoint: u32, packet: &Packet);

    /// `packet` arrives at `endpoint`.
    fn received(&mut self, now: Time, endpoint: u32, packet: &Packet);
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;
    fn sent(&mut self, _: Time, _: u32, _: &Packet) {}
    fn received(&mut self, _: Time, _: u32, _: &Packet) {}
}
