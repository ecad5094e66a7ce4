//! Where the time of a user went: what the sender did, or what it waited for.

use crate::compare::{Activity, Answer};
use crate::recording::waits::Interval;
use crate::recording::{Phase, Recording};
use bentpipe_outcome::SenderSample;
use bentpipe_units::{Bytes, Duration, Time};

/// What a sender does, or what it waits for, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Doing {
    /// The connection is opened: no data cross the link yet.
    Handshake,
    /// The window opens: slow start, or what a congestion control has in its place,
    /// such as the startup of BBR.
    Start,
    /// The window is near what the path takes: congestion avoidance, or what a congestion
    /// control has in its place, such as ProbeBW.
    Avoidance,
    /// Losses are repaired.
    Recovery,
    /// Nothing is sent and nothing comes back until the retransmission timer expires.
    Timeout,
    /// The receive window leaves no room for a segment, and the congestion window would.
    ReceiveWindow,
    /// Everything that was sent is acknowledged, and the application has no more for now.
    Application,
}

impl Doing {
    /// Every kind in the order of tables, with its name in JSON and its title.
    pub const ALL: [(&'static str, &'static str, Doing); 7] = [
        ("handshake", "Handshake", Doing::Handshake),
        ("slow_start", "Slow start", Doing::Start),
        (
            "congestion_avoidance",
            "Congestion avoidance",
            Doing::Avoidance,
        ),
        ("recovery", "Loss recovery", Doing::Recovery),
        ("timeout", "Waiting for a timeout", Doing::Timeout),
        (
            "receive_window",
            "Receive window full",
            Doing::ReceiveWindow,
        ),
        ("application", "Nothing to send", Doing::Application),
    ];

    fn declared(self) -> (&'static str, &'static str) {
        let found = Doing::ALL.iter().find(|(_, _, doing)| *doing == self);
        found.map_or(("", ""), |(name, title, _)| (*name, *title))
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declared().0
    }

    /// What it is called in tables: `Slow start`.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.declared().1
    }

    fn of(phase: &Phase) -> Doing {
        match phase {
            phase if phase.repairs() => Doing::Recovery,
            phase if phase.opens() => Doing::Start,
            _ => Doing::Avoidance,
        }
    }
}

/// The time that went into one thing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Spent {
    /// What.
    pub doing: Doing,
    /// How long in all.
    pub time: Duration,
    /// Share of that time that the link was busy, with packets of any user; `None` where
    /// its rate changes.
    pub busy: Option<f64>,
    /// Congestion window over that time on average, segments; `None` without a sample.
    pub cwnd: Option<f64>,
}

/// Where the time of a user went. The parts add up to the whole.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct TimeSpent {
    /// When the user began.
    pub from: Time,
    /// When the user had everything, or what came until the run ended.
    pub to: Time,
    /// The parts that took time, in the order of [`Doing::ALL`].
    pub parts: Vec<Spent>,
}

impl TimeSpent {
    /// From the beginning to the end.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.to.since(self.from)
    }

    /// What went into one thing; zero if nothing did.
    #[must_use]
    pub fn of(&self, doing: Doing) -> Duration {
        self.part(doing).map_or(Duration::ZERO, |part| part.time)
    }

    /// One of the parts.
    #[must_use]
    pub fn part(&self, doing: Doing) -> Option<&Spent> {
        self.parts.iter().find(|part| part.doing == doing)
    }

    /// Time that the link was idle; `None` where its rate changes.
    #[must_use]
    pub fn idle_s(&self) -> Option<f64> {
        let idle = |part: &Spent| Some((1.0 - part.busy?) * part.time.as_secs());
        self.parts.iter().map(idle).sum()
    }
}

/// A stretch of the run, and what the sender did in it.
type Stretch = (Interval, Doing);

impl Recording {
    /// Where the user's time went; `None` of a bound that is computed and not simulated.
    #[must_use]
    pub fn time_spent(&self, answer: &Answer) -> Option<TimeSpent> {
        if self.series.sender.is_empty() {
            return None;
        }
        let stretches = self.stretches(answer);
        let of = |doing: Doing| {
            let times: Vec<Interval> = stretches
                .iter()
                .filter(|(_, does)| *does == doing)
                .map(|(interval, _)| *interval)
                .collect();
            let time: Duration = times
                .iter()
                .fold(Duration::ZERO, |sum, [from, to]| sum + to.since(*from));
            (!time.is_zero()).then(|| Spent {
                doing,
                time,
                busy: self.busy_in(answer, &times, time),
                cwnd: held_mean(&self.series.sender, &times),
            })
        };
        Some(TimeSpent {
            from: self.started_at,
            to: self.last(answer),
            parts: Doing::ALL.iter().filter_map(|(_, _, d)| of(*d)).collect(),
        })
    }

    /// When the user's time ends: of pages and videos with the last bytes.
    fn last(&self, answer: &Answer) -> Time {
        match answer.traffic.of_user(self.user) {
            Activity::Download => self.end(),
            _ => {
                let last = self.series.delivered.last().map(|(at, _)| *at);
                last.unwrap_or(self.end()).max(self.started_at)
            }
        }
    }

