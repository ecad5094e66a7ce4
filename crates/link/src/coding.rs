//! Forward error correction: what a code leaves of rate and bit errors.
//!
//! A code of rate R sends R bits of packets for each bit on the channel, and
//! turns the channel's raw bit error rate into a smaller one. Behind the
//! decoder bit errors are taken as independent (an interleaver), so that a
//! coded link is a link of R times the rate whose channel has the bit error
//! rate after decoding.
//!
//! * *Given*: as measured.
//! * *Marchese*: the sequential code of rate 1/2 of the ITALSAT test bed, raw
//!   1e-2, 1e-8 after decoding (Marchese 2001 and 2006).
//! * *Block*: an (n, k) code that corrects up to t wrong bits in n, decided
//!   hard and decoded up to t; t = 1 and n = 2^m - 1 is a Hamming code. With
//!   i > t wrong bits the decoder leaves them or makes up to t more, so that
//!   p' = 1/n sum over i from t + 1 to n of min(i + t, n) C(n, i) p^i
//!   (1 - p)^(n - i): the usual upper bound (Odenwalder 1976; Sklar, *Digital
//!   Communications*, section 6.4), and never more than p.
//! * *Table*: points (raw, decoded), between them a straight line of the
//!   logarithms. Outside the table there is nothing to go by.

use bentpipe_units::{Rate, Ratio};

/// A code on a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Coding {
    /// What is left after decoding is known.
    Given {
        /// Share of the rate on the channel that is left for packets.
        code_rate: Ratio,
        /// Bit error rate after decoding.
        bit_error_rate: Ratio,
    },
    /// A block code that corrects `t` wrong bits in `n`.
    Block {
        /// Bits of a code word.
        n: u32,
        /// Bits of data in it.
        k: u32,
        /// Wrong bits that are corrected.
        t: u32,
        /// Bit error rate of the channel.
        raw_bit_error_rate: Ratio,
    },
    /// Measured or published points.
    Table {
        /// Share of the rate on the channel that is left for packets.
        code_rate: Ratio,
        /// (raw, decoded) bit error rates above zero, the smallest raw one
        /// first.
        points: Vec<(Ratio, Ratio)>,
        /// Bit error rate of the channel.
        raw_bit_error_rate: Ratio,
    },
}

/// Why a code is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodingError {
    /// The rate is zero, or more than one.
    #[error("a code sends at least one bit of data, and no more than it has")]
    Rate,
    /// More bits are corrected than the redundancy can distinguish (the Hamming
    /// bound).
    #[error("no code of this length and rate corrects so many bits")]
    TooGood,
    /// The points are not in order, or zero.
    #[error("the raw rates of the table do not rise from above zero")]
    Table,
    /// The table has no entry for this raw bit error rate.
    #[error("the raw bit error rate lies outside the table")]
    Outside,
}

impl Coding {
    /// The code of the ITALSAT test bed: rate 1/2, 1e-8 after decoding.
    #[must_use]
    pub fn marchese() -> Coding {
        let ratio = |x| Ratio::new(x).unwrap_or(Ratio::ZERO);
        Coding::Given {
            code_rate: ratio(0.5),
            bit_error_rate: ratio(1e-8),
        }
    }

    /// The rate for packets on a channel of `rate`.
    #[must_use]
    pub fn rate(&self, rate: Rate) -> Rate {
        Rate::from_bps_f64(rate.bps_f64() * self.code_rate())
    }

    fn code_rate(&self) -> f64 {
        match self {
            Coding::Given { code_rate, .. } | Coding::Table { code_rate, .. } => code_rate.get(),
            Coding::Block { n, k, .. } => f64::from(*k) / f64::from((*n).max(1)),
        }
    }

    /// The bit error rate after decoding.
    ///
    /// # Errors
    /// Where the code is none, or its table has no answer.
    pub fn bit_error_rate(&self) -> Result<Ratio, CodingError> {
        let code_rate = self.code_rate();
        if code_rate <= 0.0 || code_rate > 1.0 {
            return Err(CodingError::Rate);
        }
        let decoded = match self {
            Coding::Given { bit_error_rate, .. } => return Ok(*bit_error_rate),
            Coding::Block {
                n,
                k,
                t,
                raw_bit_error_rate,
            } => {
                // The patterns of up to t errors against those that n - k bits
                // tell apart; relative to the largest, which may be huge.
                let largest = ln_choose(*n, (*t).min(n / 2));
                let patterns = (0..=*t).map(|i| libm::exp(ln_choose(*n, i) - largest));
                let ln_patterns = largest + libm::log(patterns.sum());
                if *t > *n || ln_patterns > f64::from(n - k) * core::f64::consts::LN_2 + 1e-6 {
                    return Err(CodingError::TooGood);
                }
                block(*n, *t, raw_bit_error_rate.get())
            }
            Coding::Table {
                points,
                raw_bit_error_rate,
                ..
            } => interpolated(points, raw_bit_error_rate.get())?,
        };
        Ok(Ratio::new(decoded.clamp(0.0, 1.0)).unwrap_or(Ratio::ZERO))
    }
}

fn ln_choose(n: u32, i: u32) -> f64 {
    let ln_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    ln_factorial(n) - ln_factorial(i) - ln_factorial(n.saturating_sub(i))
}

