//! Pages of the web: sizes and reading times.
//!
//! | parameter | default | in 1997 | |
//! |---|---|---|---|
//! | `mean` | 2 MB | 4100 B | of a page, log-normal |
//! | `deviation` | the mean | 30 kB | of that |
//! | `largest` | 5 times the mean | 100 kB | page |
//! | `reading` | 8 s | 10 s | mean of an exponential pause between a page and the next request |
//! | `request` | 400 B | 300 B | what the reader sends for a page |
//! | `connection` | `persistent` | `page` | one for all pages, as over HTTP/2, or one for each |
//! | `objects` | one | one | of a page: see [`Objects`] |
//! | `count` | without end | without end | pages |
//!
//! The defaults are pages of today, the same that `compare --traffic web` has. *In 1997* is
//! [`WebSettings::of_1997`]: E. Anderlind, J. Zander, *A traffic model for non-real-time data users
//! in a wireless radio network*, IEEE Communications Letters 1(2), 1997. The letter itself was not
//! available; these are the numbers that others quote from it: sigma^2 = ln(1 + (30000/4100)^2) =
//! 4.0, mu = ln 4100 - 2.0. The model does not specify whether pages share a connection: browsers of
//! its time opened one for each object, and there a page is one object.
//!
//! Readings. *Truncated* is the distribution: a size above the largest is drawn again. That makes
//! the mean of 1997 2985 B (were sizes cut to the largest instead, 3450 B). A page is at least one
//! byte. The reading time begins when the page has arrived completely.

mod objects;

pub use objects::Objects;

use crate::exchange::{Exchange, Next};
use crate::mean_and_p95;
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Time};
use std::fmt;

/// Which connections carry pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum PageConnection {
    /// Each page has its own, with a handshake and a slow start.
    Page,
    /// All pages over one persistent connection.
    #[default]
    Persistent,
}

impl PageConnection {
    /// All values with their names in scenarios.
    pub const ALL: [(&'static str, PageConnection); 2] = [
        ("page", PageConnection::Page),
        ("persistent", PageConnection::Persistent),
    ];
}

/// The parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WebSettings {
    /// Mean size of a page before it is truncated.
    pub mean: Bytes,
    /// Standard deviation of that.
    pub deviation: Bytes,
    /// Upper limit of a page's size.
    pub largest: Bytes,
    /// Mean reading time between pages.
    pub reading: Duration,
    /// Size of a request.
    pub request: Bytes,
    /// Which connections carry pages.
    pub connection: PageConnection,
    /// How a page divides into objects; `None`: it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Objects>,
    /// How many pages; `None` without end.
    pub count: Option<u32>,
}

impl Default for WebSettings {
    fn default() -> WebSettings {
        WebSettings::of_mean(Bytes::new(2_000_000))
    }
}

impl WebSettings {
    /// Pages of today of another mean size: the deviation is the mean, and the largest has five
    /// times that.
    #[must_use]
    pub const fn of_mean(mean: Bytes) -> WebSettings {
        WebSettings {
            mean,
            deviation: mean,
            largest: Bytes::new(mean.get().saturating_mul(5)),
            reading: Duration::from_secs(8),
            request: Bytes::new(400),
            connection: PageConnection::Persistent,
            objects: None,
            count: None,
        }
    }

    /// The model of 1997, in which a page is one small object.
    #[must_use]
    pub const fn of_1997() -> WebSettings {
        WebSettings {
            mean: Bytes::new(4_100),
            deviation: Bytes::new(30_000),
            largest: Bytes::new(100_000),
            reading: Duration::from_secs(10),
            request: Bytes::new(300),
            connection: PageConnection::Page,
            objects: None,
            count: None,
        }
    }
}

impl fmt::Display for WebSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(count) = self.count {
            write!(f, "{count} ")?;
        }
        let connection = match self.connection {
            PageConnection::Page => "a connection each",
            PageConnection::Persistent => "one connection",
        };
        write!(f, "pages of about {}", self.mean)?;
        if let Some(objects) = self.objects {
            write!(f, " in {} objects", objects.count)?;
        }
        write!(f, ", {connection}")
    }
}

/// What a reader has experienced. The time of a page counts from the request,
/// its handshake included where there is one, to the last byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagesReport {
    /// Pages that arrived in whole.
    pub completed: u64,
    /// Mean time of the pages; `None` without a complete page.
    pub mean_time: Option<Duration>,
    /// The time that 95% of them did not exceed.
    pub p95_time: Option<Duration>,
    /// The time of each, in the order in which they were read.
    pub times: Vec<Duration>,
    /// Mean time until all had arrived without which a browser draws nothing; `None` where a page
    /// is one object.
    pub mean_render_time: Option<Duration>,
    /// The time that 95% of these did not exceed.
    pub p95_render_time: Option<Duration>,
}

