//! A transmitter that follows a timeline, packet by packet.

use crate::channel::Channel;
use crate::jitter::Jitter;
use crate::timeline::{Loss, Opportunities, Span, Timeline};
use crate::transmitter::Wire;
use crate::{ChannelSettings, LinkPlan, Verdict};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Time};
use std::sync::Arc;

/// Where a transmitter is in the timeline of its link, and what follows from
/// that for the packets that it sends.
#[derive(Clone, Debug)]
pub(crate) struct LinkCursor {
    timeline: Arc<Timeline>,
    wire: Wire,
    /// Where the last transmission ended.
    cursor: Span,
    /// Transmission times of the last two packet sizes: bits a second, bytes on the wire, time.
    recent: [(u64, u32, Duration); 2],
    /// Draws the losses that the timeline asks for. Where the link has no
    /// channel its name is that of one: a timeline of constant packet errors
    /// loses what a uniform channel loses.
    stream: Stream,
    /// The last packet error rate worked out: bit error rate, bytes on the
    /// wire, rate.
    packet_errors: (f64, u32, f64),
    /// Route of the last packet that arrives, and its arrival.
    last: (u32, Time),
    /// The last transmission: start, end, and time in it that the transmitter
    /// could send.
    current: (Time, Time, Duration),
    /// Time that the transmitter was busy with those before.
    busy: Duration,
    overtakes: bool,
    served: Served,
    /// How the delay varies, if it does.
    jitter: Option<Box<Jitter>>,
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

/// Fate of a packet that the transmitter has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives(Time),
    Lost { at: Time, verdict: Verdict },
}

/// A transmission, and what it tells the two sides of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// When it ends; [`Time::MAX`]: never.
    pub(crate) end: Time,
    /// How long its propagation takes.
    pub(crate) delay: Duration,
    /// Cause of the loss, if it is lost.
    pub(crate) lost: Option<Verdict>,
}

impl LinkCursor {
    pub(crate) fn new(plan: &LinkPlan<'_>, timeline: Arc<Timeline>) -> LinkCursor {
        let process = match plan.settings.channel {
            ChannelSettings::Perfect => "channel",
            _ => "timeline",
        };
        LinkCursor {
            cursor: timeline.span(Time::ZERO),
            recent: [(0, 0, Duration::ZERO); 2],
            overtakes: timeline.changes_route(),
            stream: Stream::new(plan.seed, &format!("{process} {}", plan.name)),
            packet_errors: (0.0, 0, 0.0),
            last: (timeline.at(Time::ZERO).route, Time::ZERO),
            current: (Time::ZERO, Time::ZERO, Duration::ZERO),
            busy: Duration::ZERO,
            served: Served::default(),
            jitter: (plan.jitter.is_some() || timeline.has_jitter())
                .then(|| Box::new(Jitter::new(plan.jitter, plan.seed, plan.name))),
            wire: Wire::new(plan.settings),
            timeline,
        }
    }

    /// True if a packet may arrive before one that was sent earlier.
    #[inline]
    pub(crate) fn overtakes(&self) -> bool {
        self.overtakes
    }

    /// The least delay of any time, where it does not vary from packet to packet and packets keep
    /// their order.
    pub(crate) fn least_delay(&self) -> Option<Duration> {
        if self.jitter.is_some() || self.overtakes {
            return None;
        }
        // On a slope it is between that of a piece and that of the next.
        let delays = self.timeline.pieces().iter().map(|p| p.one_way_delay);
        delays.min()
    }

    /// Where the last transmission ended.
    pub(crate) fn cursor(&self) -> Span {
        self.cursor
    }

    /// Moves `span` to `at`.
    pub(crate) fn seek(&self, span: &mut Span, at: Time) {
        self.timeline.seek(span, at);
    }

    /// The rate at `now`.
    pub(crate) fn rate(&self, now: Time) -> Rate {
        self.timeline.at(now).rate
    }

    pub(crate) fn is_down(&self, now: Time) -> bool {
        !self.timeline.at(now).up
    }

    /// The first instant from `at` on when the transmitter can send a packet
    /// that arrived at `entered`.
    #[inline]
    pub(crate) fn resume(&mut self, at: Time, entered: Time) -> Time {
        match self.timeline.opportunities() {
            Some(line) => self.served.first(line, entered).max(at),
            None => self.timeline.resume(&mut self.cursor, at),
        }
    }

