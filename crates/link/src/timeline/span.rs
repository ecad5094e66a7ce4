//! Where a time lies in a timeline, and integrals from there.

use super::{InFlightPolicy, Piece, Timeline};
use bentpipe_units::{Duration, Time};

/// One passage of a piece, in time since the start of the run. Callers keep it,
/// so that the next look-up, near the last one, needs no search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) index: usize,
    from: Time,
    /// [`Time::MAX`]: for ever.
    pub(crate) until: Time,
}

impl Timeline {
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
    #[inline]
    pub(crate) fn seek(&self, span: &mut Span, at: Time) {
        if at < span.from || at >= span.until {
            self.seek_far(span, at);
        }
    }

    #[inline(never)]
    fn seek_far(&self, span: &mut Span, at: Time) {
        if at >= span.from && span.until != Time::MAX {
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
            Some(_) => self.pieces.get(span.index + 1).or(self.pieces.first()),
            None => self.pieces.get(span.index + 1),
        };
        let Some(next) = next else {
            return piece.one_way_delay;
        };
        let (a, b) = (
            piece.one_way_delay.as_nanos(),
            next.one_way_delay.as_nanos(),
        );
        let passed = at.since(span.from).as_nanos();
        let length = span.until.since(span.from).as_nanos().max(1);
        let rise = b.abs_diff(a);
        // The product fits 64 bits except for slopes over hours.
        let part = match rise.checked_mul(passed) {
            Some(product) => product / length,
            None => {
                let part = u128::from(rise) * u128::from(passed) / u128::from(length);
                u64::try_from(part).unwrap_or(u64::MAX)
            }
        };
        Duration::from_nanos(if b >= a {
            a.saturating_add(part)
        } else {
            a.saturating_sub(part)
        })
    }

    /// The loss, the state and the route in `span`.
    pub(crate) fn piece(&self, span: Span) -> &Piece {
        &self.pieces[span.index]
    }

    /// When a transmission of `bytes` on the wire ends that starts at `start`;
    /// [`Time::MAX`]: never. Leaves `span` at the end of it.
    pub(crate) fn finish(&self, span: &mut Span, start: Time, bytes: u64) -> Time {
        self.seek(span, start);
        let speed = self.speed(span.index);
        if let (Some(work), 1..) = (bytes.checked_mul(8_000_000_000), speed) {
            let end = start + Duration::from_nanos(work.div_ceil(speed));
            if end <= span.until {
                return end;
            }
        }
        self.finish_across(span, start, bytes)
    }

    /// As above, for a transmission in more than one piece.
    #[inline(never)]
    fn finish_across(&self, span: &mut Span, start: Time, bytes: u64) -> Time {
        let mut left = u128::from(bytes) * 8_000_000_000;
        let mut at = start;
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
    #[inline]
    pub(crate) fn resume(&self, span: &mut Span, at: Time) -> Time {
        self.seek(span, at);
        if self.speed(span.index) > 0 {
            return at;
        }
        self.first(span, at, Time::MAX, |speed| speed > 0)
    }

    /// The first instant from `at` on, before `end`, when the transmitter
    /// cannot send; [`Time::MAX`]: there is none.
    pub(crate) fn pause(&self, span: &mut Span, at: Time, end: Time) -> Time {
        self.first(span, at, end, |speed| speed == 0)
    }

    fn first(&self, span: &mut Span, at: Time, end: Time, matches: impl Fn(u64) -> bool) -> Time {
        self.seek(span, at);
        let mut from = at;
        // Once round, and the piece in which one began.
        for _ in 0..=self.pieces.len() {
            if matches(self.speed(span.index)) {
                return from;
            }
            if span.until >= end {
                break;
            }
            from = span.until;
            *span = self.next(*span);
        }
        Time::MAX
    }

    /// True if the transmitter can always send again some time.
    pub(crate) fn always_resumes(&self) -> bool {
        let last = self.pieces.len() - 1;
        self.opportunities.is_none()
            && (self.work > 0 || (self.period.is_none() && self.speed(last) > 0))
    }

    /// Time from `a`, in `span`, to `b` in which the transmitter can send.
    pub(crate) fn sending(&self, mut span: Span, a: Time, b: Time) -> Duration {
        let (mut sum, mut at) = (Duration::ZERO, a);
        if let Some(period) = self.period {
            // Whole periods at once.
            let whole = b.since(a).as_nanos() / period.as_nanos();
            if whole > 0 {
                sum = self.open * whole;
                at = a + period * whole;
                span = self.span(at);
            }
        }
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
    #[inline]
    pub(crate) fn cut(&self, span: Span, b: Time) -> Option<Time> {
        if self.in_flight == InFlightPolicy::Delivered || span.until >= b {
            return None;
        }
        self.cut_later(span, b)
    }

    /// As above, where it is still on the way when the piece ends.
    fn cut_later(&self, mut span: Span, b: Time) -> Option<Time> {
        let route = self.pieces[span.index].route;
        while span.until < b {
            span = self.next(span);
            let piece = &self.pieces[span.index];
            if piece.route != route || !piece.up {
                return Some(span.from);
            }
        }
        None
    }

    /// True if the link is down at any time from an instant in `first` to one in
    /// `last`.
    #[inline]
    pub(crate) fn is_down_within(&self, first: Span, last: Span) -> bool {
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
