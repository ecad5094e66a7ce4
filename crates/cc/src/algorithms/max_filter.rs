//! The largest of the samples of the last rounds, in constant space.
//!
//! Source: Nichols' windowed filter, as in Linux `lib/win_minmax.c`. It keeps
//! the best sample of the window, the best since a quarter of the window after
//! it, and the best since half of the window after it; when the best one leaves
//! the window the second takes its place. So it never exceeds the true maximum
//! of the window, and may fall short of it when samples fall again and again.

/// A value and the round that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sample {
    round: u64,
    value: f64,
}

/// A windowed maximum; zero before the first sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaxFilter {
    best: [Sample; 3],
}

impl MaxFilter {
    /// The largest sample of the window.
    #[must_use]
    #[inline]
    pub const fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Takes the sample of `round`, where rounds older than `window` of them
    /// count no more.
    pub fn update(&mut self, window: u64, round: u64, value: f64) {
        let new = Sample { round, value };
        let age = |sample: Sample| round - sample.round.min(round);
        if value >= self.best[0].value || age(self.best[2]) > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        if age(self.best[0]) > window {
            self.best = [self.best[1], self.best[2], new];
            if age(self.best[0]) > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].round == self.best[0].round && age(self.best[1]) > window / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].round == self.best[1].round && age(self.best[2]) > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_best_sample_leaves_after_the_window() {
        let mut filter = MaxFilter::default();
        filter.update(10, 1, 9.0);
        for round in 2..=11 {
            filter.update(10, round, 5.0);
            assert_eq!(filter.get(), 9.0, "round {round}");
        }
        filter.update(10, 12, 5.0);
        assert_eq!(filter.get(), 5.0);
    }

    #[test]
    fn a_larger_sample_counts_at_once() {
        let mut filter = MaxFilter::default();
        filter.update(10, 1, 9.0);
        filter.update(10, 1, 9.5);
        assert_eq!(filter.get(), 9.5);
    }

    proptest! {
        #[test]
        fn never_above_the_window_and_never_below_the_last_quarter(
            samples in prop::collection::vec((0u64..4, 0.0..100.0f64), 1..200),
        ) {
            let (mut filter, mut round, mut seen) = (MaxFilter::default(), 0, Vec::new());
            for (step, value) in samples {
                round += step;
                seen.push((round, value));
                filter.update(10, round, value);
                let max_since = |first: u64| {
                    let kept = seen.iter().filter(|(r, _)| *r >= first).map(|(_, v)| *v);
                    kept.fold(0.0, f64::max)
                };
                prop_assert!(filter.get() <= max_since(round.saturating_sub(10)));
                prop_assert!(filter.get() >= value);
                let exact_when_young = seen[0].0 + 2 >= round;
                prop_assert!(!exact_when_young || filter.get() == max_since(0));
            }
        }
    }
}
