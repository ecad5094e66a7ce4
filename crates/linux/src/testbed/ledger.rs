//! What the emulator's tap has seen: counts by flow, the progress of every flow,
//! and when one is complete.
//!
//! It lives on the emulator's thread, which must not wait: it shares nothing
//! but atomic counters and sends what other threads wait for into channels, that of
//! packets for a capture with room for so many and no more.

use super::Options;
use super::gauges::Gauges;
use super::message::Message;
use super::segment::Segment;
use super::tls;
use super::tracker::{Change, Tracker};
use crate::emulator::{Cause, Seen, Tap};
use bentpipe_outcome::{FlowCounts, MAX_HEADERS};
use bentpipe_scenario::{Connection, LinkId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, TrySendError};

/// A packet at the device of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Time at the device.
    pub at: Time,
    /// At which end of which flow: twice the flow's index, and one more at its
    /// `to`.
    pub endpoint: u32,
    /// Length of the IP packet, bytes.
    pub length: u32,
    kept: u8,
    bytes: [u8; MAX_HEADERS],
}

impl Captured {
    /// The packet from its IP header on, without most of its payload.
    #[must_use]
    pub fn headers(&self) -> &[u8] {
        &self.bytes[..usize::from(self.kept)]
    }

    /// At `at` at an end of a flow.
    fn new(at: Time, endpoint: u32, packet: &[u8]) -> Captured {
        let kept = packet.len().min(MAX_HEADERS);
        let mut bytes = [0; MAX_HEADERS];
        bytes[..kept].copy_from_slice(&packet[..kept]);
        Captured {
            at,
            endpoint,
            length: packet.len() as u32,
            kept: kept as u8,
            bytes,
        }
    }
}

/// Record of one flow, observed at its hosts.
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
    /// The connection at its `to`, where boxes split the flow; that at its `from` is
    /// the other one then.
    far: Option<Box<Tracker>>,
}

/// The part of a flow that a pair of hosts carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// All of it, or what begins at its `from`.
    First,
    /// The part between boxes.
    Between,
    /// The part that ends at its `to`.
    Last,
}

/// Condition that completes a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Goal {
    /// Nothing that packets show.
    #[default]
    None,
    /// Bytes acknowledged cumulatively.
    Acknowledged(u64),
    /// Bytes delivered in order.
    Delivered(u64),
}

impl Goal {
    fn of(application: &Application, is_split: bool) -> Goal {
        match (application, application.offered()) {
            // An acknowledgement by a box does not mean that data has arrived.
            (Application::Transfer { size }, _) if !is_split => Goal::Acknowledged(size.get()),
            (_, Some(bytes)) => Goal::Delivered(bytes.get()),
            (_, None) => Goal::None,
        }
    }

    /// Bytes of payload that the flow has to deliver, if it ends.
    fn bytes(self) -> Option<u64> {
        match self {
            Goal::None => None,
            Goal::Acknowledged(n) | Goal::Delivered(n) => Some(n),
        }
    }
}

/// Observations so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) flows: Vec<FlowLedger>,
    /// For each pair of hosts the flow, and which part of it.
    parts: Vec<(usize, Part)>,
    /// What the flows had done at the times that were asked for.
    pub(crate) checkpoints: Vec<(Time, Vec<FlowCounts>)>,
    /// Times that counts are to be noted at, the next last.
    to_note: Vec<Time>,
    series: Option<Duration>,
    pub(crate) gauges: Arc<Vec<Gauges>>,
    messages: Sender<Message>,
    capture: Option<SyncSender<Captured>>,
    /// Packets that the capture had no room for.
    pub(crate) capture_lost: u64,
}

impl Ledger {
    pub(crate) fn new(
        scenario: &Scenario,
        options: &Options,
        gauges: Arc<Vec<Gauges>>,
        messages: Sender<Message>,
    ) -> Ledger {
        let mut to_note = options.checkpoints.clone();
        to_note.sort_unstable_by(|a, b| b.cmp(a));
        to_note.dedup();
        Ledger {
            flows: scenario
                .flows
                .iter()
                .map(|flow| {
                    let sender = tls::preface(flow)[0];
                    let is_split = flow.split.is_some();
                    FlowLedger {
                        goal: Goal::of(&flow.application, is_split),
                        tracker: Tracker::after(sender),
                        far: is_split.then(|| Box::new(Tracker::after(sender))),
                        ..FlowLedger::default()
                    }
                })
                .collect(),
            parts: parts(scenario),
            checkpoints: Vec::with_capacity(to_note.len()),
            to_note,
            series: options.series,
            gauges,
            messages,
            capture: options.capture.clone(),
            capture_lost: 0,
        }
    }

