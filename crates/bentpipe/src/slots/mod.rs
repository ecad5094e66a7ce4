//! Slots from measurements: what Starlink's terminals see every 15 s.
//!
//! Where slots begin is the offset at which pings deviate least from the medians of their
//! slots. Of the medians come the delays of slots, of the deviations the jitter within
//! them, and of the steps from median to median the share of slots that stay and how far they
//! wander: those of a grid whose steps are nearest to what was measured (the distance of
//! Kolmogorov and Smirnov). Of the pings that were lost within a second of a change come the
//! interruptions, of the others the losses. Of what a flow delivered come the capacity and how it
//! varies from slot to slot; where slots begin within the flow is not known, and matters little for
//! that.

mod read;

pub use read::{Interval, Ping, intervals, pings};

use bentpipe_link::{
    ChannelSettings, DelayDistribution, JitterSettings, Limit, LinkSettings, QueueSettings,
    SlotSettings,
};
use bentpipe_scenario::{Scenario, ScenarioBuilder};
use bentpipe_units::{Duration, Rate, Ratio};
use std::sync::Arc;

/// Fewest slots of which a distribution is fitted.
const FEWEST: usize = 20;

/// How many slots a flow must last for a distribution of capacities to be fitted.
const FEWEST_RATES: usize = 5;

/// Fewest pings of a slot that counts.
const FEWEST_PINGS: usize = 5;

/// Points of the distributions of delays and of jitter.
const DELAYS: usize = 21;
const JITTERS: usize = 51;

/// The shares of deviations between which the jitter is: what is outside of them belongs to
/// slots that begin elsewhere.
const WITHIN: [f64; 2] = [0.01, 0.998];

/// How long a delay lasts within a slot, which pings far apart do not tell.
const HOLDS: Duration = Duration::from_millis(20);

/// Slots that were fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotFit {
    /// The slots.
    pub slots: SlotSettings,
    /// The variation within them, on the way forth.
    pub jitter: JitterSettings,
    /// Round trip that is never undercut but by 1% of the pings.
    pub floor: Duration,
    /// What is lost apart from changes of slot.
    pub channel: ChannelSettings,
    /// Capacity forth and back, where it was measured.
    pub rates: [Option<Rate>; 2],
    /// How many pings, and slots, were used.
    pub counts: [usize; 2],
    /// Distance of the steps of the fit to those measured.
    pub distance: f64,
}

/// Fits slots of `every`, which begin at `offset` after the full minute or where the pings
/// show it, to `pings` and the capacity to what flows delivered.
///
/// # Errors
/// In words, where there are too few.
pub fn fit(
    pings: &[Ping],
    (every, offset): (Duration, Option<Duration>),
    flows: [Option<&[Interval]>; 2],
) -> Result<SlotFit, String> {
    let length = every.as_secs();
    if !(1.0..=3600.0).contains(&length) {
        return Err("a slot must last from a second to an hour".to_owned());
    }
    let offset = match offset {
        Some(offset) => offset.as_secs() % length,
        None => {
            let steps = (2.0 * length) as u32;
            let all = (0..steps).map(|step| f64::from(step) * 0.5);
            let spread = |offset: f64| spread(&divided(pings, length, offset));
            let best = all.min_by(|a, b| spread(*a).total_cmp(&spread(*b)));
            best.unwrap_or(0.0)
        }
    };
    let slots = divided(pings, length, offset);
    if slots.len() < FEWEST {
        return Err(format!(
            "{} slots with at least {FEWEST_PINGS} pings; expected at least {FEWEST}, which is {} \
             of pings",
            slots.len(),
            every * FEWEST as u64
        ));
    }
    let medians: Vec<f64> = slots.iter().map(|slot| slot.median).collect();
    let mut deviations: Vec<f64> = slots.iter().flat_map(Slot::deviations).collect();
    deviations.sort_unstable_by(f64::total_cmp);
    let mut levels = medians.clone();
    levels.sort_unstable_by(f64::total_cmp);
    let [low, high] = WITHIN.map(|share| at(&deviations, share));
    let delay = spaced(&levels, DELAYS, levels[0]);
    let mut jitter = spaced(&deviations, JITTERS, low);
    jitter
        .iter_mut()
        .for_each(|ms| *ms = ms.clamp(0.0, high - low));
    let measured: Vec<f64> = slots
        .windows(2)
        .filter(|pair| pair[1].number == pair[0].number + 1)
        .map(|pair| pair[1].median - pair[0].median)
        .collect();
    let mut found = SlotSettings {
        every,
        offset: Duration::from_secs_f64(offset),
        delay: millis(&delay),
        ..SlotSettings::steady()
    };
    let mut distance = f64::INFINITY;
    for stays in 0..10 {
        for wander in [1, 2, 3, 4, 6, 8, 12, 16] {
            let tried = SlotSettings {
                stays: Ratio::new(f64::from(stays) / 10.0).unwrap_or(Ratio::ZERO),
                wander: Duration::from_millis(wander),
                ..found.clone()
            };
            let steps = tried.steps(4000, 1);
            let is = kolmogorov_smirnov(&steps, &measured);
            if is < distance {
                (found, distance) = (tried, is);
            }
        }
    }
    let (interruption, channel) = losses(pings, length, offset);
    found.interruption = match interruption > 0.0 {
        true => millis(&[0.0, 2e3 * interruption]),
        false => [].into(),
    };
    // Both directions draw of one distribution: that of the way down, where it was measured.
    found.rate = flows
        .iter()
        .flatten()
        .map(|flow| shares(flow, length))
        .find(|shares| !shares.is_empty())
        .unwrap_or_default()
        .into();
    Ok(SlotFit {
        slots: found,
        jitter: JitterSettings {
            holds: HOLDS,
            ..JitterSettings::new(DelayDistribution::Quantiles {
                delays: millis(&jitter),
            })
        },
        floor: Duration::from_secs_f64((levels[0] + low).max(0.1) / 1e3),
        channel,
        rates: flows.map(|flow| flow.and_then(capacity)),
        counts: [slots.iter().map(|slot| slot.ms.len()).sum(), slots.len()],
        distance,
    })
}

