//! A connection packet by packet, within a window of time.

use bentpipe_outcome::{FlowSeries, SenderSample};
use bentpipe_sim::{LossCause, LostPacket};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::{flags, priority};
use bentpipe_units::Time;
use std::collections::BTreeMap;

/// Steps that are noted at most, unless another number is set.
const MOST: usize = 4000;

/// What happened to a packet or a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The sender sends data for the first time.
    Sent,
    /// The sender sends data again.
    Resent,
    /// The sender sends a packet whose payload is thrown away (Peach, Swift), or one
    /// that asks for an answer.
    Probe,
    /// An end sends a packet that opens or closes the connection.
    Control,
    /// Data arrive in order.
    Received,
    /// Data arrive ahead of a gap.
    Ahead,
    /// Data arrive that had arrived before.
    Duplicate,
    /// The receiver sends an acknowledgement.
    Acknowledges,
    /// An acknowledgement of more data arrives at the sender.
    Acknowledged,
    /// One that acknowledges no more in order arrives there.
    Repeated,
    /// A data packet is lost.
    Lost(LossCause),
    /// An acknowledgement is lost.
    LostAck(LossCause),
    /// The retransmission timer expires.
    Timeout,
    /// A packet that opens or closes the connection arrives.
    ControlArrived,
}

impl StepKind {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            StepKind::Sent => "sent",
            StepKind::Resent => "resent",
            StepKind::Probe => "probe",
            StepKind::Control => "control",
            StepKind::Received => "received",
            StepKind::Ahead => "ahead",
            StepKind::Duplicate => "duplicate",
            StepKind::Acknowledges => "acknowledges",
            StepKind::Acknowledged => "acknowledged",
            StepKind::Repeated => "repeated",
            StepKind::Lost(_) => "lost",
            StepKind::LostAck(_) => "lost_ack",
            StepKind::Timeout => "timeout",
            StepKind::ControlArrived => "control_arrived",
        }
    }

    /// Where it happens; of what either end may do the sender.
    const fn place(self) -> &'static str {
        match self {
            StepKind::Sent
            | StepKind::Resent
            | StepKind::Probe
            | StepKind::Acknowledged
            | StepKind::Repeated
            | StepKind::Control
            | StepKind::ControlArrived
            | StepKind::Timeout => "sender",
            StepKind::Received | StepKind::Ahead | StepKind::Duplicate | StepKind::Acknowledges => {
                "receiver"
            }
            StepKind::Lost(_) | StepKind::LostAck(_) => "path",
        }
    }
}

/// Why a packet is sent now: what has just happened at its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Trigger {
    /// Nothing at this instant but a timer of pacing or of loss recovery, or the
    /// application.
    #[default]
    Timer,
    /// An acknowledgement arrived.
    Ack,
    /// The retransmission timer expired.
    Timeout,
    /// The connection was opened.
    Opened,
}

impl Trigger {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Timer => "timer",
            Trigger::Ack => "ack",
            Trigger::Timeout => "timeout",
            Trigger::Opened => "opened",
        }
    }
}

/// One step of a connection.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Step {
    /// When.
    pub at: Time,
    /// What.
    pub kind: StepKind,
    /// Where: at the `sender` of the data, at the `receiver`, or on the `path` between
    /// them.
    pub place: &'static str,
    /// First byte of the payload, as an offset in the stream.
    pub sequence: u64,
    /// Bytes of payload.
    pub bytes: u32,
    /// Bytes at the IP layer; zero of a timer.
    pub ip_bytes: u32,
    /// The next byte that the receiver expects, of acknowledgements; as of the last
    /// one that the sender has, of everything else.
    pub acknowledgement: u64,
    /// Ranges beyond it that have arrived, of acknowledgements.
    pub sack: Vec<(u64, u64)>,
    /// The receive window that an acknowledgement grants, bytes.
    pub window: u64,
    /// The link that lost it, an index into the scenario's; `None` of all that is not
    /// lost, and without a route.
    pub link: Option<u32>,
    /// What made the sender send now.
    pub trigger: Trigger,
    /// Missing bytes before data that arrive ahead of a gap, and bytes that an
    /// acknowledgement has newly covered.
    pub gap: u64,
    /// Congestion window of the sender after the instant, segments.
    pub cwnd: f64,
    /// Slow start threshold of the sender after the instant, segments; infinite until set.
    pub ssthresh: f64,
    /// Segments in flight after the instant.
    pub flight: f64,
    /// Phase of the sender after the instant.
    pub phase: &'static str,
}

/// The packets of one connection between two times.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Packets {
    /// The steps, in the order of time.
    pub steps: Vec<Step>,
    /// When the steps end that were noted, if there are more in the window.
    pub cut_at: Option<Time>,
    /// What had been acknowledged to the sender when the window began, bytes.
    pub acknowledged_before: u64,
    /// What had been sent when the window began, bytes.
    pub sent_before: u64,
    /// The connection runs over QUIC, of whose packets only the lengths are known.
    pub is_quic: bool,
    between: Option<[Time; 2]>,
    /// Steps that are noted at most, where that was set.
    most: Option<usize>,
    /// One past the last byte that was sent.
    highest: u64,
    /// What the sender has been told, bytes.
    acknowledged: u64,
    /// What the receiver has in order, bytes.
    in_order: u64,
    /// What it has beyond: first byte to one past the last.
    beyond: BTreeMap<u64, u64>,
    last: Option<(Time, Trigger)>,
}

