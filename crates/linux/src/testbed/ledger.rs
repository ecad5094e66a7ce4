//! What the emulator's tap has seen: counts by flow, the progress of every flow,
//! and when one is complete.
//!
//! It lives on the emulator's thread, which must not wait: it shares nothing
//! but atomic counters and sends what others wait for into a channel.

use super::Options;
use super::gauges::Gauges;
use super::message::Message;
use super::segment::Segment;
use super::tracker::{Change, Tracker};
use crate::emulator::{Cause, Seen, Tap};
use bentpipe_outcome::FlowCounts;
use bentpipe_scenario::{LinkId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// A packet at the device of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When.
    pub at: Time,
    /// At which end of which flow: twice the flow's index, and one more at its
    /// `to`.
    pub endpoint: u32,
    /// The packet from its IP header on, without most of its payload.
    pub headers: Vec<u8>,
    /// Its length.
    pub length: u32,
}

/// Bytes of a packet that a capture keeps: the longest headers of IPv6 and TCP.
const CAPTURED: usize = 100;

/// What one flow did, seen at its hosts.
#[derive(Debug, Default)]
pub(crate) struct FlowLedger {
    pub(crate) tracker: Tracker,
    pub(crate) queue_drops: u64,
    pub(crate) channel_losses: u64,
    pub(crate) outage_losses: u64,
    pub(crate) no_route_losses: u64,
    /// When all that was to be done was done.
    pub(crate) completed_at: Option<Time>,
    pub(crate) delivered: Vec<(Time, Bytes)>,
    pub(crate) sent: Vec<(Time, Bytes)>,
    next_delivered: Time,
    next_sent: Time,
    goal: Goal,
}

/// What completes a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Goal {
    /// Nothing that packets show.
    #[default]
    None,
    /// So much acknowledged.
    Acknowledged(u64),
    /// So much delivered.
    Delivered(u64),
}

impl Goal {
    fn of(application: &Application) -> Goal {
        match application {
            Application::Transfer { size } => Goal::Acknowledged(size.get()),
            Application::RequestResponse {
                response, count, ..
            } => Goal::Delivered(response.get().saturating_mul(u64::from(*count))),
            _ => Goal::None,
        }
    }

    /// Bytes to deliver.
    fn bytes(self) -> Option<u64> {
        match self {
            Goal::None => None,
            Goal::Acknowledged(n) | Goal::Delivered(n) => Some(n),
        }
    }
}

/// What has been seen by now.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) flows: Vec<FlowLedger>,
    /// What the flows had done at the times that were asked for.
    pub(crate) marks: Vec<(Time, Vec<FlowCounts>)>,
    /// Times that counts are to be noted at, the next last.
    to_mark: Vec<Time>,
    series: Option<Duration>,
    gauges: Arc<Vec<Gauges>>,
    messages: Sender<Message>,
    capture: Option<Sender<Captured>>,
}

impl Ledger {
    pub(crate) fn new(
        scenario: &Scenario,
        options: &Options,
        gauges: Arc<Vec<Gauges>>,
        messages: Sender<Message>,
    ) -> Ledger {
        let mut to_mark = options.marks.clone();
        to_mark.sort_unstable_by(|a, b| b.cmp(a));
        to_mark.dedup();
        Ledger {
            flows: scenario
                .flows
                .iter()
                .map(|flow| FlowLedger {
                    goal: Goal::of(&flow.application),
                    ..FlowLedger::default()
                })
                .collect(),
            marks: Vec::with_capacity(to_mark.len()),
            to_mark,
            series: options.series,
            gauges,
            messages,
            capture: options.capture.clone(),
        }
    }

    fn at_host(&mut self, at: Time, seen: &Seen<'_>, leaves: bool) {
        self.mark_until(at, false);
        let (index, forth) = (seen.pair as usize, seen.forward);
        if let Some(capture) = &self.capture {
            let bytes = seen.packet;
            // At the `from` end: what leaves it forth and arrives back.
            let at_from = leaves == forth;
            // Nobody may want it any more.
            let _ = capture.send(Captured {
                at,
                endpoint: 2 * seen.pair + u32::from(!at_from),
                headers: bytes[..bytes.len().min(CAPTURED)].to_vec(),
                length: bytes.len() as u32,
            });
        }
        let Some(segment) = Segment::parse(seen.packet) else {
            return;
        };
        let Some(flow) = self.flows.get_mut(index) else {
            return;
        };
        if leaves {
            flow.tracker.leaves(at, forth, &segment);
            if let Some(interval) = self.series
                && at >= flow.next_sent
                && forth
            {
                flow.next_sent = at + interval;
                flow.sent.push((at, Bytes::new(flow.tracker.sent)));
            }
            return;
        }
        let change = flow.tracker.arrives(at, forth, &segment);
        if change == Change::None {
            return;
        }
        let complete = flow.completed_at.is_none()
            && match flow.goal {
                Goal::None => false,
                Goal::Acknowledged(n) => flow.tracker.acknowledged() >= n,
                Goal::Delivered(n) => flow.tracker.delivered() >= n,
            };
        if complete {
            flow.completed_at = Some(at);
            let _ = self.messages.send(Message::Complete(index));
        }
        if let Some(interval) = self.series
            && change == Change::Delivered
            && (at >= flow.next_delivered || flow.goal.bytes() == Some(flow.tracker.delivered()))
        {
            flow.next_delivered = at + interval;
            let delivered = Bytes::new(flow.tracker.delivered());
            flow.delivered.push((at, delivered));
        }
    }

    /// Notes the counts for all marks before `now`, or at it if `inclusive`.
    pub(crate) fn mark_until(&mut self, now: Time, inclusive: bool) {
        while let Some(&at) = self.to_mark.last()
            && (at < now || inclusive && at == now)
        {
            self.to_mark.pop();
            let flows = self.flows.iter().zip(self.gauges.iter());
            let counts = flows.map(|(flow, gauges)| flow.counts(gauges)).collect();
            self.marks.push((at, counts));
        }
    }
}

impl Tap for Ledger {
    fn entered(&mut self, at: Time, seen: &Seen<'_>) {
        self.at_host(at, seen, true);
    }

    fn arrived(&mut self, at: Time, late: Duration, seen: &Seen<'_>) {
        self.at_host(at + late, seen, false);
    }

    fn dropped(&mut self, at: Time, _: Option<LinkId>, why: Cause, seen: &Seen<'_>) {
        self.mark_until(at, false);
        if let Some(flow) = self.flows.get_mut(seen.pair as usize) {
            *match why {
                Cause::Queue => &mut flow.queue_drops,
                Cause::Channel => &mut flow.channel_losses,
                Cause::Outage => &mut flow.outage_losses,
                Cause::NoRoute => &mut flow.no_route_losses,
            } += 1;
        }
    }
}

impl FlowLedger {
    fn counts(&self, gauges: &Gauges) -> FlowCounts {
        FlowCounts {
            delivered: Bytes::new(self.tracker.delivered()),
            sent: Bytes::new(self.tracker.sent),
            packets_sent: self.tracker.packets_sent,
            retransmissions: self.tracker.retransmissions,
            timeouts: gauges.timeouts(),
            reductions: gauges.reductions(),
            queue_drops: self.queue_drops,
            channel_losses: self.channel_losses,
            outage_losses: self.outage_losses,
            no_route_losses: self.no_route_losses,
        }
    }
}