/// The pings of a slot.
struct Slot {
    number: i64,
    ms: Vec<f64>,
    median: f64,
}

impl Slot {
    fn deviations(&self) -> impl Iterator<Item = f64> + '_ {
        self.ms.iter().map(|ms| ms - self.median)
    }
}

fn divided(pings: &[Ping], length: f64, offset: f64) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    for ping in pings {
        let Some(ms) = ping.ms else { continue };
        let number = bentpipe_units::math::floor((ping.at - offset) / length) as i64;
        match slots.last_mut().filter(|slot| slot.number == number) {
            Some(slot) => slot.ms.push(ms),
            None => slots.push(Slot {
                number,
                ms: vec![ms],
                median: 0.0,
            }),
        }
    }
    slots.retain(|slot| slot.ms.len() >= FEWEST_PINGS);
    for slot in &mut slots {
        let mut sorted = slot.ms.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        slot.median = at(&sorted, 0.5);
    }
    slots
}

/// Mean distance of pings from the medians of their slots.
fn spread(slots: &[Slot]) -> f64 {
    let all = slots.iter().flat_map(Slot::deviations);
    let (sum, count) = all.fold((0.0, 0u32), |(sum, count), x| (sum + x.abs(), count + 1));
    sum / f64::from(count.max(1))
}

/// Mean time without service at a change of slot, and how pings are lost otherwise. Programs that
/// wait for an answer print a lost ping late: it was sent when the one before it had been answered.
fn losses(pings: &[Ping], length: f64, offset: f64) -> (f64, ChannelSettings) {
    let mut gaps: Vec<f64> = pings
        .windows(2)
        .map(|pair| pair[1].at - pair[0].at)
        .collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let gap = if gaps.is_empty() { 0.0 } else { at(&gaps, 0.5) };
    let (mut at_changes, mut other, mut again) = (0u32, 0u32, 0u32);
    for pair in pings.windows(2).filter(|pair| pair[1].ms.is_none()) {
        let sent = (pair[0].at + gap).min(pair[1].at) - offset;
        let within = sent - bentpipe_units::math::floor(sent / length) * length;
        match within < 1.0 || within > length - 1.0 {
            true => at_changes += 1,
            false => {
                other += 1;
                again += u32::from(pair[0].ms.is_none());
            }
        }
    }
    let first = pings.first().map_or(0.0, |ping| ping.at);
    let changes = pings.last().map_or(0.0, |ping| (ping.at - first) / length);
    let interruption = f64::from(at_changes) / changes.max(1.0) * gap;
    let share = f64::from(other) / pings.len().max(1) as f64;
    (interruption, channel(share, (again, other), gap))
}

/// What loses a `share` of pings that are `gap` seconds apart, where `again` of the `lost` ones
/// came right after another.
///
/// A link that is bad for an exponential time of mean L loses the ping after a lost one with
/// probability exp(-gap / L). Where at least two were lost in that way, and twice as many as
/// losses that know nothing of each other make likely, L follows; otherwise pings do not tell
/// losses of packets from bursts that are much shorter than the gap.
fn channel(share: f64, (again, lost): (u32, u32), gap: f64) -> ChannelSettings {
    let Some(packet_error_rate) = Ratio::new(share).filter(|share| *share != Ratio::ZERO) else {
        return ChannelSettings::Perfect;
    };
    let lost = f64::from(lost.max(1));
    let repeated = (f64::from(again) / lost).min(1.0 - 0.5 / lost);
    match again >= 2 && repeated > 2.0 * share {
        true => {
            let mean = gap / -bentpipe_units::math::ln(repeated);
            ChannelSettings::Bursts {
                packet_error_rate,
                mean_burst: Duration::from_micros(((mean * 1e3 + 0.5) as u64).max(1) * 1000),
            }
        }
        false => ChannelSettings::Uniform { packet_error_rate },
    }
}

