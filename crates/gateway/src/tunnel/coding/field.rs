//! Arithmetic of GF(256), and the matrix of the code.
//!
//! The code is a systematic Reed-Solomon code whose repairs are rows of a Cauchy matrix (J. Bloemer et al.,
//! "An XOR-Based Erasure-Resilient Coding Scheme", ICSI TR-95-048, 1995): every square part of such a matrix
//! is invertible, so that any `m` repairs restore any `m` packets. The field is that of RFC 5510, section
//! 8.1: x^8 + x^4 + x^3 + x^2 + 1.

use bentpipe_quic::coding::{GENERATION, MOST};

const POLYNOMIAL: u16 = 0x11d;

/// Powers of the generator 2, twice in a row so that a sum of two logarithms needs no reduction, and
/// logarithms.
const TABLES: ([u8; 512], [u8; 256]) = {
    let (mut powers, mut logarithms) = ([0; 512], [0; 256]);
    let (mut exponent, mut value) = (0, 1u16);
    while exponent < 255 {
        powers[exponent] = value as u8;
        powers[exponent + 255] = value as u8;
        logarithms[value as usize] = exponent as u8;
        value <<= 1;
        if value & 0x100 != 0 {
            value ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    (powers, logarithms)
};

fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    let (powers, logarithms) = &TABLES;
    let sum = usize::from(logarithms[usize::from(a)]) + usize::from(logarithms[usize::from(b)]);
    powers[sum]
}

/// The inverse of a number that is not 0.
fn invert(a: u8) -> u8 {
    let (powers, logarithms) = &TABLES;
    powers[255 - usize::from(logarithms[usize::from(a)])]
}

/// The factor of a packet in a repair, both by their number from 0.
pub(super) fn factor(repair: usize, packet: usize) -> u8 {
    debug_assert!(repair < MOST && packet < GENERATION);
    // The two are never equal, since packets are few.
    invert((255 - repair as u8) ^ packet as u8)
}

/// Multiples by one factor.
pub(super) struct Multiples([u8; 256]);

impl Multiples {
    pub(super) fn of(factor: u8) -> Multiples {
        let mut products = [0; 256];
        for (value, product) in (0..=255).zip(&mut products) {
            *product = multiply(value, factor);
        }
        Multiples(products)
    }

    /// Adds those of `from` to the start of `into`, as far as both go.
    pub(super) fn add(&self, into: &mut [u8], from: &[u8]) {
        for (into, from) in into.iter_mut().zip(from) {
            *into ^= self.0[usize::from(*from)];
        }
    }
}

/// The inverse of the matrix of these repairs and these packets, of which there are as many: row by row.
/// Packet number `i` of them is the sum of its factors times what repairs say of them all.
pub(super) fn inverse(repairs: &[usize], packets: &[usize]) -> Vec<Vec<u8>> {
    let size = repairs.len();
    // Gauss-Jordan on the matrix with the identity beside it. A pivot of 0 is exchanged for a row below;
    // there is one, since the matrix is invertible.
    let mut rows: Vec<Vec<u8>> = (0..size)
        .map(|row| {
            let matrix = packets.iter().map(|packet| factor(repairs[row], *packet));
            matrix
                .chain((0..size).map(|column| u8::from(column == row)))
                .collect()
        })
        .collect();
    for at in 0..size {
        if let Some(pivot) = (at..size).find(|row| rows[*row][at] != 0) {
            rows.swap(at, pivot);
        }
        let by = invert(rows[at][at]);
        for value in &mut rows[at] {
            *value = multiply(*value, by);
        }
        let pivot = rows[at].clone();
        for (row, values) in rows.iter_mut().enumerate() {
            let by = values[at];
            if row != at {
                Multiples::of(by).add(values, &pivot);
            }
        }
    }
    rows.into_iter()
        .map(|mut row| row.split_off(size))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_a_field() {
        // RFC 5510 has the primitive element 2.
        assert_eq!(multiply(2, 128), 0x1d);
        for a in 1..=255 {
            assert_eq!(multiply(a, invert(a)), 1);
            assert_eq!(multiply(a, 1), a);
            assert_eq!(multiply(a, 0), 0);
        }
    }

    proptest! {
        #[test]
        fn every_square_part_of_the_matrix_has_an_inverse(
            packets in proptest::sample::subsequence((0..GENERATION).collect::<Vec<_>>(), 1..=MOST),
            order in Just((0..MOST).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let repairs = &order[..packets.len()];
            let inverse = inverse(repairs, &packets);
            for (i, row) in inverse.iter().enumerate() {
                for (j, packet) in packets.iter().enumerate() {
                    let sum = row.iter().zip(repairs).fold(0, |sum, (value, repair)| {
                        sum ^ multiply(*value, factor(*repair, *packet))
                    });
                    prop_assert_eq!(sum, u8::from(i == j));
                }
            }
        }
    }
}
