//! A link by a trace of an emulator, in the place of its rate, and of delay and
//! loss where the trace has them.

use super::profile::{LinkProfile, ProfileKind};
use crate::{Error, input};
use bentpipe_link::trace::{Content, TraceError, detect, leoreplayer, mahimahi, theaterq};
use bentpipe_link::{Loss, Opportunities, Piece, Timeline};
use bentpipe_units::{Duration, Rate, Time};
use std::path::{Path, PathBuf};

/// How long each delay of LeoReplayer's traces holds.
const INTERVAL: Duration = Duration::from_millis(10);

/// The files of a trace.
///
/// One file in the format of mahimahi (delivery opportunities) or TheaterQ
/// (delay, rate and loss), or two as LeoReplayer has them: delivery
/// opportunities, and delays in milliseconds, one each 10 ms. Which file is
/// which, is known by what it looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    files: Vec<PathBuf>,
    interval: Duration,
}

/// What a trace needs from the rest of the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// For a trace without delays.
    pub(super) rtt: Option<Duration>,
    /// Unless it is a fifth of the trace's.
    pub(super) return_rate: Option<Rate>,
    /// How much of the trace is asked about, unless all of it.
    pub(super) over: Option<Duration>,
}

impl Trace {
    /// The trace in these files.
    #[must_use]
    pub fn new<I>(files: I) -> Trace
    where
        I: IntoIterator,
        I::Item: Into<PathBuf>,
    {
        Trace {
            files: files.into_iter().map(Into::into).collect(),
            interval: INTERVAL,
        }
    }

    /// The same with delays that each hold for `interval`; 10 ms unless it is
    /// set.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Trace {
        self.interval = interval;
        self
    }

    /// The files, as given.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn profile(&self, rest: Rest) -> Result<LinkProfile, Error> {
        if self.interval.is_zero() {
            let why = "needs delays that hold for longer than no time";
            return Err(Error::setting("trace", why));
        }
        let read = self.read()?;
        let name = names(&self.files);
        if read.has_delays() && rest.rtt.is_some() {
            let why = format!("is not for {name}, which has delays of its own");
            return Err(Error::setting("rtt", why));
        }
        let Some(delay) = rest.rtt.or(read.has_delays().then_some(Duration::ZERO)) else {
            let why = format!(
                "{name} has no delays: give the round-trip time as well (--rtt 60ms), or the \
                 file of delays beside it (--trace RATE,DELAYS)"
            );
            return Err(Error::setting("trace", why));
        };
        let forth = read.line(Rate::from_bps(1), delay / 2, self.interval)?;
        let length = forth.length();
        let over = rest.over.filter(|over| *over < length);
        let span = over.unwrap_or(length).max(Duration::from_millis(1));
        let rate = forth.means(Time::ZERO, span).rate;
        let back = Rate::from_bps((rate.bps() / 5).max(1));
        let back = read.way_back(rest.return_rate.unwrap_or(back), delay / 2, self.interval)?;
        let text = format!("{} of {}", read.what(), lasting(length));
        let mut profile = LinkProfile::of(ProfileKind::Trace, &name, text, [forth, back], span);
        // A trace ends with its last packet, and not with the second that is printed.
        let is_short = |over: &Duration| *over > length && lasting(*over) != lasting(length);
        if let Some(over) = rest.over.filter(is_short) {
            profile.notes.push(format!(
                "The trace lasts {}, less than the {} that were asked for: times are those \
                 within the trace.",
                lasting(length),
                lasting(over)
            ));
        }
        profile.has_losses = matches!(read, Read::TheaterQ(_));
        // Opportunities at one instant alone have no rate over time.
        profile.check("trace")
    }

    fn read(&self) -> Result<Read, Error> {
        let wrong = |why: String| Error::setting("trace", why);
        let (first, second) = match &self.files[..] {
            [one] => (one, None),
            [one, two] => (one, Some(two)),
            files => {
                let count = files.len();
                return Err(wrong(format!(
                    "takes one file, or one of rates and one of delays, not {count}"
                )));
            }
        };
        let text = |file: &Path| Ok::<String, Error>(input::text_beside(file)?);
        let content = |file: &Path, text: &str| {
            detect(text).ok_or_else(|| {
                let file = file.display();
                wrong(format!(
                    "{file} is no trace: expected a line of milliseconds for each delivery \
                     opportunity (mahimahi), of delays (LeoReplayer) or of \
                     KEEP,LATENCY,RATE,LOSS,LIMIT (TheaterQ)"
                ))
            })
        };
        let one = text(first)?;
        let Some(second) = second else {
            return match content(first, &one)? {
                Content::Opportunities => {
                    Ok(Read::Mahimahi(parsed(first, mahimahi::read(&one, true))?))
                }
                Content::TheaterQ => Ok(Read::TheaterQ(parsed(first, theaterq::read(&one, true))?)),
                Content::Delays => Err(wrong(format!(
                    "{} has delays alone: give the file of delivery opportunities as well \
                     (--trace RATE,DELAYS)",
                    first.display()
                ))),
            };
        };
        let two = text(second)?;
        // Delays that never fall look like opportunities: the order decides.
        let swapped = match (content(first, &one)?, content(second, &two)?) {
            (Content::Opportunities, Content::Opportunities | Content::Delays) => false,
            (Content::Delays, Content::Opportunities) => true,
            _ => {
                return Err(wrong(format!(
                    "{}: two files are one of delivery opportunities and one of delays",
                    names(&self.files)
                )));
            }
        };
        let ((rate_file, rate), (delay_file, delay)) = match swapped {
            false => ((first, &one), (second, &two)),
            true => ((second, &two), (first, &one)),
        };
        let opportunities = parsed(rate_file, mahimahi::read(rate, true))?;
        let delays = parsed(delay_file, leoreplayer::read_delays(delay, self.interval))?;
        Ok(Read::LeoReplayer(opportunities, delays))
    }
}