    /// Transmits a packet of `bytes`, without framing, that arrived at `entered`, from `start` on,
    /// when the transmitter can send. Returns the end of its transmission ([`Time::MAX`]: never)
    /// and what becomes of it.
    pub(crate) fn transmit(
        &mut self,
        entered: Time,
        start: Time,
        bytes: u32,
        channel: Option<&mut Channel>,
    ) -> (Time, Fate) {
        let wire = self.wire.packet(bytes);
        let whole = self.end_within(start, wire);
        let line = &*self.timeline;
        let mut span = self.cursor;
        let first = span;
        let end = match (whole, line.opportunities()) {
            (Some(end), _) => end,
            (None, Some(given)) => {
                let end = self.served.serve(given, entered, wire);
                line.seek(&mut span, end);
                end
            }
            (None, None) => self.finish(&mut span, start, 1, u64::from(bytes)),
        };
        self.cursor = span;
        self.busy += self.current.2;
        let sending = if end == Time::MAX {
            Duration::ZERO
        } else if first == span {
            end.since(start)
        } else {
            line.sending(first, start, end)
        };
        self.current = (start, end, sending);
        if end == Time::MAX {
            // For ever in transmission.
            return (end, Fate::Arrives(end));
        }
        let piece = line.piece(span);
        let destroyed = match piece.loss {
            Loss::Channel => channel.is_some_and(|c| c.loses(wire, end)),
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
        let delay = line.delay(span, end);
        let delay = match &mut self.jitter {
            Some(jitter) => jitter.vary(delay, end, piece.jitter),
            None => delay,
        };
        // Drawn also where nothing can arrive: an outage shifts no losses, and a loss no delays.
        let down = line.is_down_within(first, span);
        if down || destroyed {
            let verdict = if down {
                Verdict::OutageLoss
            } else {
                Verdict::ChannelLoss
            };
            return (end, Fate::Lost { at: end, verdict });
        }
        let mut at = end + delay;
        if self.last.0 == piece.route {
            at = at.max(self.last.1);
        }
        if let Some(cut) = line.cut(span, at) {
            let verdict = Verdict::OutageLoss;
            return (end, Fate::Lost { at: cut, verdict });
        }
        self.last = (piece.route, at);
        (end, Fate::Arrives(at))
    }

    /// Moves to `start`. The end of a transmission of `wire` bytes from then on, if it lies in the same
    /// piece: most do, and most packets have one of two sizes.
    #[inline]
    fn end_within(&mut self, start: Time, wire: u32) -> Option<Time> {
        let line = &*self.timeline;
        line.seek(&mut self.cursor, start);
        let speed = line.speed(self.cursor.index);
        if speed == 0 || line.opportunities().is_some() {
            return None;
        }
        let is_this = |known: &(u64, u32, Duration)| (known.0, known.1) == (speed, wire);
        if !is_this(&self.recent[0]) {
            if !is_this(&self.recent[1]) {
                // A packet's length is below 2^33 bits: the product fits.
                let work = u64::from(wire).checked_mul(8_000_000_000)?;
                self.recent[1] = (speed, wire, Duration::from_nanos(work.div_ceil(speed)));
            }
            self.recent.swap(0, 1);
        }
        let data = start + self.wire.preambles(1);
        let end = data + self.recent[0].2;
        (data < self.cursor.until && end <= self.cursor.until).then_some(end)
    }

    /// [`LinkCursor::transmit`] where both sides learn what became of the packet.
    pub(crate) fn fly(
        &mut self,
        entered: Time,
        start: Time,
        bytes: u32,
        channel: Option<&mut Channel>,
    ) -> Flight {
        let (end, fate) = self.transmit(entered, start, bytes, channel);
        let (delay, lost) = match fate {
            Fate::Arrives(at) => (at.since(end), None),
            Fate::Lost { verdict, .. } => (self.timeline.delay(self.cursor, end), Some(verdict)),
        };
        Flight { end, delay, lost }
    }

    /// Time up to `now` that the transmitter was busy: sending, and not
    /// waiting for an outage to end. Of delivery opportunities, the share that
    /// was used.
    pub(crate) fn busy(&self, now: Time) -> Duration {
        let line = &*self.timeline;
        if let Some(given) = line.opportunities() {
            let all = given.until(now).max(1) as f64 * f64::from(given.bytes);
            return now.since(Time::ZERO).scaled(self.served.bytes as f64 / all);
        }
        let (start, end, sending) = self.current;
        if now < end {
            return self.busy + line.sending(line.span(start), start, now);
        }
        self.busy + sending
    }

    /// [`LinkCursor::busy`] where the transmissions up to the last one, which may
    /// lie ahead, follow each other without a pause in which the transmitter
    /// could send.
    pub(crate) fn busy_precomputed(&self, now: Time) -> Duration {
        let (start, ..) = self.current;
        if now >= start || start == Time::MAX {
            return self.busy(now);
        }
        let line = &*self.timeline;
        let ahead = line.sending(line.span(now), now, start);
        self.busy.saturating_sub(ahead)
    }

    /// How long it takes from `now` on to send `packets` of `bytes` in all more, by a
    /// transmitter that is free at `free`.
    pub(crate) fn drain(&self, now: Time, free: Time, packets: u64, bytes: u64) -> Duration {
        if let Some(line) = self.timeline.opportunities() {
            let wire = self.wire.packets(packets, bytes);
            let count = wire.div_ceil(u64::from(line.bytes)).max(1);
            let last = self.served.index(line, now) + count - 1;
            return line.at(last).unwrap_or(Time::MAX).since(now);
        }
        let start = free.max(now);
        let mut span = self.cursor;
        let begins = self.timeline.resume(&mut span, start);
        self.finish(&mut span, begins, packets, bytes).since(now)
    }

    /// When a transmission of `packets` of `bytes` in all ends that starts at `start`, near
    /// `span`.
    pub(crate) fn finish(&self, span: &mut Span, start: Time, packets: u64, bytes: u64) -> Time {
        let wire = self.wire.packets(packets, bytes);
        let data = start + self.wire.preambles(packets);
        self.timeline.finish(span, data, wire)
    }

    /// From `at` on, the first time without service before `end`: when it
    /// begins and when it ends.
    pub(crate) fn pause(&self, at: Time, end: Time) -> Option<(Time, Time)> {
        if at >= end {
            return None;
        }
        if let Some(line) = self.timeline.opportunities() {
            let next = line.at(self.served.index(line, at)).unwrap_or(Time::MAX);
            return Some((at, next));
        }
        let mut span = self.cursor;
        let begins = self.timeline.pause(&mut span, at, end);
        if begins >= end {
            return None;
        }
        Some((begins, self.timeline.resume(&mut span, begins)))
    }
}
