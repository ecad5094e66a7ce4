//! The queue before the link, as it is typed and shown: how much it holds, or a discipline
//! that drops before it is full, such as `fq-codel` or `codel 1000 packets target 30 ms`.
//!
//! What the name alone leaves open is set for the link as RFC 8289 (section 4) and RFC 8033
//! have it for long round trips, and is the same on the router ([`RouterQueue`]):
//!
//! | | |
//! |---|---|
//! | interval | the round trip, at least 100 ms |
//! | target | a twentieth of the interval, at least 5 ms (PIE: 15 ms) and one and a half packets |
//! | size | what must never bind: 4 BDP, at least 1000 packets |
//! | RED | a size of 2 BDP; thresholds at a sixth and a half of the size, at most 10% of the packets |
//!
//! RED is that of Linux: not gentle, and its average is over as many packets as `tc` takes for
//! a burst.

use super::argument::Choice;
use super::loss::PACKET;
use super::path::NetworkPath;
use bentpipe_link::{
    CoDelSettings, FqCoDelSettings, Limit, PieSettings, QueueSettings, RedPreset, RedSettings,
};
use bentpipe_scenario::QueueLength;
use bentpipe_units::{Bytes, Duration, Rate, math, nearest};
use std::fmt;
use std::str::FromStr;

/// Fewest packets that a discipline with a target holds, unless it is said.
const LEAST_PACKETS: u64 = 1000;

/// Bandwidth-delay products that it holds, and that RED does.
const HELD: u64 = 4;
const HELD_RED: u64 = 2;

/// Fewest packets that RED holds, so that its thresholds are packets apart.
const LEAST_RED: u64 = 30;

/// Probability of a drop at RED's upper threshold, as ns-2 has it, and `tc` in its examples.
const RED_PROBABILITY: f64 = 0.1;

/// How a queue decides what it drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum QueueDiscipline {
    /// First in, first out; what does not fit is dropped.
    #[default]
    DropTail,
    /// Controlled delay, RFC 8289.
    CoDel,
    /// Fair queueing with CoDel for each flow, RFC 8290.
    FqCoDel,
    /// Proportional integral controller enhanced, RFC 8033.
    Pie,
    /// Random early detection.
    Red,
}

impl QueueDiscipline {
    /// Those with a name that is typed.
    pub const NAMED: [(&'static str, QueueDiscipline); 4] = [
        ("codel", QueueDiscipline::CoDel),
        ("fq-codel", QueueDiscipline::FqCoDel),
        ("pie", QueueDiscipline::Pie),
        ("red", QueueDiscipline::Red),
    ];

    /// As it is typed; `drop-tail` stands for a length alone.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = QueueDiscipline::NAMED.iter().find(|(_, one)| *one == self);
        found.map_or("drop-tail", |(name, _)| name)
    }

    /// What it is, in a few words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            QueueDiscipline::DropTail => "drops what does not fit",
            QueueDiscipline::CoDel => "controlled delay, RFC 8289",
            QueueDiscipline::FqCoDel => "fair queueing with CoDel for each flow, RFC 8290",
            QueueDiscipline::Pie => "keeps the queueing delay at a target, RFC 8033",
            QueueDiscipline::Red => "random early detection by the average queue",
        }
    }

    const fn has_target(self) -> bool {
        !matches!(self, QueueDiscipline::DropTail | QueueDiscipline::Red)
    }
}

/// A queue before a link.
///
/// ```
/// use bentpipe::compare::{Queue, QueueDiscipline};
///
/// let queue: Queue = "codel 1000 packets target 30 ms".parse()?;
/// assert_eq!(queue.discipline, QueueDiscipline::CoDel);
/// assert_eq!(queue.to_string(), "codel 1000 packets target 30 ms");
/// assert_eq!("0.5bdp".parse::<Queue>()?.to_string(), "0.5 BDP");
/// assert!("codle".parse::<Queue>().is_err());
/// # Ok::<(), bentpipe::compare::QueueError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Queue {
    /// How it decides what it drops.
    pub discipline: QueueDiscipline,
    /// How much it holds; what suits the link unless it is set. Drop-tail always has it.
    pub length: Option<QueueLength>,
    /// The queueing delay that is acceptable for good; what suits the link unless it is set.
    pub target: Option<Duration>,
}

impl Queue {
    /// A queue with this discipline, set for the link.
    #[must_use]
    pub const fn of(discipline: QueueDiscipline) -> Queue {
        Queue {
            discipline,
            length: None,
            target: None,
        }
    }