/// The bound on the bit error rate behind a decoder of `t` wrong bits in `n`.
fn block(n: u32, t: u32, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return p;
    }
    let (ln_p, ln_q) = (libm::log(p), libm::log1p(-p));
    let mut sum = 0.0;
    for i in t + 1..=n {
        let ln = ln_choose(n, i) + f64::from(i) * ln_p + f64::from(n - i) * ln_q;
        let term = libm::exp(ln) * f64::from((i + t).min(n)) / f64::from(n);
        sum += term;
        // Beyond the mean the terms fall.
        if f64::from(i) > f64::from(n) * p && term < sum * 1e-17 {
            break;
        }
    }
    sum.min(p)
}

fn interpolated(points: &[(Ratio, Ratio)], raw: f64) -> Result<f64, CodingError> {
    let ordered = points.windows(2).all(|w| w[0].0 < w[1].0);
    let positive = points
        .iter()
        .all(|p| p.0 > Ratio::ZERO && p.1 > Ratio::ZERO);
    if points.is_empty() || !ordered || !positive {
        return Err(CodingError::Table);
    }
    if let Some((_, decoded)) = points.iter().find(|p| p.0.get() == raw) {
        return Ok(decoded.get());
    }
    let pair = points
        .windows(2)
        .find(|w| w[0].0.get() < raw && raw < w[1].0.get());
    let Some(&[a, b]) = pair.and_then(|w| w.first_chunk::<2>()) else {
        return Err(CodingError::Outside);
    };
    let ln = |ratio: Ratio| libm::log(ratio.get());
    let share = (libm::log(raw) - ln(a.0)) / (ln(b.0) - ln(a.0));
    Ok(libm::exp(ln(a.1) + share * (ln(b.1) - ln(a.1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(x: f64) -> Ratio {
        Ratio::new(x).unwrap()
    }

    fn power(x: f64, n: i32) -> f64 {
        libm::pow(x, f64::from(n))
    }

    fn coded(n: u32, k: u32, t: u32, raw: f64) -> Result<f64, CodingError> {
        let raw_bit_error_rate = ratio(raw);
        let code = Coding::Block {
            n,
            k,
            t,
            raw_bit_error_rate,
        };
        code.bit_error_rate().map(Ratio::get)
    }

    #[test]
    fn hamming_codes_by_hand() {
        // (7, 4): 1/7 (3 * 21 p^2 q^5 + 4 * 35 p^3 q^4 + 5 * 35 p^4 q^3
        // + 6 * 21 p^5 q^2 + 7 * 7 p^6 q + 7 p^7).
        for p in [1e-4, 1e-3, 1e-2] {
            let q: f64 = 1.0 - p;
            let by_hand = (63.0 * power(p, 2) * power(q, 5)
                + 140.0 * power(p, 3) * power(q, 4)
                + 175.0 * power(p, 4) * power(q, 3)
                + 126.0 * power(p, 5) * power(q, 2)
                + 49.0 * power(p, 6) * q
                + 7.0 * power(p, 7))
                / 7.0;
            let got = coded(7, 4, 1, p).unwrap();
            assert!((got / by_hand - 1.0).abs() < 1e-9, "{p}: {got} {by_hand}");
            // To first order 9 p^2.
            assert!((got / (9.0 * p * p) - 1.0).abs() < 6.0 * p);
        }
        // No correction, no gain; and a bad channel gets no worse.
        assert!((coded(8, 8, 0, 0.01).unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(coded(7, 4, 1, 0.5).unwrap(), 0.5);
        assert_eq!(coded(7, 4, 1, 0.0).unwrap(), 0.0);
        // BCH (255, 131, 18) turns 2% into less than 1e-6.
        assert!(coded(255, 131, 18, 0.02).unwrap() < 1e-6);
    }

    #[test]
    fn codes_that_cannot_be_are_refused() {
        assert_eq!(coded(7, 5, 1, 0.01), Err(CodingError::TooGood));
        assert_eq!(coded(7, 0, 1, 0.01), Err(CodingError::Rate));
        assert_eq!(coded(7, 8, 1, 0.01), Err(CodingError::Rate));
        assert_eq!(coded(0, 0, 0, 0.01), Err(CodingError::Rate));
        // The Golay code meets the bound.
        assert!(coded(23, 12, 3, 0.01).is_ok());
    }

    #[test]
    fn tables_are_straight_in_logarithms() {
        let decoded = |raw| {
            let points = vec![(1e-3, 1e-9), (1e-2, 1e-8), (1e-1, 1e-2)];
            let points = points.into_iter().map(|(a, b)| (ratio(a), ratio(b)));
            let code = Coding::Table {
                code_rate: ratio(0.5),
                points: points.collect(),
                raw_bit_error_rate: ratio(raw),
            };
            code.bit_error_rate().map(Ratio::get)
        };
        assert_eq!(decoded(1e-2), Ok(1e-8));
        let between = decoded(libm::sqrt(1e-3)).unwrap();
        assert!((between / 1e-5 - 1.0).abs() < 1e-9, "{between}");
        assert_eq!(decoded(0.2), Err(CodingError::Outside));
    }

    #[test]
    fn the_code_of_the_test_bed_halves_the_rate() {
        let code = Coding::marchese();
        assert_eq!(code.rate(Rate::from_mbps(4)), Rate::from_mbps(2));
        assert_eq!(code.bit_error_rate(), Ok(ratio(1e-8)));
    }
}