fn parsed<T>(file: &Path, read: Result<T, TraceError>) -> Result<T, Error> {
    read.map_err(|e| {
        let why = format!("{}:{}: {}", file.display(), e.line, e.what);
        Error::setting("trace", why)
    })
}

/// The names of files without their folders.
fn names(files: &[PathBuf]) -> String {
    let name = |file: &PathBuf| match file.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => file.display().to_string(),
    };
    files.iter().map(name).collect::<Vec<_>>().join(" and ")
}

/// A length of time in words: `4 min 20 s`, `24 h`.
pub(super) fn lasting(time: Duration) -> String {
    let seconds = (time.as_secs() + 0.5) as u64;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, _) if time.as_secs() < 10.0 => format!("{:.1} s", time.as_secs()),
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// What files say.
enum Read {
    Mahimahi(Opportunities),
    LeoReplayer(Opportunities, leoreplayer::Delays),
    TheaterQ(Timeline),
}

impl Read {
    const fn has_delays(&self) -> bool {
        !matches!(self, Read::Mahimahi(_))
    }

    const fn what(&self) -> &'static str {
        match self {
            Read::Mahimahi(_) => "a trace of mahimahi",
            Read::LeoReplayer(..) => "a trace of LeoReplayer",
            Read::TheaterQ(_) => "a trace of TheaterQ",
        }
    }

    /// Towards the receiver.
    fn line(&self, rate: Rate, delay: Duration, interval: Duration) -> Result<Timeline, Error> {
        match self {
            Read::TheaterQ(line) => Ok(line.clone()),
            Read::Mahimahi(given) | Read::LeoReplayer(given, _) => {
                let line = self.way_back(rate, delay, interval)?;
                Ok(line.with_opportunities(given.clone()))
            }
        }
    }

    /// A constant rate with the delays of the trace.
    fn way_back(&self, rate: Rate, delay: Duration, interval: Duration) -> Result<Timeline, Error> {
        let base = Piece {
            from: Time::ZERO,
            rate,
            one_way_delay: delay,
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        };
        let line = match self {
            Read::Mahimahi(_) => Timeline::new(vec![base]),
            Read::LeoReplayer(_, delays) => {
                debug_assert!(!interval.is_zero());
                Timeline::new(delays.pieces(base)).and_then(|l| l.repeating(delays.period()))
            }
            Read::TheaterQ(line) => {
                let pieces = line.pieces().iter().map(|piece| Piece {
                    rate,
                    loss: Loss::Channel,
                    ..*piece
                });
                let back = Timeline::new(pieces.collect());
                back.and_then(|back| match line.period() {
                    Some(period) => back.repeating(period),
                    None => Ok(back),
                })
            }
        };
        line.map_err(|e| Error::setting("trace", e.to_string()))
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