/// The rates of a flow in each second of at least a second, bit/s, each with its end.
fn seconds(intervals: &[Interval]) -> Vec<(f64, f64)> {
    let mut seconds: Vec<(f64, f64)> = Vec::new();
    let (mut begin, mut bytes) = (intervals.first().map_or(0.0, |first| first.from), 0.0);
    for interval in intervals {
        bytes += interval.bytes;
        // Ends of intervals are printed with four digits.
        if interval.to - begin >= 1.0 - 1e-3 {
            seconds.push((interval.to, bytes * 8.0 / (interval.to - begin)));
            (begin, bytes) = (interval.to, 0.0);
        }
    }
    seconds
}

/// The rate that 95% of the seconds stay below; `None` if there is none.
fn high(seconds: &[(f64, f64)]) -> Option<f64> {
    let mut seconds: Vec<f64> = seconds.iter().map(|(_, rate)| *rate).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    (!seconds.is_empty()).then(|| at(&seconds, 0.95).max(1.0))
}

/// The rate that a flow reached in 95% of the seconds at most; `None` if it lasted for less
/// than a second.
fn capacity(intervals: &[Interval]) -> Option<Rate> {
    high(&seconds(intervals)).map(Rate::from_bps_f64)
}

/// What a flow reached in each time of the length of a slot, as shares of what it reached in
/// all, ascending; none where it lasted for fewer than [`FEWEST_RATES`] of them.
fn shares(intervals: &[Interval], length: f64) -> Vec<f64> {
    let seconds = seconds(intervals);
    let all = high(&seconds).unwrap_or(1.0);
    let begin = intervals.first().map_or(0.0, |first| first.from);
    let end = seconds.last().map_or(begin, |(end, _)| *end);
    // By the middle of each second; what is left at the end is not a slot's length.
    let part = |end: f64| ((end - begin - 0.5) / length) as u64;
    let is_whole = |(last, _): &&(f64, f64)| (part(*last) + 1) as f64 * length <= end - begin + 0.5;
    let whole: Vec<(f64, f64)> = seconds.iter().filter(is_whole).copied().collect();
    let parts = whole.chunk_by(|(a, _), (b, _)| part(*a) == part(*b));
    let mut shares: Vec<f64> = parts.filter_map(high).collect();
    if shares.len() < FEWEST_RATES {
        return Vec::new();
    }
    shares.sort_unstable_by(f64::total_cmp);
    let round = |share: &f64| bentpipe_units::math::floor(share / all * 100.0 + 0.5) / 100.0;
    shares
        .iter()
        .map(round)
        .map(|share| share.max(0.01))
        .collect()
}

/// The largest distance between the shares of two samples that are below a value.
#[must_use]
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let [mut a, mut b] = [a.to_vec(), b.to_vec()];
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        i += a[i..].iter().take_while(|y| **y <= x).count();
        j += b[j..].iter().take_while(|y| **y <= x).count();
        let shares = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        largest = largest.max(shares.abs());
    }
    largest
}

/// The value at a share of sorted ones, with straight lines between them.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().max(1) - 1) as f64;
    let below = place as usize;
    let low = sorted.get(below).copied().unwrap_or(0.0);
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    low + (place - below as f64) * (high - low)
}

/// So many quantiles, less `zero`.
fn spaced(sorted: &[f64], count: usize, zero: f64) -> Vec<f64> {
    let last = (count - 1) as f64;
    (0..count)
        .map(|i| at(sorted, i as f64 / last) - zero)
        .collect()
}

/// To a tenth of a millisecond, as pings are printed.
fn millis(list: &[f64]) -> Arc<[Duration]> {
    let rounded = |ms: &f64| Duration::from_micros((ms.max(0.0) * 10.0 + 0.5) as u64 * 100);
    list.iter().map(rounded).collect()
}

impl SlotFit {
    /// A scenario with a link of these slots between `gateway` and `terminal`, and a download
    /// by CUBIC.
    ///
    /// # Errors
    /// If it cannot be built, which does not happen.
    pub fn scenario(&self) -> Result<Scenario, crate::Error> {
        let mut builder: ScenarioBuilder = Scenario::builder("slots");
        builder.duration(Duration::from_secs(120));
        let gateway = builder.node("gateway");
        let terminal = builder.node("terminal");
        let link = |rate: Option<Rate>, other: u64| {
            let queue = QueueSettings::drop_tail(Limit::Packets(1000));
            let rate = rate.unwrap_or(Rate::from_mbps(other));
            LinkSettings::new(rate, self.floor / 2, queue)
        };
        let forth = LinkSettings {
            channel: self.channel,
            ..link(self.rates[0], 100)
        };
        let ways = [forth, link(self.rates[1], 10)];
        builder.link_pair("satellite", (gateway, terminal), ways, None);
        builder.slots("satellite", &self.slots);
        builder.jitter("satellite", &self.jitter);
        let cubic = bentpipe_tcp::find_transport("cubic");
        let flow = bentpipe_traffic::Application::Persistent;
        let flow = builder.flow("download", gateway, terminal, flow);
        if let Some(cubic) = cubic {
            let above = bentpipe_tcp::TransportSettings {
                profile: Some(bentpipe_tcp::HostProfile::Linux),
                ..bentpipe_tcp::TransportSettings::default()
            };
            flow.transport(above.over(cubic.settings()).resolve("cubic"));
        }
        Ok(builder.build()?)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
