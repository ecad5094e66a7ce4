//! Slots that were measured.
//!
//! Only fitted parameters are here, no measurements. Each preset names whose measurements it
//! was fitted to; `bentpipe trace fit` fits others in the same way.

use super::SlotSettings;
use crate::{DelayDistribution, JitterSettings};
use bentpipe_units::{Duration, Ratio};
use std::sync::Arc;

/// Slots, and what goes with them.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotPreset {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Whose measurements it was fitted to, with their licence.
    pub source: &'static str,
    /// The slots.
    pub slots: SlotSettings,
    /// Variation of the round trip within slots, all of it on the way to the terminal: pings do
    /// not tell the ways apart.
    pub jitter: JitterSettings,
}

/// The names of the presets: as measured, with a path over inter-satellite links in most
/// slots, and the same without the levels of delay of those paths, for a gateway nearby.
pub const PRESETS: [&str; 2] = ["starlink-2023", "starlink-2023-near"];

/// The preset of that name.
#[must_use]
pub fn preset(name: &str) -> Option<SlotPreset> {
    let micros = |list: &[u64]| -> Arc<[Duration]> {
        list.iter().map(|us| Duration::from_micros(*us)).collect()
    };
    let place = PRESETS.iter().position(|known| *known == name)?;
    Some(SlotPreset {
        name: PRESETS[place],
        source: SOURCE,
        slots: SlotSettings {
            // The levels are those of ways over inter-satellite links.
            delay: if place == 0 {
                micros(&DELAY_US)
            } else {
                [].into()
            },
            stays: Ratio::new(0.4).unwrap_or(Ratio::ZERO),
            wander: Duration::from_millis(4),
            // A fifth of the changes of slot lost a ping of one every 0.22 s.
            interruption: micros(&[0, 88_000]),
            ..SlotSettings::steady()
        },
        jitter: JitterSettings {
            holds: Duration::from_millis(HOLDS_MS),
            ..JitterSettings::new(DelayDistribution::Quantiles {
                delays: micros(&JITTER_US),
            })
        },
    })
}

const SOURCE: &str = "36,000 pings of a terminal to its gateway over inter-satellite links, \
                      September 2023: clarkzjw/mmsys24-starlink-livestreaming-data, CC BY-SA 4.0";

/// How long a delay lasts within a slot. Pings that are 220 ms apart say no more than that it
/// is less than that. Between 15 and 40 ms it hardly matters where HyStart of Linux leaves slow
/// start (fidelity/world).
const HOLDS_MS: u64 = 20;

/// Medians of the slots above the smallest of them, 5% of the slots apart.
const DELAY_US: [u64; 21] = [
    0, 8200, 11500, 19100, 21500, 25700, 31500, 35600, 41600, 44600, 51600, 57600, 64600, 70600,
    76600, 85600, 103600, 117600, 128600, 154100, 230600,
];

/// Round trips of a slot above the smallest of 99% of them, 2% of the pings apart; the last is
/// that of 99.8%.
const JITTER_US: [u64; 51] = [
    0, 2500, 5000, 6500, 7400, 8000, 8800, 9000, 9500, 9900, 10000, 10300, 10700, 11000, 11100,
    11600, 12000, 12000, 12500, 13000, 13000, 13000, 13500, 13900, 14000, 14000, 14000, 14200,
    14500, 15000, 15000, 15000, 15600, 16000, 16300, 17000, 17100, 18000, 18000, 18900, 19000,
    20000, 20600, 21500, 22500, 24000, 25300, 27100, 30500, 38000, 109400,
];
