//! Links that report corrupted packets to receivers.
//!
//! The far end of such a link detects that a frame was corrupted, reads which
//! flow it belonged to, and sends a report to the receiver. The report takes no
//! time and is never lost (in SCPS it is a message of SCMP, the ICMP of that
//! suite). The receiver gets it with the next data packet of the flow. Probes
//! ([`bentpipe_cc::Probes`]) are not reported: no sender counts them as lost.

use bentpipe_scenario::Scenario;
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::flags;
use bentpipe_units::{Duration, Time};

/// Reports of corruption that receivers have not got yet.
#[derive(Debug)]
pub(crate) struct Corruption {
    /// The propagation delay of each link that reports.
    delays: Vec<Option<Duration>>,
    /// The reports to each endpoint.
    pending: Vec<Vec<Report>>,
}

/// A report in flight.
#[derive(Clone, Copy, Debug)]
struct Report {
    /// When it reaches the receiver at the latest.
    at: Time,
    /// Data from a later byte shows that it could have come: [`u64::MAX`] where its
    /// time is exact.
    behind: u64,
}

impl Corruption {
    /// `None` where no link of the scenario reports.
    pub(crate) fn new(scenario: &Scenario) -> Option<Box<Corruption>> {
        let links = &scenario.links;
        links.iter().any(|l| l.reports_corruption).then(|| {
            let delays = links.iter().map(|l| {
                let delay = l.settings.one_way_delay;
                l.reports_corruption.then_some(delay)
            });
            Box::new(Corruption {
                delays: delays.collect(),
                pending: vec![Vec::new(); 2 * scenario.flows.len()],
            })
        })
    }

    /// The channel of link `index` destroys the packet that leaves its transmitter at `sent`. An
    /// event-driven link reports this at `now` == `sent`, when the packet may have left long
    /// before: there the report comes with the first data from behind the packet.
    pub(super) fn destroyed(&mut self, index: u32, packet: &Packet, now: Time, sent: Time) {
        if packet.payload > 0
            && !packet.has(flags::PROBE)
            && let Some(delay) = self.delays[index as usize]
            && let Some(pending) = self.pending.get_mut(packet.destination as usize)
        {
            pending.push(Report {
                at: sent + delay,
                behind: if sent > now {
                    u64::MAX
                } else {
                    packet.sequence
                },
            });
        }
    }

    /// Adds the reports that have been sent by `now` to `packet`, which reaches
    /// its receiver.
    pub(crate) fn report(&mut self, now: Time, packet: &mut Packet) {
        if packet.payload == 0 || packet.has(flags::PROBE) {
            return;
        }
        let Some(pending) = self.pending.get_mut(packet.destination as usize) else {
            return;
        };
        let before = pending.len();
        pending.retain(|report| report.at > now && packet.sequence <= report.behind);
        let reports = before - pending.len();
        packet.report_corruption(u32::try_from(reports).unwrap_or(u32::MAX));
    }
}