impl Packets {
    /// Notes what happens between these times.
    pub(super) fn between(&mut self, between: Option<[Time; 2]>) {
        self.between = between;
    }

    /// Notes at most so many steps.
    pub(super) fn at_most(&mut self, steps: usize) {
        self.most = Some(steps);
    }

    fn note(&mut self, at: Time, kind: StepKind, packet: Option<&Packet>) -> Option<&mut Step> {
        let [from, to] = self.between?;
        if at < from {
            (self.acknowledged_before, self.sent_before) = (self.acknowledged, self.highest);
            return None;
        }
        if at > to {
            return None;
        }
        if self.steps.len() >= self.most.unwrap_or(MOST) {
            self.cut_at.get_or_insert(at);
            return None;
        }
        let carries_ack = packet.is_some_and(|p| p.payload == 0 && p.has(flags::ACK));
        self.steps.push(Step {
            at,
            kind,
            place: kind.place(),
            sequence: packet.map_or(0, |p| p.sequence),
            bytes: packet.map_or(0, |p| u32::from(p.payload)),
            ip_bytes: packet.map_or(0, |p| u32::from(p.bytes)),
            acknowledgement: match packet {
                Some(packet) if carries_ack => packet.acknowledgement,
                _ => self.acknowledged,
            },
            sack: packet.filter(|_| carries_ack).map(sack).unwrap_or_default(),
            window: packet.map_or(0, |p| u64::from(p.window)),
            link: None,
            trigger: Trigger::Timer,
            gap: 0,
            cwnd: 0.0,
            ssthresh: f64::INFINITY,
            flight: 0.0,
            phase: "",
        });
        self.steps.last_mut()
    }

    pub(super) fn sent(&mut self, now: Time, by_sender: bool, packet: &Packet) {
        if self.between.is_none() {
            return;
        }
        let trigger = match self.last {
            Some((at, trigger)) if at == now => trigger,
            _ => Trigger::Timer,
        };
        let kind = match packet {
            p if is_control(p) => StepKind::Control,
            p if p.has(flags::PROBE) || (by_sender && p.payload == 0 && p.has(flags::DUMMY)) => {
                StepKind::Probe
            }
            p if by_sender && p.payload > 0 && p.sequence < self.highest => StepKind::Resent,
            p if by_sender && p.payload > 0 => StepKind::Sent,
            // Pure ACKs of what comes the other way, such as of a request.
            _ if by_sender => return,
            _ => StepKind::Acknowledges,
        };
        if let Some(step) = self.note(now, kind, Some(packet)) {
            step.trigger = trigger;
            if !by_sender {
                step.place = "receiver";
            }
        }
        if matches!(kind, StepKind::Sent | StepKind::Resent) {
            let end = packet.sequence + u64::from(packet.payload);
            self.highest = self.highest.max(end);
        }
    }

    pub(super) fn received(&mut self, now: Time, at_receiver: bool, packet: &Packet) {
        if self.between.is_none() {
            return;
        }
        if is_control(packet) {
            let step = self.note(now, StepKind::ControlArrived, Some(packet));
            if let Some(step) = step.filter(|_| at_receiver) {
                step.place = "receiver";
            }
            if !at_receiver {
                self.last = Some((now, Trigger::Opened));
            }
        }
        if self.is_quic {
            self.received_over_quic(now, at_receiver, packet);
            return;
        }
        if !at_receiver {
            let news = packet.acknowledgement.saturating_sub(self.acknowledged);
            // The ACK of a FIN may come with the FIN of the other side.
            let closes = packet.has(flags::FIN) && news > 0;
            if packet.payload > 0 || (is_control(packet) && !closes) {
                return;
            }
            let kind = if news > 0 {
                StepKind::Acknowledged
            } else {
                StepKind::Repeated
            };
            self.acknowledged += news;
            self.last = Some((now, Trigger::Ack));
            if let Some(step) = self.note(now, kind, Some(packet)) {
                step.gap = news;
            }
            return;
        }
        if packet.payload == 0 || packet.has(flags::PROBE) {
            return;
        }
        let (start, end) = (packet.sequence, packet.sequence + u64::from(packet.payload));
        let gap = start.saturating_sub(self.in_order);
        let is_known = end <= self.in_order
            || self
                .beyond
                .range(..=start)
                .next_back()
                .is_some_and(|(_, last)| *last >= end);
        let kind = match (is_known, gap) {
            (true, _) => StepKind::Duplicate,
            (false, 0) => StepKind::Received,
            (false, _) => StepKind::Ahead,
        };
        self.take(start, end);
        if let Some(step) = self.note(now, kind, Some(packet)) {
            step.gap = gap;
        }
    }

