//! Reports to senders about the queue at their own node.
//!
//! Some congestion controls (DVegas) take a report on the queue of their terminal once a frame. A
//! sender acts only on events of its flow, so it gets the report at the next such event, for all
//! frames since the last one.

use crate::flow::{Ends, Running};
use crate::network::Network;
use bentpipe_cc::QueueReport;
use bentpipe_link::Limit;
use bentpipe_scenario::{Flow, LinkId, Scenario};
use bentpipe_tcp::Transport;
use bentpipe_units::{Duration, Time};

/// Frame of a link that shares no medium, or one without frames.
const FRAME: Duration = Duration::from_millis(24);

/// Which queue is reported to a sender, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    /// The leg of the flow that it sends on; 0 without PEPs.
    leg: usize,
    /// The first link of its way.
    link: u32,
    frame: Duration,
    /// What may wait there, packets.
    limit: f64,
    /// Frames that were reported.
    reported: u64,
}

impl Reports {
    /// For the senders of a flow that need it.
    pub(crate) fn of(scenario: &Scenario, flow: &Flow, ends: &Ends) -> Vec<Reports> {
        let legs: Vec<(bool, &Transport, &[LinkId])> = match (ends, &flow.split) {
            (Ends::Tcp(ends), _) => match flow.transport.as_deref() {
                Some(transport) => {
                    vec![(ends[0].needs_queue_reports(), transport, &flow.forward)]
                }
                None => Vec::new(),
            },
            (Ends::Split(chain), Some(split)) => {
                let senders = chain.senders().zip(&split.legs);
                senders
                    .map(|(sender, leg)| {
                        let wants = sender.needs_queue_reports();
                        (wants, &leg.transport, leg.forward.as_slice())
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        let asking = legs.into_iter().enumerate().filter(|(_, leg)| leg.0);
        asking
            .filter_map(|(leg, (_, transport, way))| {
                Reports::at(scenario, leg, transport, *way.first()?)
            })
            .collect()
    }

    fn at(
        scenario: &Scenario,
        leg: usize,
        transport: &Transport,
        first: LinkId,
    ) -> Option<Reports> {
        let link = scenario.links.get(first.0 as usize)?;
        let medium = link.medium.and_then(|m| scenario.media.get(m.0 as usize));
        let frame = medium.and_then(|m| m.settings.frame());
        let packet = u64::from(transport.mss + transport.header_bytes());
        Some(Reports {
            leg,
            link: first.0,
            frame: frame.map_or(FRAME, |frame| frame.length),
            limit: match link.settings.queue.limit() {
                Limit::Packets(n) => f64::from(n),
                Limit::Bytes(n) => n.get() as f64 / packet.max(1) as f64,
            },
            reported: 0,
        })
    }

    /// The report that is due at `now`, if a frame has begun since the last one.
    fn due<const WATCHED: bool>(
        &mut self,
        now: Time,
        net: &mut Network<'_, WATCHED>,
    ) -> Option<QueueReport> {
        let frame = now.as_nanos() / self.frame.as_nanos().max(1);
        if frame <= self.reported {
            return None;
        }
        let frames = u32::try_from(frame - self.reported).unwrap_or(u32::MAX);
        self.reported = frame;
        let waiting = net.forward.links[self.link as usize].waiting(now);
        Some(QueueReport {
            now,
            waiting: waiting as f64,
            limit: Some(self.limit),
            frames,
        })
    }
}

impl Running {
    /// Reports to the flow's senders on their queues.
    #[inline]
    pub(crate) fn hear_queue<const WATCHED: bool>(
        &mut self,
        now: Time,
        net: &mut Network<'_, WATCHED>,
    ) {
        for reports in &mut self.reports {
            let Some(report) = reports.due(now, net) else {
                continue;
            };
            match &mut self.ends {
                Ends::Tcp(ends) => ends[0].on_queue(&report),
                Ends::Split(chain) => chain.end_mut(2 * reports.leg).on_queue(&report),
                Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => {}
            }
        }
    }
}
