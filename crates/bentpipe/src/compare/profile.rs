//! A link that changes with time: over satellites that move, or by a trace.
//!
//! Runs begin at different times of it, spread over [`LinkProfile::span`], so that
//! the answer is over all of the profile and not over its first seconds. Which
//! time it is, is a function of the run's seed.

use crate::Error;
use bentpipe_link::slots::presets::SlotPreset;
use bentpipe_link::{Means, Piece, SlotSettings, Timeline, Way, WhenDown};
use bentpipe_units::{Duration, Rate, Time};
use std::sync::Arc;

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum ProfileKind {
    /// The way over satellites.
    Orbit,
    /// What a trace says.
    Trace,
    /// A fade.
    Fade,
}

/// How a link changes with time.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct LinkProfile {
    /// What it is of.
    pub kind: ProfileKind,
    /// The name that was given: of an orbit or a file.
    pub name: String,
    /// What it is, in words.
    pub text: String,
    /// What one should know about it, a sentence each.
    pub notes: Vec<String>,
    /// Rate that the link has on average, towards the receiver.
    pub rate: Rate,
    /// Round-trip propagation time: smallest, mean and largest while there is
    /// a path.
    pub rtt: [Duration; 3],
    /// Share of the time with a path.
    pub availability: f64,
    /// Changes of path in `span`.
    pub path_changes: usize,
    /// The longest time without a path.
    pub longest_outage: Duration,
    /// Runs begin within this time from the start of the profile.
    pub span: Duration,
    /// True if the trace says what is lost.
    pub has_losses: bool,
    /// Towards the receiver and back.
    pub(super) timelines: [Arc<Timeline>; 2],
    /// Share of the full packets that the trace loses.
    pub lost: f64,
    /// Runs begin at so many times, at even distances; at any time otherwise.
    pub(super) steps: Option<u64>,
    /// Seed of the first run: further seeds count up from it, past the largest one if
    /// need be.
    pub(super) first: u64,
    /// Slots on top of the timelines, which each run draws.
    pub(super) slots: Option<Arc<SlotPreset>>,
}

/// The part of the profile after one of its beginnings.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Hour {
    /// When it begins, from the start of the profile.
    pub at: Duration,
    /// What the link can carry towards the receiver, on average.
    pub rate: Rate,
    /// Mean round-trip propagation time while there is a path.
    pub rtt: Duration,
    /// Share of the time with a path.
    pub availability: f64,
    /// Changes of path.
    pub changes: usize,
}

impl LinkProfile {
    /// Bytes that its changes take.
    pub(super) fn memory(&self) -> usize {
        let pieces = self.timelines.iter().map(|line| line.pieces().len());
        pieces.sum::<usize>() * size_of::<Piece>()
    }

    /// The profile of a link that these timelines describe, over `span`.
    pub(super) fn of(
        kind: ProfileKind,
        name: &str,
        text: String,
        timelines: [Timeline; 2],
        span: Duration,
    ) -> LinkProfile {
        let forth = timelines[0].means(Time::ZERO, span);
        let back = timelines[1].means(Time::ZERO, span);
        let sum = |i: usize| forth.one_way_delay[i] + back.one_way_delay[i];
        let longest_outage = longest_outage(&timelines[0], span);
        LinkProfile {
            kind,
            name: name.to_owned(),
            text,
            notes: Vec::new(),
            rate: forth.rate,
            // To a tenth of a millisecond, as people write it.
            rtt: [sum(0), rounded(sum(1)), sum(2)],
            availability: forth.up,
            path_changes: forth.route_changes,
            longest_outage,
            span,
            has_losses: false,
            timelines: timelines.map(Arc::new),
            lost: forth.lost,
            steps: None,
            first: 0,
            slots: None,
        }
    }

    /// The same with runs that begin at `steps` times of `span`, at even
    /// distances; `first` is the seed of the first run.
    pub(super) fn at_steps(mut self, steps: u64, first: u64) -> LinkProfile {
        self.steps = Some(steps.max(1));
        self.first = first;
        self
    }

