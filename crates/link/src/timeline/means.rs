//! Means of a timeline over a stretch of time.

use super::{Loss, Timeline};
use bentpipe_units::math::pow;
use bentpipe_units::{Duration, Rate, Time};

/// A link over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// What it can carry, over all of the time.
    pub rate: Rate,
    /// Least, mean and most one-way delay while it is up; zero if it never is.
    pub one_way_delay: [Duration; 3],
    /// Share of the time in which it is up.
    pub up: f64,
    /// How often the number of its route changes.
    pub route_changes: usize,
    /// Share of the full packets (1500 bytes) that it loses itself, if they are sent as
    /// its rate has it. What the link's channel loses is not in it.
    pub lost: f64,
}

impl Timeline {
    /// The length of the trace or timeline: after what time it has begun again
    /// or does not change any more, whichever is later of rate and delay.
    #[must_use]
    pub fn length(&self) -> Duration {
        let pieces = match (self.period, self.pieces.last()) {
            (Some(period), _) => period,
            (None, last) => last.map_or(Duration::ZERO, |p| p.from.since(Time::ZERO)),
        };
        let given = self.opportunities().map_or(Duration::ZERO, |given| {
            let last = given.times.last().map(|last| last.since(Time::ZERO));
            given.period.or(last).unwrap_or(Duration::ZERO)
        });
        pieces.max(given)
    }

    /// What it comes to from `from` for `span`, which is above zero.
    #[must_use]
    pub fn means(&self, from: Time, span: Duration) -> Means {
        let end = from + span;
        let (mut bits, mut seconds, mut weighed) = (0.0, 0.0, 0.0);
        let (mut least, mut most) = (Duration::MAX, Duration::ZERO);
        let (mut route, mut route_changes) = (None, 0);
        let (mut sent, mut lost) = (0.0, 0.0);
        let mut at = from;
        let mut passage = self.span(at);
        while at < end {
            self.seek(&mut passage, at);
            let until = passage.until.min(end);
            let length = until.since(at).as_secs();
            let piece = &self.pieces[passage.index];
            // What is sent while the link is down does not arrive, whether it waits or is lost.
            let could = match piece.up {
                true => self.speed(passage.index) as f64 * length,
                false => 0.0,
            };
            bits += could;
            sent += could;
            lost += could * piece.loss.of_full_packets();
            if piece.up {
                // Straight lines: the ends are the extremes.
                let last = Time::from_nanos(until.as_nanos() - 1).max(at);
                let ends = [self.delay(passage, at), self.delay(passage, last)];
                least = least.min(ends[0]).min(ends[1]);
                most = most.max(ends[0]).max(ends[1]);
                weighed += (ends[0].as_secs() + ends[1].as_secs()) / 2.0 * length;
                seconds += length;
                route_changes += usize::from(route.is_some_and(|before| before != piece.route));
                route = Some(piece.route);
            }
            at = until;
        }
        if let Some(given) = self.opportunities() {
            let times = given.until(end).saturating_sub(given.until(from));
            bits = times as f64 * f64::from(given.bytes) * 8.0;
        }
        let mean = match seconds > 0.0 {
            true => Duration::from_secs_f64(weighed / seconds),
            false => Duration::ZERO,
        };
        Means {
            rate: Rate::from_bps((bits / span.as_secs() + 0.5) as u64),
            one_way_delay: [least.min(most), mean, most],
            up: seconds / span.as_secs(),
            route_changes,
            lost: if sent > 0.0 { lost / sent } else { 0.0 },
        }
    }
}