/// A reader of pages: what it asks for, sizes and pauses each drawn from a
/// stream of their own, and the times of its pages.
#[derive(Clone, Debug)]
pub struct Pages {
    settings: WebSettings,
    sizes: Stream,
    pauses: Stream,
    objects: Stream,
    began: Time,
    /// What the document names and is not asked for yet.
    named: Vec<Exchange>,
    /// Responses that have not arrived, and those of them without which nothing is drawn.
    left: usize,
    blocking: usize,
    times: Vec<Duration>,
    render_times: Vec<Duration>,
}

/// A size that is drawn again so often is cut instead: the largest page is so
/// far below the mean that hardly a draw fits.
const DRAWS: u32 = 1000;

impl Pages {
    /// The reader of the flow called `name` in the run with seed `seed`.
    pub(crate) fn new(settings: &WebSettings, seed: u64, name: &str) -> Pages {
        Pages {
            settings: *settings,
            sizes: Stream::new(seed, &format!("pages {name}")),
            pauses: Stream::new(seed, &format!("reading {name}")),
            objects: Stream::new(seed, &format!("objects {name}")),
            began: Time::ZERO,
            named: Vec::new(),
            left: 0,
            blocking: 0,
            times: Vec::new(),
            render_times: Vec::new(),
        }
    }

    /// The next page's document, or all that the last one names.
    pub(crate) fn request(&mut self, now: Time) -> Vec<Exchange> {
        let named = std::mem::take(&mut self.named);
        let batch = match named.is_empty() {
            false => named,
            true => {
                self.began = now;
                vec![self.page()]
            }
        };
        self.left = batch.len();
        batch
    }

    /// A page begins: its document, or all of it where it is one object.
    fn page(&mut self) -> Exchange {
        let size = self.size();
        let request = self.settings.request;
        let Some(objects) = self.settings.objects else {
            return Exchange::new(request, size);
        };
        let (document, named) = objects.of(size, request, &mut self.objects);
        self.named = named;
        self.blocking = objects.blocking();
        document
    }

    pub(crate) fn arrived(&mut self, now: Time, place: usize) -> Option<Next> {
        let time = now.since(self.began);
        let is_document = !self.named.is_empty();
        if let Some(objects) = self.settings.objects {
            self.blocking -= usize::from(!is_document && place < objects.blocking());
            // The document is the first of a page, and drawing waits for it at least.
            let is_first = self.render_times.len() == self.times.len();
            if is_first && self.blocking == 0 {
                self.render_times.push(time);
            }
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return None;
        }
        if is_document {
            return Some(Next::At(now));
        }
        self.times.push(time);
        let read = self.times.len();
        if self.settings.count.is_some_and(|n| read >= n as usize) {
            return Some(Next::Done);
        }
        Some(Next::At(now + self.reading_time()))
    }

    pub(crate) fn report(&self) -> PagesReport {
        let (mean_time, p95_time) = mean_and_p95(&self.times);
        let (mean_render_time, p95_render_time) = mean_and_p95(&self.render_times);
        PagesReport {
            completed: self.times.len() as u64,
            mean_time,
            p95_time,
            times: self.times.clone(),
            mean_render_time,
            p95_render_time,
        }
    }

    /// The size of the next page.
    fn size(&mut self) -> Bytes {
        let WebSettings {
            mean,
            deviation,
            largest,
            ..
        } = self.settings;
        for _ in 0..DRAWS {
            let size = self.sizes.log_normal(mean.as_f64(), deviation.as_f64());
            if size <= largest.as_f64() {
                return Bytes::new((size as u64).max(1));
            }
        }
        largest
    }

