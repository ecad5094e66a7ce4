//! Links that tell receivers of the packets that their channels destroyed.
//!
//! The far end of such a link sees that a frame was corrupted and whose it was,
//! and tells the receiver of the flow; the message takes no time and is not lost
//! (in SCPS it is one of SCMP, the ICMP of that suite). The receiver has it with
//! the next data packet of the flow that reaches it.

use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_units::{Duration, Time};

/// What is to be told.
#[derive(Debug)]
pub(crate) struct Corruption {
    /// The propagation delay of each link that tells.
    tells: Vec<Option<Duration>>,
    /// When each endpoint is told, the next first.
    pending: Vec<Vec<Time>>,
}

impl Corruption {
    /// `None` where no link of the scenario tells.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<Corruption>> {
        let links = &scenario.links;
        links.iter().any(|l| l.reports_corruption).then(|| {
            let tells = links.iter().map(|l| {
                let delay = l.settings.one_way_delay;
                l.reports_corruption.then_some(delay)
            });
            Box::new(Corruption {
                tells: tells.collect(),
                pending: vec![Vec::new(); 2 * scenario.flows.len()],
            })
        })
    }

    /// The channel of link `index` destroys the packet that leaves its
    /// transmitter at `sent`.
    pub(super) fn destroyed(&mut self, index: u32, packet: &Packet, sent: Time) {
        if packet.payload > 0
            && let Some(delay) = self.tells[index as usize]
            && let Some(pending) = self.pending.get_mut(packet.destination as usize)
        {
            pending.push(sent + delay);
        }
    }

    /// `packet` reaches its end at `now`.
    pub(crate) fn tell(&mut self, now: Time, packet: &mut Packet) {
        if packet.payload == 0 {
            return;
        }
        let Some(pending) = self.pending.get_mut(packet.destination as usize) else {
            return;
        };
        let before = pending.len();
        pending.retain(|at| *at > now);
        let told = before - pending.len();
        packet.report_corruption(u32::try_from(told).unwrap_or(u32::MAX));
    }
}
