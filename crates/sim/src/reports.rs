//! What senders hear of the queue at their own node.
//!
//! Some congestion controls (DVegas) are told once a frame how long the queue
//! of their terminal is. A sender can do nothing with it before something
//! happens to its flow, so it hears at the next such event, of all frames that
//! have passed by then at once.

use crate::flow::{Ends, Running};
use crate::network::Network;
use crate::observer::Observer;
use bentpipe_cc::QueueReport;
use bentpipe_link::Limit;
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_units::{Duration, Time};

/// Frame of a link that shares no medium, or one without frames.
const FRAME: Duration = Duration::from_millis(24);

/// Of which queue a sender hears, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    /// The first link of its way.
    link: u32,
    frame: Duration,
    /// What may wait there, packets.
    limit: f64,
    /// Frames that were reported.
    told: u64,
}

impl Reports {
    /// For the sender of a flow that asks for it.
    pub(crate) fn of(scenario: &Scenario, flow: &Flow, ends: &Ends) -> Option<Reports> {
        let Ends::Tcp(ends) = ends else {
            return None;
        };
        if !ends[0].wants_queue_reports() {
            return None;
        }
        let first = *flow.forward.first()?;
        let link = scenario.links.get(first.0 as usize)?;
        let medium = link.medium.and_then(|m| scenario.media.get(m.0 as usize));
        let frame = medium.and_then(|m| m.settings.frame());
        let transport = flow.transport.as_ref()?;
        let packet = u64::from(transport.mss + transport.header_bytes());
        Some(Reports {
            link: first.0,
            frame: frame.map_or(FRAME, |frame| frame.length),
            limit: match link.settings.queue.limit() {
                Limit::Packets(n) => f64::from(n),
                Limit::Bytes(n) => n.get() as f64 / packet.max(1) as f64,
            },
            told: 0,
        })
    }
}

impl Running {
    /// Tells the sender of its queue, if a frame has begun since it last heard.
    pub(crate) fn hear_queue<O: Observer>(&mut self, now: Time, net: &mut Network<'_, O>) {
        let (Some(reports), Ends::Tcp(ends)) = (&mut self.reports, &mut self.ends) else {
            return;
        };
        let frame = now.as_nanos() / reports.frame.as_nanos().max(1);
        if frame <= reports.told {
            return;
        }
        let frames = u32::try_from(frame - reports.told).unwrap_or(u32::MAX);
        reports.told = frame;
        let waiting = net.links[reports.link as usize].waiting(now);
        ends[0].on_queue(&QueueReport {
            now,
            waiting: waiting as f64,
            limit: Some(reports.limit),
            frames,
        });
    }
}