    /// What a packet of QUIC carries is sealed: at the receiver it is data, and at the sender an
    /// acknowledgement.
    fn received_over_quic(&mut self, now: Time, at_receiver: bool, packet: &Packet) {
        if packet.has(flags::PROBE) {
            return;
        }
        let kind = match at_receiver {
            true => StepKind::Received,
            false => StepKind::Acknowledged,
        };
        if !at_receiver {
            self.last = Some((now, Trigger::Ack));
        }
        self.note(now, kind, Some(packet));
    }

    /// The receiver has these bytes.
    fn take(&mut self, mut start: u64, mut end: u64) {
        // What touches them becomes one range.
        while let Some((&from, &to)) = self.beyond.range(..=end).next_back() {
            if to < start {
                break;
            }
            self.beyond.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        if start <= self.in_order {
            self.in_order = self.in_order.max(end);
        } else {
            self.beyond.insert(start, end);
        }
    }

    pub(super) fn lost(&mut self, loss: &LostPacket, to_receiver: bool) {
        if self.between.is_none() {
            return;
        }
        let kind = if to_receiver {
            StepKind::Lost(loss.cause)
        } else {
            StepKind::LostAck(loss.cause)
        };
        if let Some(step) = self.note(loss.at, kind, Some(&loss.packet)) {
            step.link = loss.link;
        }
    }

    pub(super) fn timed_out(&mut self, now: Time) {
        if self.between.is_none() {
            return;
        }
        // It is known once the sender has acted on it: what was sent at this instant
        // was sent for that.
        let first = self.steps.iter().rposition(|step| step.at < now);
        let first = first.map_or(0, |place| place + 1);
        for step in &mut self.steps[first..] {
            step.trigger = Trigger::Timeout;
        }
        if self.note(now, StepKind::Timeout, None).is_some()
            && let Some(step) = self.steps.pop()
        {
            self.steps.insert(first, step);
        }
        self.last = Some((now, Trigger::Timeout));
    }

    /// The steps with the state of the sender, which `series` has of every instant.
    pub(super) fn finish(mut self, series: &FlowSeries) -> Packets {
        // Losses were noted when they were decided on.
        self.steps.sort_by_key(|step| step.at);
        let samples = &series.sender;
        for step in &mut self.steps {
            let place = samples.partition_point(|s| s.at <= step.at);
            let state: Option<&SenderSample> = place.checked_sub(1).map(|i| &samples[i]);
            if let Some(state) = state.or(samples.first()) {
                (step.cwnd, step.flight, step.phase) = (state.cwnd, state.flight, state.phase);
                step.ssthresh = state.ssthresh;
                // Before the first sample there is a window, and nothing in flight.
                if place == 0 {
                    step.flight = 0.0;
                }
            }
        }
        self
    }
}

fn is_control(packet: &Packet) -> bool {
    packet.has(flags::SYN | flags::FIN | flags::RST) && packet.payload == 0
}

/// The ranges that an acknowledgement reports.
fn sack(packet: &Packet) -> Vec<(u64, u64)> {
    // Negative acknowledgements and headers of routers take the same place.
    if packet.carries(priority::SNACK) || packet.carries(priority::CONGESTION_HEADER) {
        return Vec::new();
    }
    let blocks = &packet.sack[..usize::from(packet.sack_count).min(packet.sack.len())];
    let absolute = |x: u32| {
        packet
            .acknowledgement
            .wrapping_add_signed(i64::from(x.cast_signed()))
    };
    blocks
        .iter()
        .map(|b| (absolute(b.start), absolute(b.end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(sequence: u64) -> Packet {
        let mut packet = Packet::new(1);
        packet.sequence = sequence;
        packet.payload = 1000;
        packet
    }

    #[test]
    fn what_arrives_is_told_by_what_is_there() {
        let mut packets = Packets::default();
        packets.between(Some([Time::ZERO, Time::MAX]));
        let mut arrive = |at, sequence| {
            packets.received(Time::from_nanos(at), true, &data(sequence));
        };
        for (at, sequence) in [
            (1, 0),
            (2, 2000),
            (3, 2000),
            (4, 4000),
            (5, 1000),
            (6, 3000),
        ] {
            arrive(at, sequence);
        }
        arrive(7, 4000);
        let kinds: Vec<&str> = packets.steps.iter().map(|s| s.kind.name()).collect();
        let expected = [
            "received",
            "ahead",
            "duplicate",
            "ahead",
            "received",
            "received",
        ];
        assert_eq!(kinds[..6], expected);
        assert_eq!(kinds[6], "duplicate");
        assert_eq!(packets.in_order, 5000);
        assert!(packets.beyond.is_empty());
        assert_eq!(packets.steps[1].gap, 1000);
    }

    #[test]
    fn steps_are_bounded() {
        let mut packets = Packets::default();
        packets.between(Some([Time::from_nanos(10), Time::MAX]));
        for i in 0..MOST as u64 + 50 {
            packets.sent(Time::from_nanos(i), true, &data(1000 * i));
        }
        assert_eq!(packets.steps.len(), MOST);
        assert_eq!(packets.cut_at, Some(Time::from_nanos(MOST as u64 + 10)));
        assert_eq!(packets.sent_before, 9000);
    }
}
