//! Datagrams that are longer than the association's path carries: they go in parts, and are put
//! together again.
//!
//! IP would do the same with the packet of a client that allows it (RFC 791, section 3.2). Parts that
//! others never complete are forgotten: once there are many, and long before their number comes again,
//! so that parts of two datagrams are never joined.

use super::frame::{self, Frame, PART_HEADER};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Datagrams of which some parts are missing, at most, and their bytes.
const INCOMPLETE: usize = 64;
const BYTES: usize = 512 << 10;
/// Datagrams in parts that came after one, beyond which it is given up.
const LATE: u16 = 1024;

/// Divides a datagram of the association into parts of at most `most` bytes; `None` where it would be
/// more than can be numbered.
#[must_use]
pub fn divide(datagram: &Bytes, number: u16, most: usize) -> Option<Vec<Bytes>> {
    let each = most.checked_sub(PART_HEADER).filter(|each| *each > 0)?;
    let count = u8::try_from(datagram.len().div_ceil(each)).ok()?;
    // As even as they can be: a short last part would be as likely lost and cost as many headers.
    let each = datagram.len().div_ceil(usize::from(count).max(1)).max(1);
    let parts = datagram.chunks(each).zip(0..);
    Some(
        parts
            .map(|(bytes, index)| frame::part(number, index, count, bytes))
            .collect(),
    )
}

/// What has arrived in parts.
#[derive(Debug, Default)]
pub struct Parts {
    incomplete: VecDeque<Incomplete>,
    bytes: usize,
}

#[derive(Debug)]
struct Incomplete {
    number: u16,
    parts: Vec<Option<Bytes>>,
    missing: usize,
    bytes: usize,
}

impl Parts {
    /// Takes what has arrived: returns it where it came whole, or what it completes.
    pub(super) fn join(&mut self, frame: Frame) -> Option<Frame> {
        match frame {
            Frame::Part {
                number,
                index,
                count,
                bytes,
            } => self.take(number, index, count, bytes),
            whole => Some(whole),
        }
    }

    /// Takes a part; returns the datagram that it completes.
    pub fn take(&mut self, number: u16, index: u8, count: u8, bytes: Bytes) -> Option<Frame> {
        while let Some(oldest) = self.incomplete.front()
            && number.wrapping_sub(oldest.number) > LATE
            && oldest.number.wrapping_sub(number) > LATE
        {
            self.forget();
        }
        let at = self
            .incomplete
            .iter()
            .position(|it| it.number == number && it.parts.len() == usize::from(count));
        let at = at.unwrap_or_else(|| {
            self.incomplete.push_back(Incomplete {
                number,
                parts: vec![None; usize::from(count)],
                missing: usize::from(count),
                bytes: 0,
            });
            self.incomplete.len() - 1
        });
        let datagram = self.incomplete.get_mut(at)?;
        let part = datagram.parts.get_mut(usize::from(index))?;
        if part.is_some() {
            return None;
        }
        datagram.bytes += bytes.len();
        self.bytes += bytes.len();
        // Not as it came, which keeps all that came with it.
        *part = Some(Bytes::copy_from_slice(&bytes));
        datagram.missing -= 1;
        if datagram.missing == 0 {
            let whole = self.incomplete.remove(at)?;
            self.bytes -= whole.bytes;
            let mut joined = BytesMut::with_capacity(whole.bytes);
            whole
                .parts
                .into_iter()
                .flatten()
                .for_each(|part| joined.extend_from_slice(&part));
            // Parts have none.
            return match frame::decode(joined.freeze()) {
                Ok(Frame::Part { .. }) | Err(_) => None,
                Ok(frame) => Some(frame),
            };
        }
        while self.incomplete.len() > INCOMPLETE || self.bytes > BYTES {
            self.forget();
        }
        None
    }

    fn forget(&mut self) {
        if let Some(forgotten) = self.incomplete.pop_front() {
            self.bytes -= forgotten.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(payload: &[u8]) -> Bytes {
        let mut out = BytesMut::new();
        frame::put_data(7, &mut out);
        out.extend_from_slice(payload);
        out.freeze()
    }

    /// Takes a datagram of the association.
    fn take(parts: &mut Parts, datagram: Bytes) -> Option<Frame> {
        parts.join(frame::decode(datagram).unwrap())
    }

    proptest! {
        /// In any order, and each part twice.
        #[test]
        fn parts_become_what_was_divided(
            payload in proptest::collection::vec(any::<u8>(), 100..20_000),
            most in 100_usize..2_000,
            seed: u64,
        ) {
            let whole = data(&payload);
            let mut sent = divide(&whole, 3, most).unwrap();
            prop_assert!(sent.iter().all(|part| part.len() <= most));
            let length = sent.len();
            prop_assert_eq!(length, whole.len().div_ceil(most - PART_HEADER));
            if length < 2 {
                return Ok(());
            }
            let mut state = seed;
            for at in (1..length).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sent.swap(at, usize::try_from(state >> 33).unwrap() % (at + 1));
            }
            let mut parts = Parts::default();
            let mut whole = Vec::new();
            for part in &sent {
                whole.extend(take(&mut parts, part.clone()));
                if whole.is_empty() {
                    prop_assert_eq!(take(&mut parts, part.clone()), None);
                }
            }
            let expected = Frame::Data { flow: 7, payload: payload.into() };
            prop_assert_eq!(whole, vec![expected]);
            prop_assert_eq!((parts.incomplete.len(), parts.bytes), (0, 0));
        }
    }

    #[test]
    fn what_is_never_completed_is_forgotten() {
        let mut parts = Parts::default();
        let first = divide(&data(&[1; 2000]), 0, 1200).unwrap();
        for number in 0..=u16::try_from(INCOMPLETE).unwrap() {
            let divided = divide(&data(&[1; 2000]), number, 1200).unwrap();
            assert_eq!(take(&mut parts, divided[0].clone()), None);
        }
        assert_eq!(parts.incomplete.len(), INCOMPLETE);
        assert_eq!(take(&mut parts, first[1].clone()), None);
        let mut parts = Parts::default();
        for number in 0..40 {
            let divided = divide(&data(&[1; 60_000]), number, 1200).unwrap();
            for part in &divided[1..] {
                assert_eq!(take(&mut parts, part.clone()), None);
            }
            assert!(parts.bytes <= BYTES);
        }
    }

    #[test]
    fn parts_of_two_datagrams_with_one_number_are_not_joined() {
        let mut parts = Parts::default();
        let old = divide(&data(&[1; 2000]), 7, 1200).unwrap();
        assert_eq!(take(&mut parts, old[0].clone()), None);
        for number in (8..=u16::MAX).chain(0..7) {
            for part in divide(&data(&[2; 2000]), number, 1200).unwrap() {
                let _ = take(&mut parts, part);
            }
        }
        let new = divide(&data(&[3; 2000]), 7, 1200).unwrap();
        let whole: Vec<Frame> = new
            .into_iter()
            .filter_map(|part| take(&mut parts, part))
            .collect();
        let payload = Bytes::from(vec![3; 2000]);
        assert_eq!(whole, [Frame::Data { flow: 7, payload }]);
    }

    #[test]
    fn what_cannot_be_numbered_is_not_divided() {
        assert_eq!(divide(&data(&[0; 60_000]), 0, 200), None);
        assert_eq!(divide(&data(&[0; 60_000]), 0, PART_HEADER), None);
        assert_eq!(divide(&data(&[0; 60_000]), 0, 1200).unwrap().len(), 51);
    }
}
