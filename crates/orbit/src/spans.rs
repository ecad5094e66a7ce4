//! The delay of an edge as knots over the time in which it is used.
//!
//! Knots are at most 80 s apart; a stretch between two is halved until linear interpolation is
//! within 5 us of the delay at a quarter, the half and three quarters of it, or it is shorter than
//! a tenth of a second. The delay's curvature hardly changes over such a stretch, so that the error
//! between the points looked at stays below twice that.

use bentpipe_units::{Duration, Time};

use crate::constellation::Constellation;
use crate::plan::{Knot, Node, Span};
use crate::position::Position;

/// Uses nearer to each other than this are one span.
const GAP: Duration = Duration::from_secs(60);
const FARTHEST: Duration = Duration::from_secs(80);
const NEAREST: Duration = Duration::from_millis(100);
const TOLERANCE_NS: f64 = 5_000.0;

pub(crate) struct Delays<'a> {
    constellation: &'a Constellation,
    ground: &'a [Position],
}

impl<'a> Delays<'a> {
    pub(crate) fn new(constellation: &'a Constellation, ground: &'a [Position]) -> Delays<'a> {
        Delays {
            constellation,
            ground,
        }
    }

    fn position(&self, node: Node, time: Time) -> Position {
        match node {
            Node::Satellite(satellite) => self.constellation.position(satellite as usize, time),
            Node::Terminal(terminal) => self.ground[terminal as usize],
        }
    }

    fn knot(&self, a: Node, b: Node, at: Time) -> Knot {
        let distance = self.position(a, at).distance(self.position(b, at));
        Knot {
            at,
            delay: distance.one_way_delay(),
        }
    }

    /// The spans of the edge between `a` and `b`, used from and to as in
    /// `uses`, which are in order.
    pub(crate) fn spans(
        &self,
        a: Node,
        b: Node,
        uses: impl Iterator<Item = (Time, Time)>,
    ) -> Vec<Span> {
        let mut stretches: Vec<(Time, Time)> = Vec::new();
        for (from, to) in uses {
            match stretches.last_mut() {
                Some(last) if from <= last.1 + GAP => last.1 = last.1.max(to),
                _ => stretches.push((from, to)),
            }
        }
        let span = |(from, to)| Span {
            knots: self.knots(a, b, from, to),
        };
        stretches.into_iter().map(span).collect()
    }

    fn knots(&self, a: Node, b: Node, from: Time, to: Time) -> Vec<Knot> {
        let mut knots = vec![self.knot(a, b, from)];
        if self.constellation.stands() {
            if to > from {
                knots.push(Knot { at: to, ..knots[0] });
            }
            return knots;
        }
        let mut at = from;
        while at < to {
            let next = (at + FARTHEST).min(to);
            let start = knots[knots.len() - 1];
            self.refine(a, b, start, self.knot(a, b, next), &mut knots);
            at = next;
        }
        knots
    }

    /// Puts the knots after `start` up to `end` at the end of `knots`.
    fn refine(&self, a: Node, b: Node, start: Knot, end: Knot, knots: &mut Vec<Knot>) {
        let length = end.at.since(start.at);
        let at = |quarter: u64| start.at + length * quarter / 4;
        let off = |quarter: u64| {
            let (s, e) = (start.delay.as_nanos() as f64, end.delay.as_nanos() as f64);
            let line = s + (e - s) * quarter as f64 / 4.0;
            (self.knot(a, b, at(quarter)).delay.as_nanos() as f64 - line).abs() > TOLERANCE_NS
        };
        if length > NEAREST && (off(2) || off(1) || off(3)) {
            let middle = self.knot(a, b, at(2));
            self.refine(a, b, start, middle, knots);
            self.refine(a, b, middle, end, knots);
        } else {
            knots.push(end);
        }
    }
}
