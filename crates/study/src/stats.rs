//! Statistics over samples, such as replications: mean, quantiles, spread and intervals.
//! The one place for them; what is counted in bins while a run goes on is in
//! [`bentpipe_units::LogLinear`].
//!
//! The interval of a mean is the classical one for a mean of normal samples, mean plus
//! or minus t(0.975, n - 1) s / sqrt(n) (W. S. Gosset, *The probable error of
//! a mean*, Biometrika 6, 1908). All of it is pure arithmetic, so that it is
//! the same on every machine.

use bentpipe_units::math::{cos, sin, sqrt};
use serde::Serialize;

/// Statistics of a sample of replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of replications in the sample.
    pub n: usize,
    /// Arithmetic mean of the replications.
    pub mean: f64,
    /// Sample standard deviation; `None` for a single replication.
    pub sd: Option<f64>,
    /// Half the width of the 95% interval of the mean; `None` for a single
    /// replication.
    pub ci95: Option<f64>,
    /// Median of the replications.
    pub median: f64,
    /// Smallest replication.
    pub min: f64,
    /// Largest replication.
    pub max: f64,
}

impl Summary {
    /// The summary of `samples`; `None` if there are none or one is not a
    /// number.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Summary> {
        if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
            return None;
        }
        let n = samples.len();
        let mean = mean(samples);
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let sd = deviation(samples);
        Some(Summary {
            n,
            mean,
            sd,
            ci95: sd.map(|sd| half_width(sd, n)),
            median: median_of_sorted(&sorted),
            min: sorted[0],
            max: sorted[n - 1],
        })
    }
}

/// The arithmetic mean; not a number for no samples. Equal samples give
/// exactly their value.
#[must_use]
pub fn mean(samples: &[f64]) -> f64 {
    match samples {
        [first, rest @ ..] if rest.iter().all(|x| x == first) => *first,
        _ => samples.iter().sum::<f64>() / samples.len() as f64,
    }
}

/// The statistic that represents several replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Central {
    /// Arithmetic mean of the values.
    #[default]
    Mean,
    /// Their median, for runs in real time: a busy machine makes a few of them
    /// late.
    Median,
}

impl Central {
    /// The number for these samples; not a number for none.
    #[must_use]
    pub fn of(self, samples: &[f64]) -> f64 {
        match self {
            Central::Mean => mean(samples),
            Central::Median => median(samples).unwrap_or(f64::NAN),
        }
    }
}

/// The median of any samples; `None` for no samples.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(median_of_sorted(&sorted))
}

/// The number that a share of the samples, from 0 to 1, does not exceed, interpolated
/// between neighbours: `quantile_cont` of DuckDB, `linear` of polars. The samples are put in
/// another order. `None` for no samples.
#[must_use]
pub fn quantile(samples: &mut [f64], share: f64) -> Option<f64> {
    let last = samples.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = place.floor() as usize;
    let (_, at, above) = samples.select_nth_unstable_by(below, f64::total_cmp);
    let at = *at;
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(at);
    Some(at + (place - place.floor()) * (next - at))
}

/// The samples between which the median lies with 95%: the ranks that a binomial count of a
/// half leaves, by its normal form. The samples are put in another order. `None` for fewer
/// than six.
#[must_use]
pub fn median_interval(samples: &mut [f64]) -> Option<(f64, f64)> {
    let n = samples.len();
    if n < 6 {
        return None;
    }
    let reach = 0.98 * sqrt(n as f64);
    let below = (n as f64 / 2.0 - reach).floor().max(0.0) as usize;
    let above = ((n as f64 / 2.0 + reach).ceil() as usize).min(n - 1);
    let low = *samples.select_nth_unstable_by(below, f64::total_cmp).1;
    let high = *samples.select_nth_unstable_by(above, f64::total_cmp).1;
    Some((low, high))
}

/// The 95% interval of the share of ones among samples that are 0 or 1 (E. B. Wilson,
/// *Probable inference, the law of succession, and statistical inference*, JASA 22, 1927).
/// `None` for no samples.
#[must_use]
pub fn wilson(samples: &[f64]) -> Option<(f64, f64)> {
    if samples.is_empty() {
        return None;
    }
    let n = samples.len() as f64;
    let share = samples.iter().sum::<f64>() / n;
    let z = Z_975;
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
    Some(((middle - half).max(0.0), (middle + half).min(1.0)))
}

/// Half the width of the 95% interval of the mean of `samples`; `None` for
/// fewer than two.
#[must_use]
pub fn ci95(samples: &[f64]) -> Option<f64> {
    deviation(samples).map(|sd| half_width(sd, samples.len()))
}