    fn at_host(&mut self, at: Time, seen: &Seen<'_>, leaves: bool) {
        self.note_until(at, false);
        let forth = seen.forward;
        let Some(&(index, part)) = self.parts.get(seen.pair as usize) else {
            return;
        };
        let Some(flow) = self.flows.get_mut(index) else {
            return;
        };
        // At the `from` end: what leaves it forth and arrives back.
        let at_from = leaves == forth;
        let at_host = match part {
            Part::First => at_from || flow.far.is_none(),
            Part::Between => false,
            Part::Last => !at_from,
        };
        if let Some(capture) = &self.capture
            && at_host
        {
            let endpoint = 2 * index as u32 + u32::from(!at_from);
            match capture.try_send(Captured::new(at, endpoint, seen.packet)) {
                Err(TrySendError::Full(_)) => self.capture_lost += 1,
                // The reader of the capture may have ended.
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            }
        }
        let Some(segment) = Segment::parse(seen.packet) else {
            return;
        };
        let tracker = match (part, &mut flow.far) {
            (Part::Between, _) => return,
            (Part::Last, Some(far)) => &mut **far,
            (Part::First | Part::Last, _) => &mut flow.tracker,
        };
        if leaves {
            tracker.leaves(at, forth, &segment);
            if let Some(interval) = self.series
                && at >= flow.next_sent
                && forth
                && part == Part::First
            {
                flow.next_sent = at + interval;
                flow.sent.push((at, Bytes::new(flow.tracker.sent)));
            }
            return;
        }
        let change = tracker.arrives(at, forth, &segment);
        if change == Change::None || (part == Part::First && flow.far.is_some()) {
            return;
        }
        let complete = flow.completed_at.is_none()
            && match flow.goal {
                Goal::None => false,
                Goal::Acknowledged(n) => flow.tracker.acknowledged() >= n,
                Goal::Delivered(n) => flow.delivered() >= n,
            };
        if complete {
            flow.completed_at = Some(at);
            let _ = self.messages.send(Message::Complete(index));
        }
        if let Some(interval) = self.series
            && change == Change::Delivered
            && (at >= flow.next_delivered || flow.goal.bytes() == Some(flow.delivered()))
        {
            flow.next_delivered = at + interval;
            let delivered = Bytes::new(flow.delivered());
            flow.delivered.push((at, delivered));
        }
    }

    /// Notes the counts for all checkpoints before `now`, or at it if `inclusive`.
    pub(crate) fn note_until(&mut self, now: Time, inclusive: bool) {
        while let Some(&at) = self.to_note.last()
            && (at < now || inclusive && at == now)
        {
            self.to_note.pop();
            let flows = self.flows.iter().zip(self.gauges.iter());
            let counts = flows.map(|(flow, gauges)| {
                let counts = FlowCounts {
                    timeouts: gauges.timeouts(),
                    reductions: gauges.reductions(),
                    ..flow.counts()
                };
                gauges.seen().counts(counts)
            });
            let counts = counts.collect();
            self.checkpoints.push((at, counts));
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
        self.note_until(at, false);
        let part = self.parts.get(seen.pair as usize);
        if let Some(flow) = part.and_then(|(index, _)| self.flows.get_mut(*index)) {
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
    /// What has been seen of the flow; the kernel counts the rest.
    pub(crate) fn counts(&self) -> FlowCounts {
        FlowCounts {
            queue_drops: self.queue_drops,
            channel_losses: self.channel_losses,
            outage_losses: self.outage_losses,
            no_route_losses: self.no_route_losses,
            delivered: Bytes::new(self.delivered()),
            ..self.tracker.counts()
        }
    }

    /// The connection at the flow's `to`.
    fn at_to(&self) -> &Tracker {
        self.far.as_deref().unwrap_or(&self.tracker)
    }

    fn delivered(&self) -> u64 {
        self.at_to().delivered()
    }

    /// When the first SYN of the host that opens the flow left it.
    pub(crate) fn opened_at(&self) -> Option<Time> {
        let both = [self.tracker.opened_at, self.at_to().opened_at];
        both.into_iter().flatten().min()
    }

    /// When the first and the last bytes arrived at the flow's `to`.
    pub(crate) fn delivery(&self) -> [Option<Time>; 2] {
        let to = self.at_to();
        [to.first_delivery_at, to.last_delivery_at]
    }
}

/// For each pair of hosts the flow, and which part of it.
fn parts(scenario: &Scenario) -> Vec<(usize, Part)> {
    let part = |c: Connection<'_>| {
        let legs = scenario.flows[c.flow]
            .split
            .as_ref()
            .map_or(1, |s| s.legs.len());
        let part = match c.leg {
            0 => Part::First,
            // No packets of the flow itself.
            Connection::LOOKUP => Part::Between,
            leg if leg + 1 == legs => Part::Last,
            _ => Part::Between,
        };
        (c.flow, part)
    };
    scenario.connections().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Rate;
    use std::sync::mpsc::{channel, sync_channel};

    #[test]
    fn a_capture_that_is_slow_loses_packets_and_makes_nobody_wait() {
        let mut builder = Scenario::builder("slow");
        let (a, b) = (builder.node("a"), builder.node("b"));
        let link = bentpipe_link::LinkSettings::new(
            Rate::from_mbps(1),
            Duration::ZERO,
            bentpipe_link::QueueSettings::drop_tail(bentpipe_link::Limit::Packets(10)),
        );
        builder.link("hop", a, b, link);
        builder.flow(
            "data",
            a,
            b,
            Application::ConstantRate {
                rate: Rate::from_mbps(1),
                packet_size: Bytes::new(500),
                control: None,
                deadline: None,
            },
        );
        let scenario = builder.build().unwrap();
        let (capture, packets) = sync_channel(2);
        let mut options = Options::new(1).unwrap();
        options.capture = Some(capture);
        let gauges = Arc::new(vec![Gauges::default()]);
        let mut ledger = Ledger::new(&scenario, &options, gauges, channel().0);
        for length in [40, 90, 500, 500] {
            let packet = vec![0x45; length];
            let seen = Seen {
                pair: 0,
                forward: true,
                bytes: length as u32,
                packet: &packet,
            };
            ledger.entered(Time::ZERO, &seen);
        }
        assert_eq!(ledger.capture_lost, 2);
        drop((ledger, options));
        let lengths = packets.iter().map(|p| (p.headers().len(), p.length));
        assert_eq!(lengths.collect::<Vec<_>>(), [(40, 40), (90, 90)]);
    }
}
