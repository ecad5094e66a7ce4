//! The rule held against itself: how often what is shown is wrong.

use super::*;

/// Numbers that look random: xorshift of G. Marsaglia (2003), with a multiplication.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        (bits as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -bentpipe_units::math::ln(self.uniform())
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let length = (2.0 * self.exponential()).sqrt();
        length * bentpipe_units::math::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// The share of sequences of mean zero of which something is shown at one of the looks.
fn wrong(repetitions: u64, risk: Risk, draw: impl Fn(&mut Noise) -> f64) -> f64 {
    let is_wrong = |seed: &u64| {
        let mut noise = Noise::new(*seed);
        let values: Vec<f64> = (0..runs_at(11)).map(|_| draw(&mut noise)).collect();
        (0..=11).any(|look| {
            let seen = Statement::of(&values[..runs_at(look)], 1.0, Plan::Looks);
            seen.is_above(risk) || seen.is_below(risk)
        })
    };
    (1..=repetitions).filter(is_wrong).count() as f64 / repetitions as f64
}

#[test]
fn looks_grow_and_spend_all_of_the_error() {
    let runs: Vec<usize> = (0..12).map(runs_at).collect();
    assert_eq!(runs, [4, 6, 9, 14, 20, 30, 46, 68, 103, 154, 231, 346]);
    assert_eq!([0, 4, 5, 20, 21].map(next_look), [4, 6, 6, 30, 30]);
    let all: f64 = (0..200).map(spent).sum();
    assert!((all - 1.0).abs() < 1e-12);
}

/// Differences of two skewed times, whose scatter is three times what is expected, and
/// normal ones with what is expected: 346 runs, twelve looks.
#[test]
fn what_is_shown_is_wrong_as_seldom_as_is_said() {
    let skewed = |noise: &mut Noise| 0.3 * (noise.exponential() - noise.exponential());
    let wide = |noise: &mut Noise| 0.42 * noise.normal();
    let usual = |noise: &mut Noise| 0.1 * noise.normal();
    for (risk, most) in [(Risk::Use, 0.012), (Risk::Rival, 0.055)] {
        for found in [
            wrong(2_000, risk, skewed),
            wrong(2_000, risk, wide),
            wrong(2_000, risk, usual),
        ] {
            assert!(found <= most, "{risk:?}: {found}");
        }
    }
}

/// Alone, either of the two margins would be wrong more often somewhere.
#[test]
fn few_runs_that_are_alike_prove_little() {
    let same = Statement::of(&[0.02; 4], 1.0, Plan::Looks);
    assert!(!same.is_above(Risk::Rival));
    let same = Statement::of(&[0.02; 46], 1.0, Plan::Looks);
    assert!(same.is_above(Risk::Use));
    let wide = Statement::of(&[-0.4, 0.9, 0.8, 0.9], 1.0, Plan::Looks);
    assert!(!wide.is_above(Risk::Rival));
    assert_eq!(
        Statement::of(&[1.0; 3], 1.0, Plan::Looks).margin(Risk::Rival),
        f64::INFINITY
    );
    assert!(Statement::of(&[0.001], 1.0, Plan::Exact).is_above(Risk::Use));
}

#[test]
fn as_many_runs_as_were_said_to_be_needed_are_often_enough() {
    let (mut enough, mut all) = (0, 0);
    for seed in 1..=400 {
        let mut noise = Noise::new(seed);
        let values: Vec<f64> = (0..runs_at(14))
            .map(|_| 0.08 + 0.3 * noise.normal())
            .collect();
        let first = Statement::of(&values[..30], 1.0, Plan::Looks);
        let runs = first.runs_to_show(first.mean.abs(), Risk::Use);
        if first.is_above(Risk::Use) || first.mean < 0.04 || runs > values.len() {
            continue;
        }
        all += 1;
        let then = Statement::of(&values[..runs], 1.0, Plan::Looks);
        enough += usize::from(then.is_above(Risk::Use));
    }
    assert!(all > 100 && enough * 10 > all * 6, "{enough} of {all}");
}

/// What follows from the moments is what follows from the numbers themselves.
#[test]
fn a_contrast_says_what_its_numbers_say() {
    let mut noise = Noise::new(8);
    let pairs: Vec<(f64, f64)> = (0..30)
        .map(|_| (0.2 + 0.1 * noise.normal(), 1.0 + 0.3 * noise.normal()))
        .collect();
    let usual = pairs.iter().map(|p| p.1).sum::<f64>() / 30.0;
    for plan in [Plan::Looks, Plan::Once] {
        let contrast = Contrast::of(&pairs, plan);
        for share in [-0.1, 0.0, 0.03, 0.25] {
            let values: Vec<f64> = pairs.iter().map(|p| p.0 - share * p.1).collect();
            let (a, b) = (contrast.beyond(share), Statement::of(&values, usual, plan));
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
            close(a.mean, b.mean);
            close(a.margin(Risk::Use), b.margin(Risk::Use));
            close(a.margin(Risk::Rival), b.margin(Risk::Rival));
        }
        let [least, most] = contrast.between().unwrap();
        assert!(!contrast.beyond(least + 1e-6).is_above(Risk::Use));
        assert!(contrast.beyond(least - 1e-6).is_above(Risk::Use));
        assert!(contrast.beyond(most + 1e-6).is_below(Risk::Use));
    }
    assert!(Contrast::of(&pairs[..3], Plan::Looks).between().is_none());
    assert!(Contrast::of(&[], Plan::Exact).between().is_none());
}
