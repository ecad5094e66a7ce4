//! Exchanges of a request and a response, how one connection interleaves the responses of several,
//! and the application of equal ones.

use bentpipe_units::{Bytes, Duration, Time};

/// What is sent for one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes of the request.
    pub request: Bytes,
    /// Bytes of the response.
    pub response: Bytes,
    /// How urgent the response is beside others, from 0, the most, to 7 (RFC 9218, section 4.1).
    pub urgency: u8,
}

/// The urgency of what says nothing of it (RFC 9218, section 4.1).
pub const USUAL_URGENCY: u8 = 3;

/// Largest frame of a response, bytes (the initial SETTINGS_MAX_FRAME_SIZE, RFC 9113, section 6.5.2).
pub const FRAME: u64 = 16_384;

impl Exchange {
    /// An exchange of that many bytes and the usual urgency.
    #[must_use]
    pub const fn new(request: Bytes, response: Bytes) -> Exchange {
        Exchange {
            request,
            response,
            urgency: USUAL_URGENCY,
        }
    }
}

/// Where the responses of a batch end in the one stream of bytes that carries them, as HTTP/2 over
/// TCP does: each end with the exchange's place in the batch, in the order of the stream. The most
/// urgent responses go first, and those of the same urgency take turns, a frame of at most [`FRAME`]
/// bytes each. The headers of frames, 9 bytes each, do not count.
#[must_use]
pub fn interleaved(batch: &[Exchange]) -> Vec<(u64, usize)> {
    let mut left: Vec<(u8, u64, usize)> = batch
        .iter()
        .enumerate()
        .map(|(place, one)| (one.urgency, one.response.get(), place))
        .collect();
    left.sort_by_key(|(urgency, ..)| *urgency);
    let mut ends = Vec::with_capacity(batch.len());
    let mut position: u64 = 0;
    for turn in left.chunk_by_mut(|a, b| a.0 == b.0) {
        let mut open = turn.len();
        while open > 0 {
            for (_, left, place) in turn.iter_mut().filter(|one| one.2 != usize::MAX) {
                // Nothing takes turns with the last one.
                let frame = match open {
                    1 => *left,
                    _ => (*left).min(FRAME),
                };
                *left -= frame;
                position = position.saturating_add(frame);
                if *left == 0 {
                    ends.push((position, *place));
                    // It has no more turns.
                    *place = usize::MAX;
                    open -= 1;
                }
            }
        }
    }
    ends
}

/// What follows a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next request goes out then.
    At(Time),
    /// It was the last.
    Done,
}

/// Exchanges of one size with a pause between them.
#[derive(Clone, Debug)]
pub struct Fixed {
    pub(crate) exchange: Exchange,
    pub(crate) left: u32,
    pub(crate) think_time: Duration,
}

impl Fixed {
    pub(crate) fn arrived(&mut self, now: Time) -> Next {
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => Next::Done,
            _ => Next::At(now + self.think_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Application, ClientReport, Requester};

    #[test]
    fn a_pause_lies_between_exchanges_and_none_after_the_last() {
        let application = Application::RequestResponse {
            request: Bytes::new(100),
            response: Bytes::new(9000),
            count: 2,
            think_time: Duration::from_secs(1),
        };
        let mut requester = Requester::new(&application, 1, "f").unwrap();
        let now = Time::from_nanos(5);
        assert_eq!(requester.request(now)[0].response, Bytes::new(9000));
        let next = now + Duration::from_secs(1);
        assert_eq!(requester.arrived(now, 0), Some(Next::At(next)));
        assert_eq!(requester.arrived(next, 0), Some(Next::Done));
        assert_eq!(requester.report(next), ClientReport::None);
        assert!(Requester::new(&Application::Persistent, 1, "f").is_none());
    }

    fn responses(of: &[(u64, u8)]) -> Vec<Exchange> {
        let one = |(bytes, urgency): &(u64, u8)| Exchange {
            urgency: *urgency,
            ..Exchange::new(Bytes::new(400), Bytes::new(*bytes))
        };
        of.iter().map(one).collect()
    }

    #[test]
    fn responses_take_turns_by_urgency_and_frame() {
        // 40,000 and 20,000 bytes: frames of 16,384 each; then 16,384 and the last 3,616 of the
        // second; then the last 7,232 of the first.
        let equal = responses(&[(40_000, 3), (20_000, 3)]);
        assert_eq!(interleaved(&equal), [(52_768, 1), (60_000, 0)]);
        let urgent = responses(&[(40_000, 3), (20_000, 3), (100, 1)]);
        assert_eq!(interleaved(&urgent), [(100, 2), (52_868, 1), (60_100, 0)]);
        // What is empty ends at its first turn.
        let empty = responses(&[(0, 3), (5, 3)]);
        assert_eq!(interleaved(&empty), [(0, 0), (5, 1)]);
        assert!(interleaved(&[]).is_empty());
    }

    proptest::proptest! {
        /// Every response ends once, the last with all bytes, and none before its own.
        #[test]
        fn every_response_ends_where_its_bytes_have_passed(
            of in proptest::collection::vec((0u64..100_000, 0u8..8), 1..40)
        ) {
            let batch = responses(&of);
            let ends = interleaved(&batch);
            let mut places: Vec<usize> = ends.iter().map(|(_, place)| *place).collect();
            places.sort_unstable();
            proptest::prop_assert_eq!(places, (0..batch.len()).collect::<Vec<_>>());
            proptest::prop_assert!(ends.is_sorted_by_key(|(end, _)| *end));
            let all: u64 = of.iter().map(|(bytes, _)| bytes).sum();
            proptest::prop_assert_eq!(ends.last().map(|(end, _)| *end), Some(all));
            for (end, place) in ends {
                // All that is more urgent has passed, too.
                let first = |(_, urgency): &&(u64, u8)| *urgency < of[place].1;
                let before: u64 = of.iter().filter(first).map(|(bytes, _)| bytes).sum();
                proptest::prop_assert!(end >= before + of[place].0);
            }
        }
    }
}
