//! What changes on a link with time: handovers, fades, outages.
//!
//! A [`Timeline`] gives rate, one-way delay, loss, up or down and route of a
//! link as functions of time, in pieces. Rate, loss, up and route are steps;
//! the delay is a step or a straight line to the next piece. The timeline may
//! repeat. It is known in advance, so that the end of a transmission across
//! changes of rate is an integral, worked out when the transmission starts.
//!
//! Rules:
//!
//! * A link may have *delivery opportunities* instead of a rate
//!   ([`Opportunities`]): instants at which it serves so many bytes of what
//!   waits.
//! * A packet's transmission ends when the integral of the rate since its start
//!   has reached its size. At rate zero the transmitter waits.
//! * While the link is *down* the transmitter waits, and the queue holds what
//!   comes ([`WhenDown::Waits`]), or it sends into the void and what it sends
//!   is lost ([`WhenDown::Lost`], as a satellite phy without a channel in
//!   ns-2). A packet is lost if the link is down at any time of its
//!   transmission.
//! * Delay and loss are those at the end of the transmission.
//! * Order is kept when the delay falls: a packet arrives no earlier than the
//!   one before it. Where the *route number* changes it does not wait for
//!   packets on the route before and may overtake them. A number that comes
//!   back after another is a new route.
//! * Packets that propagate when the link goes down or the route number
//!   changes arrive all the same ([`InFlightPolicy::Delivered`], as in ns-2), or are
//!   lost at that instant ([`InFlightPolicy::Lost`]).

use bentpipe_units::{Duration, Rate, Ratio, Time};

/// What a link is like from some time on.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Piece {
    /// From when on; in a repeating timeline since the start of the period.
    pub from: Time,
    /// Transmission rate; at zero the transmitter waits.
    pub rate: Rate,
    /// One-way propagation delay at `from`.
    pub one_way_delay: Duration,
    /// The delay goes in a straight line to that of the next piece (the first,
    /// where the timeline repeats); it stays, otherwise, and in the last piece
    /// of a timeline that does not repeat.
    pub sloped: bool,
    /// What the channel loses.
    pub loss: Loss,
    /// False while the link is down.
    pub up: bool,
    /// Which way through the network the link stands for.
    pub route: u32,
}

/// The losses of a link in a piece of its timeline.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum Loss {
    /// As the link's channel does.
    Channel,
    /// Each packet with this probability.
    Packets(Ratio),
    /// Each bit on the wire is wrong with this probability, and a packet with
    /// a wrong bit is lost.
    Bits(Ratio),
}

/// What a transmitter does while its link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum WhenDown {
    /// It waits; packets stay in the queue.
    Waits,
    /// It sends, and what it sends is lost.
    #[default]
    Lost,
}

/// What becomes of packets that propagate when the link goes down or its route
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum InFlightPolicy {
    /// They arrive.
    #[default]
    Delivered,
    /// They are lost at that instant.
    Lost,
}

/// A link's rate, delay, loss, state and route over time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Timeline {
    pieces: Vec<Piece>,
    period: Option<Duration>,
    when_down: WhenDown,
    in_flight: InFlightPolicy,
    opportunities: Option<Opportunities>,
    /// Integral of the rate over a period, in bits times 1e9.
    #[serde(skip)]
    work: u128,
}

/// Instants at which a link serves what waits then. See
/// [`mahimahi`](crate::trace::mahimahi) for what that means.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Opportunities {
    /// In order, at least one.
    pub(crate) times: Vec<Time>,
    /// After what time they repeat, at least the last of them.
    pub(crate) period: Option<Duration>,
    /// What each serves.
    pub(crate) bytes: u32,
}

impl Opportunities {
    /// When opportunity `index` comes, counted over all periods.
    #[must_use]
    pub fn at(&self, index: u64) -> Option<Time> {
        let count = self.times.len() as u64;
        let time = self.times.get((index % count) as usize)?;
        match self.period {
            Some(period) => Some(*time + period * (index / count)),
            None => (index < count).then_some(*time),
        }
    }

    /// How many there are up to and at `at`.
    #[must_use]
    pub fn until(&self, at: Time) -> u64 {
        let (periods, inside) = match self.period.map(Duration::as_nanos) {
            Some(period) => (at.as_nanos() / period, at.as_nanos() % period),
            None => (0, at.as_nanos()),
        };
        let inside = Time::from_nanos(inside);
        let first = self.times.partition_point(|t| *t <= inside) as u64;
        periods * self.times.len() as u64 + first
    }