    /// True if it drops before it is full.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.discipline != QueueDiscipline::DropTail
    }

    /// What holds before the link of `path`.
    pub(super) fn on(&self, path: &NetworkPath) -> QueueOn {
        let interval = path.rtt + path.server_rtt.unwrap_or_default();
        let interval = interval.max(Duration::from_millis(100));
        let least = match self.discipline {
            QueueDiscipline::Pie => Duration::from_millis(15),
            _ => Duration::from_millis(5),
        };
        // A packet in transmission is no standing queue.
        let packet = path.rate.transmission_time(Bytes::new(PACKET * 3 / 2));
        let usual = whole((interval / 20).max(least).max(packet));
        QueueOn {
            discipline: self.discipline,
            limit: self.limit(path.rate, path.bdp()),
            target: self.target.unwrap_or(usual),
            interval: whole(interval),
        }
    }

    /// How much waits at most.
    fn limit(&self, rate: Rate, bdp: Bytes) -> Limit {
        // A queue that holds no packet would pass none of a burst.
        let bytes = |bytes: u64| Limit::Bytes(Bytes::new(bytes.max(PACKET)));
        let found = match self.length {
            Some(QueueLength::Packets(n)) => Limit::Packets((n as u32).max(1)),
            Some(QueueLength::Bytes(n)) => bytes(n.get()),
            Some(QueueLength::Bdp(x)) => bytes((bdp.as_f64() * x) as u64),
            Some(QueueLength::Time(time)) => bytes(rate.bytes_in(time).get()),
            None => {
                let (products, least) = match self.discipline {
                    QueueDiscipline::Red => (HELD_RED, LEAST_RED),
                    _ => (HELD, LEAST_PACKETS),
                };
                let held = bdp.get().saturating_mul(products);
                bytes(held.max(least * PACKET))
            }
        };
        match (self.discipline, found) {
            (QueueDiscipline::DropTail, limit) | (_, limit @ Limit::Packets(_)) => limit,
            // The others count packets, in Linux as well.
            (_, Limit::Bytes(n)) => {
                let packets = n.get().div_ceil(PACKET);
                Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
            }
        }
    }

    /// Bytes that it holds at most.
    pub(super) fn bytes(&self, path: &NetworkPath) -> Bytes {
        match self.limit(path.rate, path.bdp()) {
            Limit::Packets(n) => Bytes::new(u64::from(n) * PACKET),
            Limit::Bytes(n) => n,
        }
    }
}

impl Default for Queue {
    /// One bandwidth-delay product, drop-tail.
    fn default() -> Queue {
        QueueLength::Bdp(1.0).into()
    }
}

impl From<QueueLength> for Queue {
    fn from(length: QueueLength) -> Queue {
        Queue {
            length: Some(length),
            ..Queue::of(QueueDiscipline::DropTail)
        }
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_active(), &self.length) {
            (false, Some(length)) => write!(f, "{length}")?,
            (_, None) => f.write_str(self.discipline.name())?,
            (true, Some(length)) => write!(f, "{} {length}", self.discipline.name())?,
        }
        match self.target {
            Some(target) => write!(f, " target {target}"),
            None => Ok(()),
        }
    }
}

/// Why a text is no queue, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QueueError(String);

const EXPECTED: &str = "expected a length with its unit, such as `1 BDP`, `100 packets`, `64 kB` \
                        or `100 ms`, or codel, fq-codel, pie or red, with a length and `target \
                        30 ms` behind it where they are not to be set for the link";

impl FromStr for Queue {
    type Err = QueueError;

    fn from_str(text: &str) -> Result<Queue, QueueError> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let word = lower.split_whitespace().next().unwrap_or_default();
        let spelled = word.replace('_', "-");
        let known = |name: &str| QueueDiscipline::NAMED.iter().find(|(one, _)| *one == name);
        let Some((_, discipline)) = known(&spelled) else {
            let length: Result<QueueLength, _> = text.parse();
            return length.map(Queue::from).map_err(|error| {
                let names = QueueDiscipline::NAMED.iter().map(|(name, _)| *name);
                let near = nearest(&spelled, names).filter(|_| !word.is_empty());
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                QueueError(format!("{}: {EXPECTED}{near}", error.found))
            });
        };
        // The name has as many bytes in lower case as typed.
        let rest = text[word.len()..].trim();
        let (length, target) = match rest.to_ascii_lowercase().find("target") {
            Some(at) => (rest[..at].trim(), Some(rest[at + "target".len()..].trim())),
            None => (rest, None),
        };
        let mut queue = Queue::of(*discipline);
        if !length.is_empty() {
            let read: Result<QueueLength, _> = length.parse();
            let wrong = |e: bentpipe_units::ParseError| {
                QueueError(format!("{}: expected {}", e.found, e.expected))
            };
            queue.length = Some(read.map_err(wrong)?);
        }
        if let Some(target) = target {
            if !discipline.has_target() {
                let name = discipline.name();
                return Err(QueueError(format!("{name} has no target")));
            }
            let time = target.parse::<Duration>().ok();
            let time = time.filter(|time| !time.is_zero() && *time <= Duration::from_secs(60));
            let wrong = || QueueError(format!("`{target}` is no target, such as `30 ms`"));
            queue.target = Some(time.ok_or_else(wrong)?);
        }
        Ok(queue)
    }
}