impl Loss {
    /// The share of full packets that are lost by this alone.
    fn of_full_packets(self) -> f64 {
        match self {
            Loss::Channel => 0.0,
            Loss::Packets(share) => share.get(),
            Loss::Bits(share) => 1.0 - pow(1.0 - share.get(), 8.0 * 1500.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, piece};
    use super::*;
    use crate::timeline::Piece;
    use crate::trace::mahimahi;
    use proptest::prelude::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn means_are_weighed_by_time() {
        let down = Piece {
            up: false,
            route: 1,
            ..piece(30, 6_000_000, 90)
        };
        let again = Piece {
            route: 2,
            ..piece(40, 4_000_000, 40)
        };
        let line = Timeline::new(vec![
            piece(0, 2_000_000, 10),
            Piece {
                sloped: true,
                ..piece(10, 8_000_000, 20)
            },
            down,
            again,
        ]);
        let line = line.unwrap().when_down(super::super::WhenDown::Waits);
        // 10 ms at 2 Mbit/s, 20 ms at 8, 10 ms down, 10 ms at 4.
        let means = line.means(Time::ZERO, ms(50));
        assert_eq!(means.rate.bps(), 4_400_000);
        assert!((means.up - 0.8).abs() < 1e-12);
        // From 20 ms to the 90 ms of the piece that begins at its end.
        let mean = (10.0 * 10.0 + 20.0 * 55.0 + 10.0 * 40.0) / 40.0;
        assert!((means.one_way_delay[1].as_secs() * 1e3 - mean).abs() < 0.01);
        assert_eq!(means.one_way_delay[0], ms(10));
        assert!(means.one_way_delay[2].as_secs() > 0.0899);
        assert_eq!((means.route_changes, line.length()), (1, ms(40)));
        let later = line.means(at(45), ms(1000));
        assert_eq!((later.rate.bps(), later.up), (4_000_000, 1.0));
    }

    #[test]
    fn nothing_is_carried_while_the_link_is_down() {
        let down = Piece {
            up: false,
            ..piece(10, 2_000_000, 20)
        };
        let pieces = vec![piece(0, 2_000_000, 20), down];
        for rule in [super::super::WhenDown::Lost, super::super::WhenDown::Waits] {
            let line = Timeline::new(pieces.clone()).unwrap().when_down(rule);
            let means = line.means(Time::ZERO, ms(40));
            assert_eq!((means.rate.bps(), means.up), (500_000, 0.25), "{rule:?}");
        }
    }

    #[test]
    fn losses_are_weighed_by_what_is_sent() {
        let lossy = Piece {
            loss: Loss::Packets(bentpipe_units::Ratio::new(0.1).unwrap()),
            ..piece(10, 3_000_000, 20)
        };
        let line = Timeline::new(vec![piece(0, 1_000_000, 20), lossy]).unwrap();
        let lost = line.means(Time::ZERO, ms(20)).lost;
        assert!((lost - 0.075).abs() < 1e-9, "{lost}");
        let wrong_bits = Loss::Bits(bentpipe_units::Ratio::new(1e-5).unwrap());
        assert!((wrong_bits.of_full_packets() - 0.1131).abs() < 1e-3);
        assert_eq!(Loss::Channel.of_full_packets(), 0.0);
    }

    #[test]
    fn opportunities_are_counted() {
        let given = mahimahi::read("1\n2\n2\n10\n", true).unwrap();
        let line = Timeline::new(vec![piece(0, 1, 7)]).unwrap();
        let line = line.with_opportunities(given);
        // 4 of 1500 bytes in 10 ms, for ever.
        assert_eq!(line.means(Time::ZERO, ms(10)).rate.bps(), 4_800_000);
        assert_eq!(line.means(at(10_000), ms(1000)).rate.bps(), 4_800_000);
        assert_eq!(line.length(), ms(10));
    }

    proptest! {
        /// A repeating timeline comes to the same over any number of periods.
        #[test]
        fn periods_are_alike(
            rates in proptest::collection::vec((1u64..50, 1u64..50), 1..6),
            turns in 1u64..5,
        ) {
            let pieces = rates.iter().zip(0..);
            let pieces = pieces.map(|((rate, delay), i)| piece(10 * i, rate * 1_000_000, *delay));
            let length = ms(10 * rates.len() as u64);
            let line = Timeline::new(pieces.collect()).unwrap().repeating(length).unwrap();
            let one = line.means(Time::ZERO, length);
            let more = line.means(Time::ZERO, length * turns);
            prop_assert!(one.rate.bps().abs_diff(more.rate.bps()) <= 1);
            let off = one.one_way_delay[1].as_nanos().abs_diff(more.one_way_delay[1].as_nanos());
            prop_assert!(off < 1000);
        }
    }
}