    /// The run from its beginning to its end, without gaps.
    fn stretches(&self, answer: &Answer) -> Vec<Stretch> {
        let (from, to) = (self.started_at, self.last(answer));
        let begin = self.first_data_at.unwrap_or(to).clamp(from, to);
        let mut all: Vec<Stretch> = vec![([from, begin], Doing::Handshake)];
        let mut reached = begin;
        for span in self.phases() {
            let (since, until) = (span.from.max(reached), span.to.min(to));
            if until > since {
                // Before the first sample it is what the first sample says.
                all.push(([reached, until], Doing::of(&span.phase)));
                reached = until;
            }
        }
        if let Some((last, _)) = all.last_mut() {
            last[1] = to;
        }
        let blocked = self.without_room();
        let all = painted(all, &blocked, Doing::ReceiveWindow);
        let all = painted(all, &self.waits.for_application, Doing::Application);
        let all = painted(all, &self.waits.for_timeout, Doing::Timeout);
        all.into_iter()
            .filter(|([from, to], _)| to > from)
            .collect()
    }

    /// While the receive window holds the sender back: it has no room for a segment, and
    /// the congestion window has.
    fn without_room(&self) -> Vec<Interval> {
        let samples = &self.series.sender;
        let has_window = |[from, _]: &&Interval| {
            let next = samples.partition_point(|s| s.at <= *from);
            let state = next.checked_sub(1).and_then(|i| samples.get(i));
            state.is_some_and(|s| s.cwnd >= s.flight + 1.0)
        };
        let blocked = self.waits.for_receiver.iter();
        blocked.filter(has_window).copied().collect()
    }

    /// Share of these times that the link was busy.
    fn busy_in(&self, answer: &Answer, times: &[Interval], all: Duration) -> Option<f64> {
        if answer.path.profile.is_some() {
            return None;
        }
        let bytes = times
            .iter()
            .map(|[from, to]| self.carried_by(answer, *to) - self.carried_by(answer, *from));
        let needs = answer.path.rate.transmission_time(Bytes::new(bytes.sum()));
        Some((needs.as_secs() / all.as_secs()).min(1.0))
    }
}

/// `all` with what lies in `times` turned into `doing`. Both are in the order of time
/// and do not overlap; the handshake stays what it is.
fn painted(all: Vec<Stretch>, times: &[Interval], doing: Doing) -> Vec<Stretch> {
    let mut painted = Vec::with_capacity(all.len());
    let mut times = times.iter().peekable();
    for ([mut from, to], does) in all {
        while let Some([begins, ends]) = times.peek() {
            if does == Doing::Handshake || *begins >= to {
                break;
            }
            if *ends > from {
                let since = (*begins).max(from);
                let until = (*ends).min(to);
                if since > from {
                    painted.push(([from, since], does));
                }
                painted.push(([since, until], doing));
                from = until;
            }
            if *ends > to {
                break;
            }
            times.next();
        }
        if to > from {
            painted.push(([from, to], does));
        }
    }
    painted
}

/// The mean window over some times, each value held until the next.
fn held_mean(samples: &[SenderSample], times: &[Interval]) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for [from, to] in times {
        let first = samples.partition_point(|s| s.at <= *from);
        let mut at = *from;
        let mut held = first.checked_sub(1).map(|i| samples[i].cwnd);
        for sample in samples[first..].iter().take_while(|s| s.at < *to) {
            if let Some(cwnd) = held {
                sum += cwnd * sample.at.since(at).as_secs();
                all += sample.at.since(at).as_secs();
            }
            (at, held) = (sample.at, Some(sample.cwnd));
        }
        if let Some(cwnd) = held {
            sum += cwnd * to.since(at).as_secs();
            all += to.since(at).as_secs();
        }
    }
    (all > 0.0)
        .then(|| sum / all)
        .filter(|mean| mean.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    #[test]
    fn what_is_painted_over_keeps_the_whole() {
        let all = vec![
            ([at(0), at(2)], Doing::Handshake),
            ([at(2), at(5)], Doing::Start),
            ([at(5), at(9)], Doing::Recovery),
        ];
        let times = [[at(1), at(3)], [at(4), at(6)], [at(8), at(20)]];
        let expected = vec![
            ([at(0), at(2)], Doing::Handshake),
            ([at(2), at(3)], Doing::Timeout),
            ([at(3), at(4)], Doing::Start),
            ([at(4), at(5)], Doing::Timeout),
            ([at(5), at(6)], Doing::Timeout),
            ([at(6), at(8)], Doing::Recovery),
            ([at(8), at(9)], Doing::Timeout),
        ];
        assert_eq!(painted(all.clone(), &times, Doing::Timeout), expected);
        assert_eq!(painted(all.clone(), &[], Doing::Timeout), all);
    }

    #[test]
    fn a_window_is_held_until_the_next_sample() {
        let sample = |s, cwnd| SenderSample {
            at: at(s),
            cwnd,
            ssthresh: f64::INFINITY,
            flight: cwnd,
            rtt: Duration::ZERO,
            retransmissions: 0,
            spurious_retransmissions: 0,
            phase: "slow_start",
        };
        let samples = [sample(1, 10.0), sample(3, 20.0), sample(8, 40.0)];
        assert_eq!(held_mean(&samples, &[[at(2), at(4)]]), Some(15.0));
        assert_eq!(held_mean(&samples, &[[at(0), at(3)]]), Some(10.0));
        let twice = [[at(1), at(3)], [at(8), at(10)]];
        assert_eq!(held_mean(&samples, &twice), Some(25.0));
        assert_eq!(held_mean(&samples, &[]), None);
        assert_eq!(held_mean(&[], &twice), None);
    }
}