/// The names to choose from.
pub(super) fn choices() -> Vec<Choice> {
    let named = QueueDiscipline::NAMED.iter();
    named
        .map(|(name, discipline)| Choice::new(name, discipline.describe()))
        .collect()
}

/// A time in whole milliseconds, so that what is typed at a router is what was compared.
fn whole(time: Duration) -> Duration {
    Duration::from_millis(time.as_nanos().div_ceil(1_000_000))
}

/// A queue with all that holds before a certain link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QueueOn {
    pub(super) discipline: QueueDiscipline,
    pub(super) limit: Limit,
    /// Of CoDel and PIE.
    pub(super) target: Duration,
    pub(super) interval: Duration,
}

impl QueueOn {
    /// As the link has it.
    pub(super) fn settings(&self) -> QueueSettings {
        let codel = |settings: CoDelSettings| CoDelSettings {
            target: self.target,
            interval: self.interval,
            ..settings
        };
        match self.discipline {
            QueueDiscipline::DropTail => QueueSettings::drop_tail(self.limit),
            QueueDiscipline::CoDel => QueueSettings::CoDel(codel(CoDelSettings::new(self.limit))),
            QueueDiscipline::FqCoDel => {
                let settings = FqCoDelSettings::new(self.limit);
                QueueSettings::FqCoDel(FqCoDelSettings {
                    codel: codel(settings.codel),
                    ..settings
                })
            }
            QueueDiscipline::Pie => QueueSettings::Pie(PieSettings {
                target: self.target,
                ..PieSettings::new(self.limit)
            }),
            QueueDiscipline::Red => {
                let red = self.red();
                let settings = RedSettings::preset(RedPreset::Ns2002, self.limit);
                QueueSettings::Red(RedSettings {
                    mean_packet: Bytes::new(PACKET),
                    minimum: Some(red.minimum as f64),
                    maximum: Some(red.maximum as f64),
                    weight: Some(red.weight),
                    gentle: false,
                    wait: false,
                    ..settings
                })
            }
        }
    }

    /// Packets that wait at most.
    fn packets(&self) -> u64 {
        match self.limit {
            Limit::Packets(n) => u64::from(n),
            Limit::Bytes(n) => n.get().div_ceil(PACKET),
        }
    }

    fn red(&self) -> Red {
        let size = self.packets();
        let minimum = (size / 6).max(1);
        let maximum = (size / 2).max(minimum + 1);
        // As the manual of `tc red` recommends.
        let burst = (2 * minimum + maximum).div_ceil(3).max(minimum + 1);
        Red {
            minimum,
            maximum,
            burst,
            weight: weight(minimum, burst),
        }
    }

    /// What `tc` calls it, with its parameters.
    pub(super) fn tc(&self, rate: Rate) -> String {
        let packets = self.packets();
        let (target, interval) = (tc_time(self.target), tc_time(self.interval));
        match (self.discipline, self.limit) {
            (QueueDiscipline::DropTail, Limit::Packets(n)) => format!("pfifo limit {n}"),
            (QueueDiscipline::DropTail, Limit::Bytes(n)) => format!("bfifo limit {}", n.get()),
            (QueueDiscipline::CoDel, _) => {
                format!("codel limit {packets} target {target} interval {interval}")
            }
            (QueueDiscipline::FqCoDel, _) => {
                format!("fq_codel limit {packets} target {target} interval {interval}")
            }
            (QueueDiscipline::Pie, _) => format!("pie limit {packets} target {target}"),
            (QueueDiscipline::Red, _) => {
                let red = self.red();
                format!(
                    "red limit {} min {} max {} avpkt {PACKET} burst {} probability \
                     {RED_PROBABILITY} bandwidth {}bit",
                    packets * PACKET,
                    red.minimum * PACKET,
                    red.maximum * PACKET,
                    red.burst,
                    rate.bps(),
                )
            }
        }
    }
}

/// RED's thresholds and burst, packets, and the weight of a packet in its average.
struct Red {
    minimum: u64,
    maximum: u64,
    burst: u64,
    weight: f64,
}

/// The largest power of a half with which a burst of so many packets into an empty queue
/// leaves the average below the minimum: `tc`'s reading of Floyd and Jacobson (1993), section 6.
fn weight(minimum: u64, burst: u64) -> f64 {
    let (minimum, burst) = (minimum as f64, burst as f64);
    let mut weight = 0.5;
    for _ in 0..31 {
        let average = burst + 1.0 + (math::pow(1.0 - weight, burst) - 1.0) / weight;
        if average <= minimum {
            break;
        }
        weight /= 2.0;
    }
    weight
}

/// A time as `tc` reads it.
fn tc_time(time: Duration) -> String {
    match time.as_nanos() % 1_000_000 {
        0 => format!("{}ms", time.as_nanos() / 1_000_000),
        _ => format!("{}us", time.as_nanos() / 1_000),
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
