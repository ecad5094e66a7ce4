//! The objects of a page: the document, and what it names.

use crate::exchange::{Exchange, USUAL_URGENCY};
use bentpipe_random::Stream;
use bentpipe_units::Bytes;

/// The most urgent responses of a page: the document, and what a browser cannot draw without.
const URGENT: u8 = 1;

/// How a page divides into objects. The reader asks for the document, and when that has arrived for
/// everything that it names, at once.
///
/// The defaults are a page of today as the HTTP Archive's Web Almanac describes the median one: some
/// 70 requests, and a document of some 30 kB. The sizes of the other objects are exponential, so that
/// most are small and some large.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Objects {
    /// How many there are, the document included; at least two.
    pub count: u32,
    /// Bytes of the document: at most half of the page.
    pub document: Bytes,
    /// Part of the objects, the document aside, without which the browser draws nothing: style
    /// sheets and scripts.
    pub blocking: f64,
    /// The server sends what drawing waits for first (RFC 9218); else all objects take turns.
    pub priorities: bool,
}

impl Default for Objects {
    fn default() -> Objects {
        Objects {
            count: 70,
            document: Bytes::new(30_000),
            blocking: 0.2,
            priorities: true,
        }
    }
}

impl Objects {
    /// Objects that drawing waits for besides the document.
    pub(super) fn blocking(&self) -> usize {
        let others = f64::from(self.others());
        (others * self.blocking).round() as usize
    }

    fn others(&self) -> u32 {
        self.count.saturating_sub(1)
    }

    /// What is asked for of a page of that size: the document, and the rest. Their sizes are drawn
    /// from `stream`.
    pub(super) fn of(
        &self,
        page: Bytes,
        request: Bytes,
        stream: &mut Stream,
    ) -> (Exchange, Vec<Exchange>) {
        let document = self.document.get().min(page.get().div_ceil(2)).max(1);
        let weights: Vec<f64> = (0..self.others())
            .map(|_| stream.exponential(1.0))
            .collect();
        let sum: f64 = weights.iter().sum();
        let mut left = page.get().saturating_sub(document);
        let all = left as f64;
        let blocking = self.blocking();
        // Header compression sends the fields that all requests share once (HPACK, RFC 7541; QPACK,
        // RFC 9204).
        let short = Bytes::new((request.get() / 4).max(1));
        let last = weights.len().saturating_sub(1);
        let mut rest = Vec::with_capacity(weights.len());
        for (place, weight) in weights.iter().enumerate() {
            let share = match place == last {
                true => left,
                false => ((all * weight / sum) as u64).min(left),
            };
            left -= share;
            let urgent = self.priorities && place < blocking;
            rest.push(Exchange {
                urgency: if urgent { URGENT } else { USUAL_URGENCY },
                ..Exchange::new(short, Bytes::new(share.max(1)))
            });
        }
        let document = Exchange {
            urgency: URGENT,
            ..Exchange::new(request, Bytes::new(document))
        };
        (document, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_document_and_what_that_names() {
        let objects = Objects::default();
        let mut stream = Stream::new(1, "objects");
        let (document, rest) = objects.of(Bytes::new(2_000_000), Bytes::new(400), &mut stream);
        assert_eq!(
            (document.request.get(), document.response.get()),
            (400, 30_000)
        );
        assert_eq!((rest.len(), objects.blocking()), (69, 14));
        let bytes: u64 = rest.iter().map(|one| one.response.get()).sum();
        assert_eq!(bytes, 1_970_000);
        assert!(rest.iter().all(|one| one.request.get() == 100));
        let urgent: Vec<bool> = rest.iter().map(|one| one.urgency == URGENT).collect();
        assert_eq!(urgent, [vec![true; 14], vec![false; 55]].concat());
        // Exponential: the largest of 69 is about ln 69 = 4.2 means and more.
        let largest = rest.iter().map(|one| one.response.get()).max().unwrap_or(0);
        assert!((85_000..300_000).contains(&largest), "{largest}");
    }

    #[test]
    fn a_small_page_is_half_document_and_no_object_is_empty() {
        let objects = Objects {
            count: 4,
            priorities: false,
            ..Objects::default()
        };
        let mut stream = Stream::new(1, "objects");
        for size in [1, 2, 3, 1_000] {
            let (document, rest) = objects.of(Bytes::new(size), Bytes::new(2), &mut stream);
            assert_eq!(document.response.get(), size.div_ceil(2));
            assert!(rest.iter().all(|one| one.response.get() >= 1));
            assert!(rest.iter().all(|one| one.request.get() == 1));
            assert!(rest.iter().all(|one| one.urgency == USUAL_URGENCY));
        }
    }
}
