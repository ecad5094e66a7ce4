//! A transmitter whose link follows a timeline.

use crate::channel::Channel;
use crate::timeline::{Loss, Opportunities, Span, Timeline};
use crate::{ChannelSettings, Counters, LinkSettings, Verdict};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Where a link is in its timeline, and what follows from that.
#[derive(Clone, Debug)]
pub(crate) struct Timed<P> {
    timeline: Arc<Timeline>,
    /// Where the last transmission was.
    cursor: Span,
    /// Draws the losses that the timeline asks for. Where the link has no
    /// channel its name is that of one: a timeline of constant packet errors
    /// loses what a uniform channel loses.
    stream: Stream,
    /// The last packet error rate worked out: bit error rate, bytes on the
    /// wire, rate.
    packet_errors: (f64, u32, f64),
    /// Route of the packet sent last, and its arrival.
    last: (u32, Time),
    /// The transmission that is going on or was the last.
    current: (Time, Time),
    /// Time that the transmitter was busy with those before.
    busy: Duration,
    /// Ends of transmission of the packets in the link's ring, in its order.
    sent: VecDeque<Time>,
    /// Packets that will be lost, the next first.
    pending_losses: VecDeque<PendingLoss<P>>,
    overtakes: bool,
    served: Served,
}

/// Where a link with delivery opportunities is among them.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    /// Opportunities used or gone before the next that may be used.
    next: u64,
    /// The last one that was used, and the bytes that it has left for those
    /// that waited then.
    at: Time,
    left: u32,
    /// Bytes served so far.
    bytes: u64,
}

impl Served {
    /// When a packet is served first that came at `entered`.
    fn first(&self, line: &Opportunities, entered: Time) -> Time {
        if self.left > 0 && entered < self.at {
            self.at
        } else {
            line.at(self.index(line, entered)).unwrap_or(Time::MAX)
        }
    }

    fn index(&self, line: &Opportunities, entered: Time) -> u64 {
        self.next.max(line.until(entered))
    }

    /// Serves a packet of `bytes`, a part of it at least at `first`; when the
    /// last part is.
    fn serve(&mut self, line: &Opportunities, entered: Time, bytes: u32) -> Time {
        let mut more = bytes;
        self.bytes += u64::from(bytes);
        if self.left > 0 && entered < self.at {
            let now = self.left.min(more);
            self.left -= now;
            more -= now;
            if more == 0 {
                return self.at;
            }
        }
        let count = more.div_ceil(line.bytes).max(1);
        let last = self.index(line, entered) + u64::from(count) - 1;
        self.next = last + 1;
        self.left = count * line.bytes - more;
        self.at = line.at(last).unwrap_or(Time::MAX);
        self.at
    }
}

/// A packet in transmission or propagation that will not arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLoss<P> {
    /// When it is lost.
    at: Time,
    /// End of its transmission.
    pub(crate) sent: Time,
    pub(crate) packet: P,
    bytes: u32,
    verdict: Verdict,
}

/// What becomes of a packet that the transmitter has taken.
pub(crate) enum Way {
    /// It arrives then, at this place of the ring.
    Arrives(Time, usize),
    Lost,
}

impl<P: Copy> Timed<P> {
    pub(crate) fn new(
        settings: &LinkSettings,
        timeline: Arc<Timeline>,
        seed: u64,
        name: &str,
    ) -> Timed<P> {
        let process = match settings.channel {
            ChannelSettings::Perfect => "channel",
            _ => "timeline",
        };
        Timed {
            cursor: timeline.span(Time::ZERO),
            overtakes: timeline.changes_route(),
            stream: Stream::new(seed, &format!("{process} {name}")),
            packet_errors: (0.0, 0, 0.0),
            last: (timeline.at(Time::ZERO).route, Time::ZERO),
            current: (Time::ZERO, Time::ZERO),
            busy: Duration::ZERO,
            sent: VecDeque::new(),
            pending_losses: VecDeque::new(),
            served: Served::default(),
            timeline,
        }
    }

