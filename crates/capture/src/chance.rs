//! How well a share is known from what was counted.

use crate::estimate::Estimate;

/// How many standard deviations more losses in a row than by chance are.
const BEYOND_CHANCE: f64 = 3.5;

/// Losses in a row: how many they are, and in how many rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Runs {
    pub(crate) lost: u64,
    pub(crate) runs: u64,
    pub(crate) of: u64,
}

impl Runs {
    /// Of packets in their order, true for a lost one.
    pub(crate) fn of(lost: impl IntoIterator<Item = bool>) -> Runs {
        let mut runs = Runs::default();
        let mut before = false;
        for lost in lost {
            runs.of += 1;
            runs.lost += u64::from(lost);
            runs.runs += u64::from(lost && !before);
            before = lost;
        }
        runs
    }

    /// The same with so many losses more, in so many rows.
    pub(crate) fn with(self, (lost, runs): (u64, u64)) -> Runs {
        Runs {
            lost: self.lost + lost,
            runs: self.runs + runs,
            of: self.of + lost,
        }
    }

    /// The share that was lost. Losses that came together tell as much as fewer ones that did
    /// not.
    pub(crate) fn share(self) -> Estimate {
        wilson(self.lost, self.of, self.effect())
    }

    /// The variance of the share against that of independent losses: that of a process with two
    /// states, of which the bad one is left with the same probability after each loss.
    fn effect(self) -> f64 {
        let mean = self.lost as f64 / (self.runs as f64).max(1.0);
        (2.0 * mean - 1.0).max(1.0)
    }

    /// The mean number of losses in a row; `None` if there are no more of them than independent
    /// losses would have.
    pub(crate) fn bursts(self) -> Option<Estimate> {
        let lost = self.lost as f64;
        let pairs = lost - self.runs as f64;
        let chance = lost * lost / (self.of as f64).max(1.0);
        if lost < 2.0 || pairs < 3.0 || pairs <= chance + BEYOND_CHANCE * chance.sqrt() + 1.0 {
            return None;
        }
        // Each burst ends after a loss with the same probability.
        let ends = wilson(self.runs, self.lost, 1.0);
        Some(Estimate {
            value: lost / (self.runs as f64).max(1.0),
            low: 1.0 / ends.high,
            high: 1.0 / ends.low.max(1e-9),
        })
    }
}

/// Wilson's interval at 95%, as of so many fewer trials as the `effect` of dependence says.
pub(crate) fn wilson(count: u64, of: u64, effect: f64) -> Estimate {
    const Z: f64 = 1.959_964;
    if of == 0 {
        return Estimate {
            value: 0.0,
            low: 0.0,
            high: 1.0,
        };
    }
    let n = of as f64 / effect.max(1.0);
    let p = count as f64 / of as f64;
    let z2 = Z * Z;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    Estimate {
        value: p,
        low: if count == 0 {
            0.0
        } else {
            (middle - half).max(0.0)
        },
        high: (middle + half).min(1.0),
    }
}

#[cfg(test)]
#[path = "chance_tests.rs"]
mod tests;