    /// How long the reader reads.
    fn reading_time(&mut self) -> Duration {
        let mean = self.settings.reading.as_secs();
        Duration::from_secs_f64(self.pauses.exponential(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(settings: &WebSettings, n: usize) -> Vec<f64> {
        let mut pages = Pages::new(settings, 1, "f");
        (0..n).map(|_| pages.size().as_f64()).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_moments_of_the_truncated_sizes() {
        // sigma^2 = 4.0, mu = 6.32, cut at (ln 100000 - mu) / sigma = 2.60: the
        // mean is 4100 Phi(0.60) / Phi(2.60) = 2985 bytes, the second moment
        // 4100^2 e^4 Phi(-1.40) / Phi(2.60): deviation 8.2 kB.
        let drawn = sizes(&WebSettings::of_1997(), 1_000_000);
        assert!((mean(&drawn) - 2985.0).abs() < 40.0, "{}", mean(&drawn));
        let squares: Vec<f64> = drawn.iter().map(|x| x * x).collect();
        let deviation = (mean(&squares) - mean(&drawn) * mean(&drawn)).sqrt();
        assert!((deviation - 8200.0).abs() < 150.0, "{deviation}");
        assert!(drawn.iter().all(|x| (1.0..=100_000.0).contains(x)));
        // The median of the whole distribution is e^mu = 555; the cut takes
        // half a percent.
        let below = drawn.iter().filter(|x| **x < 555.0).count() as f64 / 1e6;
        assert!((below - 0.5 / 0.9953).abs() < 0.003, "{below}");
    }

    #[test]
    fn without_a_cut_the_moments_are_the_given_ones() {
        let settings = WebSettings {
            mean: Bytes::new(10_000),
            deviation: Bytes::new(5_000),
            largest: Bytes::new(u64::MAX),
            ..WebSettings::default()
        };
        let drawn = sizes(&settings, 200_000);
        assert!((mean(&drawn) - 10_000.0).abs() < 50.0, "{}", mean(&drawn));
    }

    #[test]
    fn a_largest_page_that_nothing_fits_under_is_the_page() {
        let settings = WebSettings {
            mean: Bytes::new(1_000_000),
            deviation: Bytes::new(1),
            largest: Bytes::new(1_000),
            ..WebSettings::default()
        };
        assert_eq!(sizes(&settings, 3), [1_000.0; 3]);
    }

    #[test]
    fn readers_have_streams_of_their_own() {
        let draw = |seed, name: &str| {
            let mut pages = Pages::new(&WebSettings::default(), seed, name);
            (pages.size(), pages.reading_time(), pages.size())
        };
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        // Pauses do not depend on sizes.
        let mut pages = Pages::new(&WebSettings::default(), 1, "a");
        assert_eq!(pages.reading_time(), draw(1, "a").1);
    }

    #[test]
    fn a_reader_reports_the_times_of_its_pages() {
        let settings = WebSettings {
            count: Some(20),
            reading: Duration::ZERO,
            ..WebSettings::default()
        };
        let mut pages = Pages::new(&settings, 1, "f");
        let mut now = Time::ZERO;
        for i in 1..=20 {
            assert_eq!(pages.request(now)[0].request, settings.request);
            now += Duration::from_secs(i);
            let next = pages.arrived(now, 0);
            assert_eq!(next == Some(Next::Done), i == 20);
        }
        let report = pages.report();
        assert_eq!(report.completed, 20);
        assert_eq!(report.mean_time, Some(Duration::from_millis(10_500)));
        assert_eq!(report.p95_time, Some(Duration::from_secs(19)));
        assert_eq!(report.mean_render_time, None);
    }

    #[test]
    fn a_page_of_objects_is_drawn_before_it_is_complete() {
        let settings = WebSettings {
            count: Some(2),
            reading: Duration::ZERO,
            objects: Some(Objects {
                count: 11,
                blocking: 0.2,
                ..Objects::default()
            }),
            ..WebSettings::default()
        };
        let mut pages = Pages::new(&settings, 1, "f");
        for page in 0..2 {
            let began = Time::from_nanos(0) + Duration::from_secs(100 * page);
            let at = |seconds| began + Duration::from_secs(seconds);
            let document = pages.request(began);
            assert_eq!(document.len(), 1);
            assert_eq!(pages.arrived(at(1), 0), Some(Next::At(at(1))));
            let named = pages.request(at(1));
            assert_eq!(named.len(), 10);
            // The first two block.
            assert_eq!(pages.arrived(at(2), 9), None);
            assert_eq!(pages.arrived(at(3), 1), None);
            assert_eq!(pages.arrived(at(4 + page), 0), None);
            for place in 2..8 {
                assert_eq!(pages.arrived(at(6), place), None);
            }
            let next = pages.arrived(at(7), 8);
            assert_eq!(next == Some(Next::Done), page == 1);
        }
        let report = pages.report();
        assert_eq!(report.mean_time, Some(Duration::from_secs(7)));
        assert_eq!(report.mean_render_time, Some(Duration::from_millis(4_500)));
        assert_eq!(report.p95_render_time, Some(Duration::from_secs(5)));
    }

    #[test]
    fn where_nothing_blocks_the_document_is_drawn() {
        let settings = WebSettings {
            objects: Some(Objects {
                blocking: 0.0,
                ..Objects::default()
            }),
            ..WebSettings::default()
        };
        let mut pages = Pages::new(&settings, 1, "f");
        pages.request(Time::ZERO);
        pages.arrived(Time::from_nanos(5), 0);
        let report = pages.report();
        assert_eq!(report.mean_render_time, Some(Duration::from_nanos(5)));
        assert_eq!(report.mean_time, None);
    }

    #[test]
    fn reading_times_are_exponential() {
        let mut pages = Pages::new(&WebSettings::of_1997(), 1, "f");
        let drawn: Vec<f64> = (0..100_000)
            .map(|_| pages.reading_time().as_secs())
            .collect();
        assert!((mean(&drawn) - 10.0).abs() < 0.1);
        let above = drawn.iter().filter(|x| **x > 10.0).count() as f64 / 1e5;
        assert!((above - 0.367_879).abs() < 0.005);
    }
}