    /// True if a packet may arrive before one that was sent earlier.
    pub(crate) fn overtakes(&self) -> bool {
        self.overtakes
    }

    /// The rate at `now`.
    pub(crate) fn rate(&self, now: Time) -> Rate {
        self.timeline.at(now).rate
    }

    pub(crate) fn is_down(&self, now: Time) -> bool {
        !self.timeline.at(now).up
    }

    /// The first instant from `at` on when the transmitter can send a packet
    /// that came at `entered`.
    pub(crate) fn resume(&mut self, at: Time, entered: Time) -> Time {
        match self.timeline.opportunities() {
            Some(line) => self.served.first(line, entered).max(at),
            None => self.timeline.resume(&mut self.cursor, at),
        }
    }

    /// Transmits a packet that came at `entered` from `start` on, when the
    /// transmitter can send.
    /// Returns the end of its transmission and what becomes of it; `arrival`
    /// gives the arrivals of those in the ring.
    pub(crate) fn transmit(
        &mut self,
        (entered, start): (Time, Time),
        (packet, bytes, wire): (P, u32, u32),
        channel: Option<&mut Channel>,
        ring: usize,
        arrival: impl Fn(usize) -> Time,
    ) -> (Time, Way) {
        let line = &*self.timeline;
        let mut span = self.cursor;
        line.seek(&mut span, start);
        let first = span;
        let end = match line.opportunities() {
            Some(given) => {
                let end = self.served.serve(given, entered, wire);
                line.seek(&mut span, end);
                end
            }
            None => line.finish(&mut span, start, u64::from(wire)),
        };
        self.cursor = span;
        if self.current.1 != Time::MAX {
            self.busy += line.sending(self.current.0, self.current.1);
        }
        self.current = (start, end);
        if end == Time::MAX {
            // For ever in transmission.
            let place = self.place(end, ring, arrival);
            self.sent.insert(place, end);
            return (end, Way::Arrives(end, place));
        }
        let piece = *line.piece(span);
        let destroyed = match piece.loss {
            Loss::Channel => channel.is_some_and(|c| c.loses(wire)),
            Loss::Packets(p) => self.stream.chance(p.get()),
            Loss::Bits(rate) => {
                let key = (rate.get(), wire);
                if (self.packet_errors.0, self.packet_errors.1) != key {
                    let p = crate::channel::packet_error_rate(libm::log1p(-key.0), wire);
                    self.packet_errors = (key.0, key.1, p);
                }
                self.stream.chance(self.packet_errors.2)
            }
        };
        // Drawn also where nothing can arrive: an outage shifts no losses.
        let down = line.is_down_within(start, first, span);
        if down || destroyed {
            let verdict = if down {
                Verdict::OutageLoss
            } else {
                Verdict::ChannelLoss
            };
            self.doom(end, end, packet, bytes, verdict);
            return (end, Way::Lost);
        }
        let mut at = end + line.delay(span, end);
        if self.last.0 == piece.route {
            at = at.max(self.last.1);
        }
        if let Some(cut) = line.cut(span, at) {
            self.doom(cut, end, packet, bytes, Verdict::OutageLoss);
            return (end, Way::Lost);
        }
        self.last = (piece.route, at);
        let place = self.place(at, ring, arrival);
        self.sent.insert(place, end);
        (end, Way::Arrives(at, place))
    }

    /// The place of an arrival at `at` in a ring of `ring` packets.
    fn place(&self, at: Time, ring: usize, arrival: impl Fn(usize) -> Time) -> usize {
        let mut place = ring;
        while self.overtakes && place > 0 && arrival(place - 1) > at {
            place -= 1;
        }
        place
    }

    fn doom(&mut self, at: Time, sent: Time, packet: P, bytes: u32, verdict: Verdict) {
        let place = self.pending_losses.partition_point(|d| d.at <= at);
        let pending_losses = PendingLoss {
            at,
            sent,
            packet,
            bytes,
            verdict,
        };
        self.pending_losses.insert(place, pending_losses);
    }