    /// Which of the times the run with this seed begins at. As many seeds as there
    /// are times each have one of their own.
    pub(super) fn step(&self, seed: u64) -> u64 {
        let steps = self.steps.unwrap_or(1);
        (self.first % steps + seed.wrapping_sub(self.first) % steps) % steps
    }

    /// When the run with this seed begins, from the start of the profile. Seeds
    /// that follow each other begin far from each other, and any number of them
    /// is spread evenly.
    #[must_use]
    pub fn start(&self, seed: u64) -> Duration {
        if let Some(steps) = self.steps {
            return self.span * self.step(seed) / steps;
        }
        // Multiples of the golden section, as parts of 2^64.
        let part = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let nanos = (u128::from(self.span.as_nanos()) * u128::from(part)) >> 64;
        Duration::from_nanos(nanos as u64)
    }

    /// True if the link is not the same all the time.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.kind != ProfileKind::Orbit || self.path_changes > 0 || self.rtt[0] < self.rtt[2]
    }

    /// True if runs begin at different times of it.
    #[must_use]
    pub fn starts_differ(&self) -> bool {
        self.changes() && self.steps != Some(1)
    }

    /// How often the path changes in an hour.
    #[must_use]
    pub fn changes_per_hour(&self) -> f64 {
        self.path_changes as f64 / (self.span.as_secs() / 3600.0)
    }

    /// The profile in `count` parts of `span`, as long as each other.
    #[must_use]
    pub fn hours(&self, count: usize) -> Vec<Hour> {
        let count = count.max(1) as u64;
        let length = self.span / count;
        let part = |i: u64| {
            let at = length * i;
            let means = |line: &Timeline| -> Means { line.means(Time::ZERO + at, length) };
            let (forth, back) = (means(&self.timelines[0]), means(&self.timelines[1]));
            Hour {
                at,
                rate: forth.rate,
                rtt: forth.one_way_delay[1] + back.one_way_delay[1],
                availability: forth.up,
                changes: forth.route_changes,
            }
        };
        (0..count).map(part).collect()
    }

    /// The same with slots on top, whose delays count in the round trips.
    pub(super) fn with_slots(mut self, slots: SlotPreset) -> LinkProfile {
        let delay = &slots.slots.delay;
        let sum = delay.iter().fold(Duration::ZERO, |sum, more| sum + *more);
        self.rtt[1] = rounded(self.rtt[1] + sum / delay.len().max(1) as u64);
        self.rtt[2] += delay.last().copied().unwrap_or_default();
        self.slots = Some(Arc::new(slots));
        self
    }

    /// The timelines of the run with this seed.
    pub(super) fn of_run(&self, seed: u64) -> [Arc<Timeline>; 2] {
        let start = self.start(seed);
        let lines = self.from(start);
        let Some(slots) = &self.slots else {
            return lines;
        };
        let every = slots.slots.every;
        let passed = Duration::from_nanos(start.as_nanos() % every.as_nanos().max(1));
        let slots = SlotSettings {
            offset: (slots.slots.offset + every).saturating_sub(passed),
            ..slots.slots.clone()
        };
        let over = |line: &Timeline, way| {
            let length = self.span.max(Duration::from_secs(3600));
            Arc::new(slots.over(line, (way, length), seed, "satellite"))
        };
        [over(&lines[0], Way::Forth), over(&lines[1], Way::Back)]
    }

    /// The timelines of a run that begins at `start`.
    pub(super) fn from(&self, start: Duration) -> [Arc<Timeline>; 2] {
        if start.is_zero() {
            return self.timelines.clone();
        }
        [0, 1].map(|way| Arc::new(self.timelines[way].later(start)))
    }

    /// Refuses a profile that carries nothing.
    pub(super) fn check(self, setting: &'static str) -> Result<LinkProfile, Error> {
        if self.rate.bps() == 0 {
            let why = format!("{}: the link carries nothing", self.name);
            return Err(Error::setting(setting, why));
        }
        Ok(self)
    }
}

fn rounded(time: Duration) -> Duration {
    Duration::from_nanos((time.as_nanos() + 50_000) / 100_000 * 100_000)
}