    /// The first period, and the bytes that each serves.
    #[must_use]
    pub fn period(&self) -> (&[Time], Option<Duration>, u32) {
        (&self.times, self.period, self.bytes)
    }
}

/// Why pieces make no timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimelineError {
    /// Nothing in it.
    #[error("a timeline needs at least one piece")]
    Empty,
    /// The first piece is not from the start.
    #[error("the first piece of a timeline is from time zero on")]
    LateStart,
    /// This piece does not begin after the one before.
    #[error("piece {0} of the timeline does not begin after the one before it")]
    NotIncreasing(usize),
    /// The last piece begins after the period has ended.
    #[error("the timeline repeats before its last piece begins")]
    ShortPeriod,
}

/// A link at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Transmission rate.
    pub rate: Rate,
    /// One-way propagation delay.
    pub one_way_delay: Duration,
    /// What the channel loses.
    pub loss: Loss,
    /// False while the link is down.
    pub up: bool,
    /// Number of the route.
    pub route: u32,
}

/// One passage of a piece, in time since the start of the run. Remembered, so
/// that looking near where one looked before costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    index: usize,
    from: Time,
    /// [`Time::MAX`]: for ever.
    until: Time,
}

impl Timeline {
    /// A timeline of these pieces; the last one stays for ever.
    ///
    /// # Errors
    /// Where the pieces are not in order or do not begin at time zero.
    pub fn new(pieces: Vec<Piece>) -> Result<Timeline, TimelineError> {
        let first = pieces.first().ok_or(TimelineError::Empty)?;
        if first.from != Time::ZERO {
            return Err(TimelineError::LateStart);
        }
        if let Some(at) = pieces.windows(2).position(|w| w[0].from >= w[1].from) {
            return Err(TimelineError::NotIncreasing(at + 1));
        }
        Ok(Timeline {
            pieces,
            period: None,
            when_down: WhenDown::default(),
            in_flight: InFlightPolicy::default(),
            opportunities: None,
            work: 0,
        })
    }

    /// The same again and again, every `period`.
    ///
    /// # Errors
    /// Where the last piece begins later than that.
    pub fn repeating(mut self, period: Duration) -> Result<Timeline, TimelineError> {
        if self.pieces.iter().any(|p| p.from >= Time::ZERO + period) {
            return Err(TimelineError::ShortPeriod);
        }
        self.period = Some(period);
        Ok(self.weighed())
    }

    /// The same with another rule for a link that is down.
    #[must_use]
    pub fn when_down(mut self, rule: WhenDown) -> Timeline {
        self.when_down = rule;
        self.weighed()
    }

    /// The same with another rule for packets that propagate when the link
    /// goes down or its route changes.
    #[must_use]
    pub fn in_flight(mut self, rule: InFlightPolicy) -> Timeline {
        self.in_flight = rule;
        self
    }

    /// The same with delivery opportunities in place of the rate.
    #[must_use]
    pub fn with_opportunities(mut self, opportunities: Opportunities) -> Timeline {
        self.opportunities = Some(opportunities);
        self
    }

    /// The delivery opportunities, where they take the place of the rate.
    #[must_use]
    pub fn opportunities(&self) -> Option<&Opportunities> {
        self.opportunities.as_ref()
    }

    /// True where the delay goes in a straight line at `at`.
    pub(crate) fn is_sloped(&self, at: Time) -> bool {
        let span = self.span(at);
        let last = span.index + 1 == self.pieces.len() && self.period.is_none();
        self.pieces[span.index].sloped && !last
    }

