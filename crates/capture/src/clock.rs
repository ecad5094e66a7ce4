//! Steps of the clock of a capture.
//!
//! A clock that is set back would make packets come before those that they answer, and one that
//! is set forward a pause that there was not. The timestamps of TCP (RFC 7323) count time on
//! their own: where both clocks disagree by more than the threshold, the capture's was set.

/// A disagreement of so much is a step, nanoseconds.
const STEP: i64 = 500_000_000;

/// Intervals that the length of a tick is learnt from.
const LEARNT_FROM: usize = 16;

/// Takes the steps out of the times of one capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    last: Option<i64>,
    /// Added to times of the file, nanoseconds.
    shift: i64,
    steps: u32,
    /// The last timestamp and its time, of each side.
    stamps: [Option<(u32, i64)>; 2],
    /// Nanoseconds in a tick, of each side, once known.
    tick: [Option<i64>; 2],
    learnt: [Vec<i64>; 2],
}

impl Clock {
    /// The time of a packet that `side` sent with a timestamp.
    pub(crate) fn at(&mut self, file_ns: i64, side: usize, stamp: Option<u32>) -> i64 {
        let mut at = file_ns.saturating_add(self.shift);
        if let Some(last) = self.last {
            let passed = at.saturating_sub(last);
            let expected = self.expected(side, stamp, last);
            // Packets of several processors may be out of order by a little.
            let told = match passed {
                passed if passed < -STEP => Some(expected.unwrap_or(last)),
                passed if passed > STEP => {
                    expected.filter(|expected| at.saturating_sub(*expected) > STEP)
                }
                _ => None,
            };
            if let Some(told) = told {
                self.shift = self.shift.saturating_add(told.saturating_sub(at));
                self.steps += 1;
                at = told;
            }
        }
        let at = at.max(self.last.unwrap_or(at));
        self.last = Some(at);
        self.learn(side, stamp, at);
        at
    }

    /// How often it was set.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// When the packet was sent by its timestamp, not before `last`.
    fn expected(&self, side: usize, stamp: Option<u32>, last: i64) -> Option<i64> {
        let (before, then) = self.stamps[side]?;
        let ticks = stamp?.wrapping_sub(before);
        if ticks > u32::MAX / 2 {
            return None;
        }
        Some(
            then.saturating_add(i64::from(ticks).saturating_mul(self.tick[side]?))
                .max(last),
        )
    }

    fn learn(&mut self, side: usize, stamp: Option<u32>, at: i64) {
        let Some(stamp) = stamp else {
            return;
        };
        let Some((before, then)) = self.stamps[side] else {
            self.stamps[side] = Some((stamp, at));
            return;
        };
        let ticks = stamp.wrapping_sub(before);
        // Long enough to know a tick of 1 to 10 ms, and no more than some seconds.
        let passed = at.saturating_sub(then);
        if passed < 50_000_000 {
            return;
        }
        if ticks > 0 && ticks < u32::MAX / 2 && passed < 10_000_000_000 {
            let learnt = &mut self.learnt[side];
            if learnt.len() < LEARNT_FROM {
                learnt.push(passed / i64::from(ticks));
                learnt.sort_unstable();
                if learnt.len() >= 3 {
                    self.tick[side] = Some(learnt[learnt.len() / 2]);
                }
            }
        }
        self.stamps[side] = Some((stamp, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn steps_back_and_forward_are_taken_out_and_pauses_stay() {
        let mut clock = Clock::default();
        for n in 0..10 {
            assert_eq!(
                clock.at(n * 100 * MS, 0, Some(n as u32 * 100)),
                n * 100 * MS
            );
        }
        // An hour back, and an hour forward, within 100 ms by the timestamps.
        let back = clock.at(-3_600_000 * MS, 0, Some(1000));
        assert_eq!((back, clock.steps()), (1000 * MS, 1));
        let forward = clock.at(100 * MS, 0, Some(1100));
        assert_eq!((forward, clock.steps()), (1100 * MS, 2));
        // A pause that the timestamps share is one.
        let pause = clock.at(100 * MS + 5_000 * MS, 0, Some(6100));
        assert_eq!(pause - forward, 5_000 * MS);
        assert_eq!(clock.steps(), 2);
    }
}