/// The longest time in `span` for which a link is down, as its transmitter has
/// it.
fn longest_outage(line: &Timeline, span: Duration) -> Duration {
    let end = Time::ZERO + span;
    let mut longest = Duration::ZERO;
    let mut since: Option<Time> = None;
    let mut at = Time::ZERO;
    while at < end {
        let next = line.next_change(at).unwrap_or(Time::MAX).min(end);
        match (line.at(at).up, since) {
            (false, None) => since = Some(at),
            (true, Some(from)) => {
                longest = longest.max(at.since(from));
                since = None;
            }
            _ => {}
        }
        at = next;
    }
    since.map_or(longest, |from| longest.max(end.since(from)))
}

/// What packets do while there is no path: they wait.
pub(super) const WITHOUT_PATH: WhenDown = WhenDown::Waits;

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_link::{Loss, Piece};

    fn piece(from_s: u64, ms: u64, up: bool, route: u32) -> Piece {
        Piece {
            from: Time::ZERO + Duration::from_secs(from_s),
            rate: Rate::from_mbps(2),
            one_way_delay: Duration::from_millis(ms),
            sloped: false,
            loss: Loss::Channel,
            up,
            route,
            jitter: None,
        }
    }

    fn profile() -> LinkProfile {
        let pieces = vec![
            piece(0, 10, true, 0),
            piece(100, 30, true, 1),
            piece(200, 30, false, 2),
            piece(250, 20, true, 3),
        ];
        let line = Timeline::new(pieces).unwrap().when_down(WITHOUT_PATH);
        let line = line.repeating(Duration::from_secs(400)).unwrap();
        let lines = [line.clone(), line];
        let span = Duration::from_secs(400);
        LinkProfile::of(ProfileKind::Trace, "t", "a trace".to_owned(), lines, span)
    }

    #[test]
    fn a_profile_says_what_it_comes_to() {
        let profile = profile();
        assert_eq!(profile.rate.bps(), 1_750_000);
        let ms = profile.rtt.map(|rtt| rtt.as_nanos() / 100_000);
        // 100 s at 20 ms, 100 s at 60 and 150 s at 40.
        assert_eq!(ms, [200, 400, 600]);
        assert_eq!(profile.longest_outage, Duration::from_secs(50));
        assert_eq!((profile.path_changes, profile.availability), (2, 0.875));
        assert!((profile.changes_per_hour() - 18.0).abs() < 1e-9);
        let halves = profile.hours(2);
        assert_eq!(halves[1].at, Duration::from_secs(200));
        assert_eq!(halves[1].availability, 0.75);
        assert_eq!(halves[0].rtt, Duration::from_millis(40));
    }

    #[test]
    fn starts_are_spread_over_the_profile() {
        let profile = profile();
        for count in [4u64, 10, 50] {
            let mut starts: Vec<f64> = (1..=count).map(|s| profile.start(s).as_secs()).collect();
            starts.sort_by(f64::total_cmp);
            let gaps = starts.windows(2).map(|w| w[1] - w[0]);
            let widest = gaps.fold(starts[0], f64::max);
            assert!(widest < 3.0 * 400.0 / count as f64, "{count}: {widest}");
        }
        let steps = profile.clone().at_steps(8, 5);
        let mut starts: Vec<u64> = (5..13).map(|s| steps.start(s).as_nanos()).collect();
        starts.sort_unstable();
        let even = (0..8).map(|i| Duration::from_secs(50 * i).as_nanos());
        assert_eq!(starts, even.collect::<Vec<_>>());
        // Seeds count on past the largest one.
        let first = u64::MAX - 2;
        let steps = profile.clone().at_steps(7, first);
        let mut taken: Vec<u64> = (0..7).map(|i| steps.step(first.wrapping_add(i))).collect();
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6]);
        // A run that begins later sees what is there then.
        let later = &profile.from(Duration::from_secs(150))[0];
        assert_eq!(
            later.at(Time::ZERO).one_way_delay,
            Duration::from_millis(30)
        );
        assert!(!later.at(Time::ZERO + Duration::from_secs(60)).up);
    }
}