    /// The pieces.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// After what time it repeats.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        self.period
    }

    /// What the transmitter does while the link is down, and what becomes of
    /// packets that propagate then.
    #[must_use]
    pub fn rules(&self) -> (WhenDown, InFlightPolicy) {
        (self.when_down, self.in_flight)
    }

    /// True if the route number changes, so that packets may overtake.
    #[must_use]
    pub fn changes_route(&self) -> bool {
        self.pieces.windows(2).any(|w| w[0].route != w[1].route)
    }

    /// The link at `at`.
    #[must_use]
    pub fn at(&self, at: Time) -> State {
        let span = self.span(at);
        let piece = &self.pieces[span.index];
        State {
            rate: piece.rate,
            one_way_delay: self.delay(span, at),
            loss: piece.loss,
            up: piece.up,
            route: piece.route,
        }
    }

    /// When something begins that differs from what is at `at`: the end of its
    /// piece; `None`: never.
    #[must_use]
    pub fn next_change(&self, at: Time) -> Option<Time> {
        Some(self.span(at).until).filter(|t| *t != Time::MAX)
    }

    fn weighed(mut self) -> Timeline {
        self.work = 0;
        if let Some(period) = self.period {
            let ends = self.pieces.iter().skip(1).map(|p| p.from);
            let ends: Vec<Time> = ends.chain([Time::ZERO + period]).collect();
            for (i, end) in ends.into_iter().enumerate() {
                let length = end.since(self.pieces[i].from).as_nanos();
                self.work += u128::from(self.speed(i)) * u128::from(length);
            }
        }
        self
    }

    /// Bits a second that the transmitter sends in a piece.
    fn speed(&self, index: usize) -> u64 {
        let piece = &self.pieces[index];
        if piece.up || self.when_down == WhenDown::Lost {
            piece.rate.bps()
        } else {
            0
        }
    }

    /// The passage that `at` lies in.
    pub(crate) fn span(&self, at: Time) -> Span {
        let begins = match self.period {
            Some(period) => at.as_nanos() - at.as_nanos() % period.as_nanos(),
            None => 0,
        };
        let inside = Time::from_nanos(at.as_nanos() - begins);
        // The first is from zero on.
        let index = self.pieces.partition_point(|p| p.from <= inside) - 1;
        self.passage(index, Time::from_nanos(begins))
    }

    /// Passage of piece `index` in the period that begins at `begins`.
    fn passage(&self, index: usize, begins: Time) -> Span {
        let shift = begins.since(Time::ZERO);
        let until = match (self.pieces.get(index + 1), self.period) {
            (Some(next), _) => next.from + shift,
            (None, Some(period)) => begins + period,
            (None, None) => Time::MAX,
        };
        Span {
            index,
            from: self.pieces[index].from + shift,
            until,
        }
    }

    /// The passage after this one, which ends.
    fn next(&self, span: Span) -> Span {
        if span.index + 1 < self.pieces.len() {
            let shift = span.from.since(self.pieces[span.index].from);
            self.passage(span.index + 1, Time::ZERO + shift)
        } else {
            self.passage(0, span.until)
        }
    }

    /// Moves `span` to `at`; cheap where that is near.
    pub(crate) fn seek(&self, span: &mut Span, at: Time) {
        if at >= span.from && at >= span.until && span.until != Time::MAX {
            *span = self.next(*span);
        }
        if at < span.from || (at >= span.until && span.until != Time::MAX) {
            *span = self.span(at);
        }
    }

    /// The delay at `at`, which lies in `span`.
    pub(crate) fn delay(&self, span: Span, at: Time) -> Duration {
        let piece = &self.pieces[span.index];
        let next = match self.period {
            _ if !piece.sloped => None,
            Some(_) => Some(&self.pieces[(span.index + 1) % self.pieces.len()]),
            None => self.pieces.get(span.index + 1),
        };
        let Some(next) = next else {
            return piece.one_way_delay;
        };
        let (a, b) = (
            piece.one_way_delay.as_nanos(),
            next.one_way_delay.as_nanos(),
        );
        let passed = i128::from(at.since(span.from).as_nanos());
        let length = i128::from(span.until.since(span.from).as_nanos().max(1));
        let delay = i128::from(a) + (i128::from(b) - i128::from(a)) * passed / length;
        Duration::from_nanos(u64::try_from(delay).unwrap_or(0))
    }

    /// The loss, the state and the route in `span`.
    pub(crate) fn piece(&self, span: Span) -> &Piece {
        &self.pieces[span.index]
    }

    /// When a transmission of `bytes` on the wire ends that starts at `start`;
    /// [`Time::MAX`]: never. Leaves `span` at the end of it.
    pub(crate) fn finish(&self, span: &mut Span, start: Time, bytes: u64) -> Time {
        let mut left = u128::from(bytes) * 8_000_000_000;
        let mut at = start;
        self.seek(span, at);
        loop {
            let speed = self.speed(span.index);
            if speed > 0 {
                // Packets fit 64 bits, where a division is cheap.
                let need = match u64::try_from(left) {
                    Ok(left) => left.div_ceil(speed),
                    Err(_) => u64::try_from(left.div_ceil(u128::from(speed))).unwrap_or(u64::MAX),
                };
                if span.until == Time::MAX || Duration::from_nanos(need) <= span.until.since(at) {
                    return at + Duration::from_nanos(need);
                }
                left -= u128::from(speed) * u128::from(span.until.since(at).as_nanos());
            }
            if span.until == Time::MAX {
                return Time::MAX;
            }
            at = span.until;
            *span = self.next(*span);
            if let (0, Some(period)) = (span.index, self.period) {
                if self.work == 0 {
                    return Time::MAX;
                }
                // Whole periods at once.
                let whole = left.saturating_sub(1) / self.work;
                left -= whole * self.work;
                let whole = u64::try_from(whole).unwrap_or(u64::MAX);
                if whole > 0 {
                    at += period * whole;
                    if at == Time::MAX {
                        return at;
                    }
                    *span = self.passage(0, at);
                }
            }
        }
    }

    /// Calls `each` whenever the integral of the rate has grown by `bytes`
    /// more, up to `end`.
    pub(crate) fn every<E>(
        &self,
        bytes: u32,
        end: Time,
        mut each: impl FnMut(Time) -> Result<(), E>,
    ) -> Result<(), E> {
        let one = u128::from(bytes) * 8_000_000_000;
        // What the integral has above the last multiple.
        let mut above = 0u128;
        let mut span = self.span(Time::ZERO);
        loop {
            let speed = u128::from(self.speed(span.index));
            let until = span.until.min(end);
            let grows = speed * u128::from(until.since(span.from).as_nanos());
            for count in 1..=(above + grows) / one {
                let after = (count * one - above).div_ceil(speed);
                let after = u64::try_from(after).unwrap_or(u64::MAX);
                each(span.from + Duration::from_nanos(after))?;
            }
            above = (above + grows) % one;
            if span.until >= end {
                return Ok(());
            }
            span = self.next(span);
        }
    }

    /// The first instant from `at` on when the transmitter can send;
    /// [`Time::MAX`]: never.
    pub(crate) fn resume(&self, span: &mut Span, at: Time) -> Time {
        self.first(span, at, |speed| speed > 0)
    }

    /// The first instant from `at` on when the transmitter cannot send.
    pub(crate) fn pause(&self, span: &mut Span, at: Time) -> Time {
        self.first(span, at, |speed| speed == 0)
    }

    fn first(&self, span: &mut Span, at: Time, wanted: impl Fn(u64) -> bool) -> Time {
        self.seek(span, at);
        let mut from = at;
        // Once round, and the piece in which one began.
        for _ in 0..=self.pieces.len() {
            if wanted(self.speed(span.index)) {
                return from;
            }
            if span.until == Time::MAX {
                break;
            }
            from = span.until;
            *span = self.next(*span);
        }
        Time::MAX
    }

    /// Time from `a` to `b` in which the transmitter can send.
    pub(crate) fn sending(&self, a: Time, b: Time) -> Duration {
        let mut sum = Duration::ZERO;
        let (mut at, mut span) = (a, self.span(a));
        while at < b {
            let until = span.until.min(b);
            if self.speed(span.index) > 0 {
                sum += until.since(at);
            }
            at = until;
            if at < b {
                span = self.next(span);
            }
        }
        sum
    }

    /// When a packet that propagates from `a`, in `span`, to `b` is lost on
    /// the way, if it is.
    pub(crate) fn cut(&self, span: Span, b: Time) -> Option<Time> {
        if self.in_flight == InFlightPolicy::Delivered {
            return None;
        }
        let route = self.pieces[span.index].route;
        let mut span = span;
        while span.until < b {
            span = self.next(span);
            let piece = &self.pieces[span.index];
            if piece.route != route || !piece.up {
                return Some(span.from);
            }
        }
        None
    }

    /// True if the link is down at any time from `a` to the start of `last`'s
    /// successor, that is to an instant in `last`.
    pub(crate) fn is_down_within(&self, a: Time, first: Span, last: Span) -> bool {
        debug_assert!(first.from <= a);
        let mut span = first;
        loop {
            if !self.pieces[span.index].up {
                return true;
            }
            if span.from >= last.from || span.until == Time::MAX {
                return false;
            }
            span = self.next(span);
        }
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
pub(crate) mod tests;
