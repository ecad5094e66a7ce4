//! A timeline that begins in its middle.

use super::{Piece, Timeline};
use bentpipe_units::{Duration, Time};

impl Timeline {
    /// The same from `by` on: what it is at `by` it is at time zero then. Rate and
    /// delay that repeat after different times each go on from where they are.
    #[must_use]
    pub fn later(&self, by: Duration) -> Timeline {
        let at = Time::ZERO + by;
        let span = self.span(at);
        let first = Piece {
            from: Time::ZERO,
            one_way_delay: self.delay(span, at),
            ..self.pieces[span.index]
        };
        // In a repeating timeline, since the start of the period.
        let passed = match self.period {
            Some(period) => Duration::from_nanos(by.as_nanos() % period.as_nanos().max(1)),
            None => by,
        };
        let moved = |piece: &Piece, later: Duration| Piece {
            from: Time::from_nanos((piece.from + later).as_nanos() - passed.as_nanos()),
            ..*piece
        };
        let mut pieces = vec![first];
        let after = &self.pieces[span.index + 1..];
        pieces.extend(after.iter().map(|piece| moved(piece, Duration::ZERO)));
        if let Some(period) = self.period {
            let before = self.pieces[..=span.index].iter();
            // The piece that was cut begins the next turn unless it was cut at
            // its very beginning.
            let before = before.filter(|piece| piece.from.since(Time::ZERO) < passed);
            pieces.extend(before.map(|piece| moved(piece, period)));
        }
        let line = Timeline {
            pieces,
            opportunities: self.opportunities.as_ref().map(|given| given.later(by)),
            ..self.clone()
        };
        line.weighed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, piece};
    use super::*;
    use crate::trace::mahimahi;
    use proptest::prelude::*;

    fn line(rates: &[(u64, u64, bool)], repeats: bool) -> Timeline {
        let pieces = rates
            .iter()
            .zip(0..)
            .map(|((rate, delay, sloped), i)| Piece {
                sloped: *sloped,
                route: i as u32 % 3,
                ..piece(10 * i, rate * 1_000_000, *delay)
            });
        let line = Timeline::new(pieces.collect()).unwrap();
        match repeats {
            true => line
                .repeating(Duration::from_millis(10 * rates.len() as u64))
                .unwrap(),
            false => line,
        }
    }

    proptest! {
        /// At every time it is what the original is that much later.
        #[test]
        fn a_later_start_sees_the_same(
            rates in proptest::collection::vec((1u64..50, 1u64..50, any::<bool>()), 1..6),
            by_us in 0u64..200_000,
            repeats in any::<bool>(),
            looks in proptest::collection::vec(0u64..300_000, 1..20),
        ) {
            let line = line(&rates, repeats);
            let by = Duration::from_micros(by_us);
            let moved = line.later(by);
            for look in looks {
                let look = Time::ZERO + Duration::from_micros(look);
                let (a, b) = (moved.at(look), line.at(look + by));
                prop_assert_eq!((a.rate, a.up, a.route, a.loss), (b.rate, b.up, b.route, b.loss));
                let off = a.one_way_delay.as_nanos().abs_diff(b.one_way_delay.as_nanos());
                prop_assert!(off <= 2, "{} {}", a.one_way_delay, b.one_way_delay);
            }
        }

        #[test]
        fn opportunities_come_that_much_earlier(
            gaps in proptest::collection::vec(0u64..5, 1..30),
            by in 0u64..100,
        ) {
            let mut ms = 0;
            let mut text = String::new();
            for gap in gaps {
                ms += gap;
                text.push_str(&format!("{ms}\n"));
            }
            prop_assume!(ms > 0);
            let given = mahimahi::read(&text, true).unwrap();
            let moved = given.later(Duration::from_millis(by));
            let all: Vec<Time> = (0..100).filter_map(|i| given.at(i)).collect();
            // Where a period ends, its last has come and the next one's first has not.
            let count = text.lines().count() as u64;
            let has_come = |i: u64, t: Time| match by % ms {
                0 => i < by / ms * count,
                _ => t <= at(by),
            };
            let later: Vec<u64> = (0..).zip(&all).filter(|(i, t)| !has_come(*i, **t))
                .map(|(_, t)| t.since(at(by)).as_nanos()).take(20).collect();
            let found: Vec<u64> = (0..later.len() as u64)
                .map(|i| moved.at(i).unwrap().as_nanos()).collect();
            prop_assert_eq!(found, later);
        }
    }
}