/// The sample standard deviation; `None` for fewer than two samples.
#[must_use]
pub fn deviation(samples: &[f64]) -> Option<f64> {
    if samples.len() < 2 {
        return None;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some(sqrt(squares / (samples.len() - 1) as f64))
}

fn half_width(sd: f64, n: usize) -> f64 {
    t_975(n - 1) * sd / sqrt(n as f64)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// The 97.5% quantile of the normal distribution.
const Z_975: f64 = 1.959_963_984_540_054;

/// Above this the expansion about the normal quantile is good to 1e-9.
const EXACT: usize = 200;

/// The 97.5% quantile of Student's t: two-sided 95%. Infinite for no degrees
/// of freedom.
#[must_use]
pub fn t_975(degrees_of_freedom: usize) -> f64 {
    match degrees_of_freedom {
        0 => f64::INFINITY,
        1..=EXACT => exact(degrees_of_freedom),
        _ => expansion(degrees_of_freedom as f64),
    }
}

/// Degrees of freedom above which [`t_above`] says what it says of so many: the
/// difference is below 0.2%.
const MOST_FREEDOM: usize = 2_000;

/// What Student's t exceeds with probability `tail`, which is from above 0 to 0.5.
/// Infinite for no degrees of freedom.
#[must_use]
pub fn t_above(degrees_of_freedom: usize, tail: f64) -> f64 {
    match degrees_of_freedom {
        0 => f64::INFINITY,
        v => between(v.min(MOST_FREEDOM), 1.0 - 2.0 * tail),
    }
}

fn exact(v: usize) -> f64 {
    between(v, 0.95)
}

/// The t between which and its negative a t lies with probability `share`. With t =
/// sqrt(v) tan(angle), P(|T| < t) is a finite sum in sine and cosine of the angle
/// (Abramowitz & Stegun, 26.7.3 and 26.7.4). Bisection on the angle needs no inverse
/// functions.
fn between(v: usize, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..80 {
        let angle = f64::midpoint(low, high);
        if central(v, angle) < share {
            low = angle;
        } else {
            high = angle;
        }
    }
    let angle = f64::midpoint(low, high);
    sqrt(v as f64) * sin(angle) / cos(angle)
}

/// P(|T| < sqrt(v) tan(angle)).
fn central(v: usize, angle: f64) -> f64 {
    let (s, c) = (sin(angle), cos(angle));
    let odd = v % 2 == 1;
    let mut term = if odd { c } else { 1.0 };
    let mut sum = if v == 1 { 0.0 } else { term };
    let mut k = if odd { 3 } else { 2 };
    while k + 2 <= v {
        term *= (k - 1) as f64 / k as f64 * c * c;
        sum += term;
        k += 2;
    }
    if odd {
        (angle + s * sum) * std::f64::consts::FRAC_2_PI
    } else {
        s * sum
    }
}

/// Cornish-Fisher expansion about the normal quantile (Abramowitz & Stegun,
/// 26.7.5).
fn expansion(v: f64) -> f64 {
    const Z: f64 = Z_975;
    let z2 = Z * Z;
    let g1 = Z * (z2 + 1.0) / 4.0;
    let g2 = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    Z + (g1 + (g2 + g3 / v) / v) / v
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_quantiles_of_the_printed_tables() {
        for (v, tail, t) in [
            (1, 0.05, 6.314),
            (3, 0.005, 5.841),
            (5, 0.0005, 6.869),
            (30, 0.0005, 3.646),
            (120, 0.001, 3.160),
            (5_000, 0.005, 2.577),
        ] {
            assert!((t_above(v, tail) - t).abs() < 6e-4 * t, "{v} {tail}");
        }
        assert_eq!(t_above(0, 0.1), f64::INFINITY);
        assert!((t_above(7, 0.025) - t_975(7)).abs() < 1e-12);
    }

    #[test]
    fn quantiles_of_the_printed_tables() {
        for (v, t) in [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (5, 2.570_581_836),
            (9, 2.262_157_163),
            (10, 2.228_138_852),
            (29, 2.045_229_642),
            (30, 2.042_272_456),
            (120, 1.979_930_405),
            (1000, 1.962_339_081),
        ] {
            assert!((t_975(v) - t).abs() < 1e-7, "{v}: {} is not {t}", t_975(v));
        }
        assert_eq!(t_975(0), f64::INFINITY);
    }

    #[test]
    fn the_expansion_continues_the_sum() {
        assert!((expansion(EXACT as f64) - exact(EXACT)).abs() < 1e-8);
        assert!((1..400).all(|v| t_975(v) > t_975(v + 1)));
    }

    #[test]
    fn a_sample_by_hand() {
        let s = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(
            (s.n, s.mean, s.median, s.min, s.max),
            (8, 5.0, 4.5, 2.0, 9.0)
        );
        assert!((s.sd.unwrap() - 2.138_089_935).abs() < 1e-9);
        assert!((s.ci95.unwrap() - 2.364_624_252 * 2.138_089_935 / 2.828_427_125).abs() < 1e-8);
    }

    #[test]
    fn one_replication_has_no_interval() {
        let s = Summary::of(&[1.5]).unwrap();
        assert_eq!((s.mean, s.sd, s.ci95), (1.5, None, None));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn quantiles_are_interpolated() {
        let of = |share| quantile(&mut [4.0, 1.0, 3.0, 2.0], share).unwrap();
        assert_eq!([of(0.0), of(0.25), of(0.5), of(1.0)], [1.0, 1.75, 2.5, 4.0]);
        assert!((of(0.9) - 3.7).abs() < 1e-12);
        assert_eq!(quantile(&mut [7.0], 0.5), Some(7.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn intervals_are_those_of_the_books() {
        let mut ones = vec![1.0; 8];
        ones.extend([0.0; 2]);
        let (low, high) = wilson(&ones).unwrap();
        assert!((low - 0.490).abs() < 1e-3 && (high - 0.943).abs() < 1e-3);
        let mut hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let (low, high) = median_interval(&mut hundred).unwrap();
        assert!((40.0..=41.0).contains(&low) && (60.0..=61.0).contains(&high));
        assert_eq!(median_interval(&mut [1.0; 5]), None);
    }

    proptest! {
        #[test]
        fn the_mean_lies_between_the_extremes(
            samples in proptest::collection::vec(-1e6..1e6, 1..50)
        ) {
            let s = Summary::of(&samples).unwrap();
            prop_assert!(s.min <= s.mean + 1e-6 && s.mean <= s.max + 1e-6);
            prop_assert!(s.min <= s.median && s.median <= s.max);
            prop_assert_eq!(median(&samples), Some(s.median));
        }
    }
}
