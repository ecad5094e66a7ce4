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
//!   changes arrive nevertheless ([`InFlightPolicy::Delivered`], as in ns-2), or are
//!   lost at that instant ([`InFlightPolicy::Lost`]).

mod later;
mod means;
mod opportunities;
mod span;

pub use means::Means;
pub use opportunities::Opportunities;
pub(crate) use span::Span;

use crate::LinkSettings;
use bentpipe_units::{Duration, Rate, Ratio, Time};

/// State of a link from some time on.
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
    /// Losses of the channel.
    pub loss: Loss,
    /// False while the link is down.
    pub up: bool,
    /// Number of the route through the network that the link represents.
    pub route: u32,
    /// The delay varies evenly within this on both sides, a draw for each packet, instead of
    /// as the link's jitter has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
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

/// Behaviour of a transmitter while its link is down.
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
    /// Packets in flight arrive.
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
    /// Time in a period that the transmitter can send.
    #[serde(skip)]
    open: Duration,
}

/// Why pieces make no timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimelineError {
    /// The timeline has no pieces.
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
    /// Transmission rate during the piece.
    pub rate: Rate,
    /// One-way propagation delay during the piece.
    pub one_way_delay: Duration,
    /// Losses of the channel.
    pub loss: Loss,
    /// False while the link is down.
    pub up: bool,
    /// Number of the route.
    pub route: u32,
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
        Ok(Timeline::of(pieces))
    }

    /// The timeline of pieces that are in order, which neither repeats nor follows opportunities.
    fn of(pieces: Vec<Piece>) -> Timeline {
        Timeline {
            pieces,
            period: None,
            when_down: WhenDown::default(),
            in_flight: InFlightPolicy::default(),
            opportunities: None,
            work: 0,
            open: Duration::ZERO,
        }
    }

    /// The timeline of a link on which nothing changes.
    #[must_use]
    pub fn steady(settings: &LinkSettings) -> Timeline {
        Timeline::of(vec![Piece {
            from: Time::ZERO,
            rate: settings.rate,
            one_way_delay: settings.one_way_delay,
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        }])
    }

    /// Repeats the timeline every `period`.
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

    /// Sets the rule for a link that is down.
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

    /// Replaces the rate by delivery opportunities.
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

    /// The pieces in order of time.
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

    /// True if it says in some piece how the delay varies from packet to packet.
    #[must_use]
    pub fn has_jitter(&self) -> bool {
        self.pieces.iter().any(|piece| piece.jitter.is_some())
    }

    /// How the delay varies at `at`, where the timeline says it.
    #[must_use]
    pub fn jitter(&self, at: Time) -> Option<Duration> {
        self.pieces[self.span(at).index].jitter
    }

    /// The same where every piece that does not say how the delay varies has this `spread`.
    #[must_use]
    pub fn with_jitter(mut self, spread: Duration) -> Timeline {
        for piece in &mut self.pieces {
            piece.jitter.get_or_insert(spread);
        }
        self
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
        (self.work, self.open) = (0, Duration::ZERO);
        if let Some(period) = self.period {
            let ends = self.pieces.iter().skip(1).map(|p| p.from);
            let ends: Vec<Time> = ends.chain([Time::ZERO + period]).collect();
            for (i, end) in ends.into_iter().enumerate() {
                let length = end.since(self.pieces[i].from);
                self.work += u128::from(self.speed(i)) * u128::from(length.as_nanos());
                if self.speed(i) > 0 {
                    self.open += length;
                }
            }
        }
        self
    }

    /// Bits a second that the transmitter sends in a piece.
    #[inline]
    pub(crate) fn speed(&self, index: usize) -> u64 {
        let piece = &self.pieces[index];
        if piece.up || self.when_down == WhenDown::Lost {
            piece.rate.bps()
        } else {
            0
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
