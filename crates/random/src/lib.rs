//! Independent, seeded random streams with pinned algorithms.
//!
//! Every random process owns a [`Stream`] seeded from the run's seed and the
//! process' name, so that adding a draw to one shifts nothing in another. The
//! generator (xoshiro256++) and every sampler are pinned here: the same seed
//! gives the same numbers on every machine and in every later version.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One random process' stream of numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// FNV-1a, 64 bit: enough to tell component names apart, and stable.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Stream {
    /// The stream of component `name` in the run with seed `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Stream {
        // SplitMix64 inside `seed_from_u64` spreads the combined key over the
        // 256-bit state, so that near seeds give unrelated streams.
        let key = fnv1a(name.as_bytes()) ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        Stream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// The next 64 random bits of the stream.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with mean `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is in (0, 1], so that the logarithm is finite.
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with mean `mean` and shape `shape` above 1: never below
    /// m = mean (shape - 1) / shape, and above x with probability
    /// (m / x)^shape. The smaller the shape, the heavier the tail; below 2 the
    /// variance is infinite.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let smallest = mean * (shape - 1.0) / shape;
        // 1 - u is in (0, 1], so that the quotient is finite.
        smallest / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }

    /// Normal with mean 0 and deviation 1, by Box and Muller from two uniform
    /// draws. The other number that they yield is not kept: a draw depends on
    /// nothing but the place in the stream.
    pub fn normal(&mut self) -> f64 {
        // 1 - u is in (0, 1], so that the logarithm is finite.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// Log-normal with this mean and standard deviation (of the number itself,
    /// not of its logarithm).
    pub fn log_normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let ratio = deviation / mean;
        let variance = libm::log(1.0 + ratio * ratio);
        let location = libm::log(mean) - variance / 2.0;
        libm::exp(location + libm::sqrt(variance) * self.normal())
    }

    /// The number of failures before the first success of trials with success
    /// probability `p`; `u64::MAX` when `p` is zero.
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p >= 1.0 {
            return 0;
        }
        if p <= 0.0 {
            return u64::MAX;
        }
        (libm::log(1.0 - self.uniform()) / libm::log1p(-p)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_pinned() {
        let mut s = Stream::new(1, "channel satellite");
        let first: Vec<u64> = (0..3).map(|_| s.bits()).collect();
        assert_eq!(
            first,
            [
                8_331_223_630_578_965_008,
                11_898_463_908_161_029_326,
                4_854_145_628_982_527_165
            ]
        );
    }

    #[test]
    fn streams_differ_by_seed_and_by_name() {
        let mut draws: Vec<u64> = [(1, "a"), (2, "a"), (1, "b")]
            .map(|(seed, name)| Stream::new(seed, name).bits())
            .into();
        draws.dedup();
        assert_eq!(draws.len(), 3);
    }

    #[test]
    fn samplers_have_their_means() {
        let mut s = Stream::new(7, "test");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || s.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || s.exponential(3.0)) - 3.0).abs() < 0.05);
        assert!((mean(&mut || s.geometric(0.01) as f64) - 99.0).abs() < 1.5);
        assert!((mean(&mut || f64::from(u8::from(s.chance(0.01)))) - 0.01).abs() < 0.001);
        assert!((mean(&mut || s.pareto(3.0, 2.5)) - 3.0).abs() < 0.05);
    }

    #[test]
    fn the_tail_of_a_pareto_is_a_power() {
        // Shape 1.5, mean 3: from 1 on; above 4 with probability 4^-1.5.
        let mut s = Stream::new(7, "tail");
        let draws: Vec<f64> = (0..100_000).map(|_| s.pareto(3.0, 1.5)).collect();
        assert!(draws.iter().all(|x| *x >= 1.0 && x.is_finite()));
        let above = draws.iter().filter(|x| **x > 4.0).count() as f64 / 1e5;
        assert!((above - 0.125).abs() < 0.003, "{above}");
    }

    #[test]
    fn a_normal_has_its_moments_and_tails() {
        let mut s = Stream::new(7, "normal");
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| s.normal()).collect();
        let moment = |k: u32| {
            let power = |x: &f64| (0..k).fold(1.0, |p, _| p * x);
            draws.iter().map(power).sum::<f64>() / f64::from(n)
        };
        assert!(moment(1).abs() < 0.005, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.01, "{}", moment(2));
        assert!(moment(3).abs() < 0.03, "{}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.1, "{}", moment(4));
        let above = |limit: f64| draws.iter().filter(|x| **x > limit).count() as f64 / 4e5;
        assert!((above(1.0) - 0.158_655).abs() < 0.002);
        assert!((above(3.0) - 0.001_350).abs() < 0.000_3);
    }

    #[test]
    fn a_log_normal_is_given_by_its_own_moments() {
        let mut s = Stream::new(7, "log-normal");
        let draws: Vec<f64> = (0..400_000).map(|_| s.log_normal(10.0, 5.0)).collect();
        let mean = draws.iter().sum::<f64>() / 4e5;
        let square = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 4e5;
        assert!((mean - 10.0).abs() < 0.05, "{mean}");
        assert!((square.sqrt() - 5.0).abs() < 0.1, "{square}");
        // The median is mean / sqrt(1 + (deviation / mean)^2) = 8.944.
        let below = draws.iter().filter(|x| **x < 8.944).count() as f64 / 4e5;
        assert!((below - 0.5).abs() < 0.005, "{below}");
    }

    #[test]
    fn samplers_are_pinned() {
        let mut s = Stream::new(1, "pinned");
        let drawn = [s.exponential(1.0), s.pareto(3.0, 1.5)].map(f64::to_bits);
        assert_eq!(
            drawn,
            [4_608_286_855_306_402_622, 4_608_655_334_954_887_229]
        );
        let drawn = [s.normal(), s.log_normal(4100.0, 30_000.0)].map(f64::to_bits);
        assert_eq!(
            drawn,
            [13_813_218_279_040_518_059, 4_649_644_757_639_604_084]
        );
    }
}