    /// Takes a packet that has been lost by `now`, and counts it.
    pub(crate) fn lost(&mut self, now: Time, counters: &mut Counters) -> Option<(P, Verdict)> {
        let pending_losses = self
            .pending_losses
            .front()
            .filter(|d| d.at <= now)
            .copied()?;
        self.pending_losses.pop_front();
        match pending_losses.verdict {
            Verdict::OutageLoss => counters.outage_losses += 1,
            _ => counters.channel_losses += 1,
        }
        counters.lost_bytes += u64::from(pending_losses.bytes);
        Some((pending_losses.packet, pending_losses.verdict))
    }

    /// Packets on the link that will not arrive.
    pub(crate) fn pending_losses(&self) -> &VecDeque<PendingLoss<P>> {
        &self.pending_losses
    }

    /// End of transmission of the packet at `place` in the ring.
    pub(crate) fn sent(&self, place: usize) -> Option<Time> {
        self.sent.get(place).copied()
    }

    /// The head of the ring is taken.
    pub(crate) fn delivered(&mut self) {
        self.sent.pop_front();
    }

    /// Time up to `now` that the transmitter was busy: sending, and not
    /// waiting for an outage to end. Of delivery opportunities, the share that
    /// was used.
    pub(crate) fn busy(&self, now: Time) -> Duration {
        if let Some(line) = self.timeline.opportunities() {
            let all = line.until(now).max(1) as f64 * f64::from(line.bytes);
            return now.since(Time::ZERO).scaled(self.served.bytes as f64 / all);
        }
        let (start, end) = self.current;
        self.busy + self.timeline.sending(start, end.min(now))
    }

    /// How long it takes from `now` on to send `wire` bytes more, by a
    /// transmitter that is free at `free`.
    pub(crate) fn drain(&self, now: Time, free: Time, wire: u64) -> Duration {
        if let Some(line) = self.timeline.opportunities() {
            let count = wire.div_ceil(u64::from(line.bytes)).max(1);
            let last = self.served.index(line, now) + count - 1;
            return line.at(last).unwrap_or(Time::MAX).since(now);
        }
        let start = free.max(now);
        let mut span = self.cursor;
        let begins = self.timeline.resume(&mut span, start);
        self.timeline.finish(&mut span, begins, wire).since(now)
    }

    /// From `at` on, the first time without service before `end`: when it
    /// begins and when it ends.
    pub(crate) fn pause(&self, at: Time, end: Time) -> Option<(Time, Time)> {
        if let Some(line) = self.timeline.opportunities() {
            let next = line.at(self.served.index(line, at)).unwrap_or(Time::MAX);
            return (at < end).then_some((at, next));
        }
        let mut span = self.cursor;
        let begins = self.timeline.pause(&mut span, at);
        if begins >= end {
            return None;
        }
        Some((begins, self.timeline.resume(&mut span, begins)))
    }

    /// A bound for the time that `wire` bytes wait, at whatever time they come,
    /// unless the link stops for good.
    pub(crate) fn longest(&self, wire: u64) -> Duration {
        let mut longest = Duration::ZERO;
        if let Some(line) = self.timeline.opportunities() {
            let count = wire / u64::from(line.bytes) + 2;
            let (times, ..) = line.period();
            for index in (0..times.len() as u64).step_by(times.len() / 1000 + 1) {
                let begins = times.get(index as usize).copied().unwrap_or(Time::ZERO);
                let ends = line.at(index + count).unwrap_or(begins);
                longest = longest.max(ends.since(begins));
            }
            return longest;
        }
        let mut span = self.timeline.span(Time::ZERO);
        // Enough of a long one.
        let pieces = self.timeline.pieces();
        for piece in pieces.iter().step_by(pieces.len() / 1000 + 1) {
            let end = self.timeline.finish(&mut span, piece.from, wire);
            if end != Time::MAX {
                longest = longest.max(end.since(piece.from));
            }
        }
        longest + longest
    }
}
