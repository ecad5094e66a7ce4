//! A fade, as a user writes it: `10 dB for 30 s at 20 s, ramps of 5 s`, and the link in it.

use super::profile::{LinkProfile, ProfileKind};
use super::trace::lasting;
use crate::Error;
use bentpipe_link::{DVB_S2, Fade as LinkFade, Loss, ModCod, Mode, Piece, Timeline, WhenDown};
use bentpipe_units::{Duration, Rate, Time};
use std::fmt;
use std::str::FromStr;

/// When a fade begins, after the first start, unless it is said.
const BEGINS: Duration = Duration::from_secs(5);

/// The deepest fade, dB, and the longest.
const DEEPEST_DB: f64 = 100.0;
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What a modem makes of the margin of a link budget, dB.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Decibels(pub f64);

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl FromStr for Decibels {
    type Err = String;

    fn from_str(text: &str) -> Result<Decibels, String> {
        let text = text.trim();
        let number = text.strip_suffix("dB").or_else(|| text.strip_suffix("db"));
        let Some(number) = number else {
            return Err(match text.parse::<f64>() {
                Ok(_) => format!("`{text}` has no unit: write `{text} dB`"),
                Err(_) => format!("`{text}` is no attenuation: expected decibels, such as `3 dB`"),
            });
        };
        match number.trim().parse::<f64>() {
            Ok(x) if (0.0..=DEEPEST_DB).contains(&x) => Ok(Decibels(x)),
            Ok(_) => Err(format!("`{text}` is not from 0 dB to {DEEPEST_DB} dB")),
            Err(_) => Err(format!(
                "`{text}` is no attenuation: expected decibels, such as `3 dB`"
            )),
        }
    }
}

/// What the modem does in a fade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Coding {
    /// Steps down to a ModCod that still closes the link (adaptive coding and modulation).
    #[default]
    Acm,
    /// Keeps its ModCod (constant coding and modulation).
    Ccm,
}

impl Coding {
    /// Both with their names.
    pub const ALL: [(&'static str, Coding); 2] = [("acm", Coding::Acm), ("ccm", Coding::Ccm)];

    /// What it does, in a few words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Coding::Acm => "steps down to a ModCod that closes the link",
            Coding::Ccm => "keeps its ModCod: beyond the margin the link is down",
        }
    }
}

/// A fade of a link: an attenuation that rises in a straight line, stays and falls.
///
/// ```
/// use bentpipe::compare::Fade;
///
/// let fade: Fade = "10 dB for 30 s at 20 s, ramps of 5 s".parse()?;
/// assert_eq!(fade.depth.0, 10.0);
/// assert_eq!(fade.to_string(), "10 dB for 30 s at 20 s, ramps of 5 s");
/// assert!("10 for 30 s".parse::<Fade>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Fade {
    /// Largest attenuation.
    pub depth: Decibels,
    /// How long it stays.
    pub lasts: Duration,
    /// When the attenuation begins to rise, after the first start.
    pub begins: Duration,
    /// How long it rises, and falls.
    pub ramps: Duration,
}

impl Fade {
    /// When the attenuation is over.
    #[must_use]
    pub fn ends(&self) -> Duration {
        self.begins + self.ramps + self.lasts + self.ramps
    }
}

impl fmt::Display for Fade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {} at {}", self.depth, self.lasts, self.begins)?;
        match self.ramps.is_zero() {
            true => Ok(()),
            false => write!(f, ", ramps of {}", self.ramps),
        }
    }
}

/// The words before the parts of a fade.
const PARTS: [&str; 3] = ["for", "at", "ramps"];

impl FromStr for Fade {
    type Err = String;

    fn from_str(text: &str) -> Result<Fade, String> {
        let text = text.trim();
        let wrong = |why: String| {
            format!(
                "{why}; expected a depth and how long it stays, and if need be when it begins and \
                 how long it rises and falls: `10 dB for 30 s at 20 s, ramps of 5 s`"
            )
        };
        // Each part with the word before it; the depth has none.
        let mut parts: Vec<(&str, String)> = vec![("", String::new())];
        for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
            match PARTS.iter().find(|part| **part == word) {
                Some(part) if parts.iter().any(|(known, _)| known == part) => {
                    return Err(wrong(format!("`{part}` comes twice in `{text}`")));
                }
                Some(part) => parts.push((part, String::new())),
                None if word == "of" && parts.last().is_some_and(|(_, of)| of.is_empty()) => {}
                None => {
                    if let Some((_, of)) = parts.last_mut() {
                        *of += if of.is_empty() { "" } else { " " };
                        *of += word;
                    }
                }
            }
        }
        let part = |name: &str| {
            parts
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, of)| of)
        };
        let depth: Decibels = parts[0].1.parse().map_err(wrong)?;
        if depth.0 <= 0.0 {
            return Err(wrong(format!("`{}` is no fade", parts[0].1)));
        }
        let time = |name: &str| -> Result<Option<Duration>, String> {
            let Some(of) = part(name) else {
                return Ok(None);
            };
            let time: Duration = of
                .parse()
                .map_err(|e| wrong(format!("`{name} {of}`: {e}")))?;
            match time <= LONGEST {
                true => Ok(Some(time)),
                false => Err(wrong(format!("`{of}` is more than a day"))),
            }
        };
        let lasts = time("for")?.ok_or_else(|| wrong(format!("`{text}` does not say how long")))?;
        Ok(Fade {
            depth,
            lasts,
            begins: time("at")?.unwrap_or(BEGINS),
            ramps: time("ramps")?.unwrap_or(Duration::ZERO),
        })
    }
}

/// A link under a clear sky, and its modem.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClearSky {
    /// Rates there and back.
    pub(super) rates: [Rate; 2],
    pub(super) rtt: Duration,
    pub(super) modcod: ModCod,
    pub(super) margin: Decibels,
    pub(super) coding: Coding,
}

impl Fade {
    /// How the link changes. Only the rate towards the users does; the way back is down with it.
    pub(super) fn profile(&self, sky: ClearSky) -> Result<LinkProfile, Error> {
        let modes = match sky.coding {
            Coding::Acm => sky.modcod.adaptive(sky.margin.0),
            Coding::Ccm => sky.modcod.constant(sky.margin.0),
        };
        let fade = LinkFade {
            depth_db: self.depth.0,
            begins: self.begins,
            slope: self.ramps,
            stays: self.lasts,
            modes,
        };
        let base = Piece {
            from: Time::ZERO,
            rate: sky.rates[0],
            one_way_delay: sky.rtt / 2,
            sloped: false,
            loss: Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        };
        let failed = |why: bentpipe_link::TimelineError| Error::setting("fade", why.to_string());
        let forth = fade.timeline(base).map_err(failed)?;
        let back = forth.pieces().iter().map(|piece| Piece {
            rate: sky.rates[1],
            ..*piece
        });
        let back = Timeline::new(back.collect()).map_err(failed)?;
        let lines = [forth, back].map(|line| line.when_down(WhenDown::Lost));
        let text = format!(
            "a fade of {} from {} to {}",
            self.depth,
            lasting(self.begins),
            lasting(self.ends())
        );
        let span = self.ends().max(Duration::from_millis(1));
        let name = self.to_string();
        let mut profile = LinkProfile::of(ProfileKind::Fade, &name, text, lines, span);
        // The clear sky is what everything else is scaled by.
        profile.rtt = [sky.rtt; 3];
        profile.notes.push(self.note(sky, &fade.modes));
        Ok(profile.at_steps(1, 0))
    }

    /// What the link is under a clear sky and at the depth of the fade.
    fn note(&self, sky: ClearSky, modes: &[Mode]) -> String {
        let clear = format!(
            "Under a clear sky {} closes the link with a margin of {}",
            sky.modcod, sky.margin
        );
        let Some(mode) = modes.iter().find(|mode| mode.up_to_db >= self.depth.0) else {
            let none = match sky.coding {
                Coding::Acm => "no ModCod closes it",
                Coding::Ccm => "it does not close",
            };
            return format!("{clear}; at the depth of the fade {none}, and the link is down.");
        };
        let efficiency = mode.code_rate.get() * sky.modcod.efficiency;
        let found = DVB_S2.iter().min_by(|a, b| {
            let off = |m: &ModCod| (m.efficiency - efficiency).abs();
            off(a).total_cmp(&off(b))
        });
        let rate = Rate::from_bps_f64(sky.rates[0].bps_f64() * mode.code_rate.get());
        format!(
            "{clear}; at the depth of the fade {} does, with {:.3} Mbit/s.",
            found.map_or("", |m| m.name),
            rate.bps_f64() / 1e6
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Comparison;
    use super::*;

    #[test]
    fn a_fade_is_printed_as_it_is_typed() {
        for (typed, shown) in [
            ("10 dB for 30 s", "10 dB for 30 s at 5 s"),
            ("10dB for 30s at 20s", "10 dB for 30 s at 20 s"),
            (
                "3.5 dB for 1 min at 0 s, ramps of 10 s",
                "3.5 dB for 60 s at 0 s, ramps of 10 s",
            ),
            (
                "6 dB ramps 2 s for 500 ms",
                "6 dB for 500 ms at 5 s, ramps of 2 s",
            ),
        ] {
            let fade: Fade = typed.parse().unwrap();
            assert_eq!(fade.to_string(), shown);
            assert_eq!(fade.to_string().parse::<Fade>().unwrap(), fade);
        }
    }

    #[test]
    fn what_is_no_fade_is_named() {
        for (text, says) in [
            ("", "`` is no attenuation"),
            ("10 for 30 s", "`10` has no unit: write `10 dB`"),
            ("0 dB for 30 s", "`0 dB` is no fade"),
            ("200 dB for 30 s", "`200 dB` is not from 0 dB to 100 dB"),
            ("10 dB", "`10 dB` does not say how long"),
            ("10 dB for 30", "`for 30`: `30` has no unit"),
            ("10 dB for 30 s for 2 s", "`for` comes twice"),
            ("10 dB for 30 s at dawn", "`at dawn`: "),
            ("10 dB for 30 h", "`30 h` is more than a day"),
            ("10 dB during 30 s", "`10 dB during 30 s` is no attenuation"),
        ] {
            let error = text.parse::<Fade>().unwrap_err();
            assert!(error.starts_with(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_fade_becomes_rates() {
        let question = |coding: Coding| {
            let question = Comparison::new().rate(Rate::from_mbps(10)).coding(coding);
            question.fade("10 dB for 30 s at 20 s".parse().unwrap())
        };
        let path = question(Coding::Acm).path().unwrap();
        assert_eq!(
            (path.rate, path.rtt),
            (Rate::from_mbps(10), Duration::from_millis(600))
        );
        let profile = path.profile.unwrap();
        let rate = |line: usize, s: u64| {
            let at = profile.timelines[line].at(Time::ZERO + Duration::from_secs(s));
            (at.rate.bps(), at.up)
        };
        // 16APSK 3/4 with 1 dB: Es/N0 of 11.21 dB, 1.21 dB in the fade: QPSK 1/2.
        let lower = (10e6 * 0.988_858 / 2.966_728) as u64;
        assert_eq!(rate(0, 19), (10_000_000, true));
        assert!(rate(0, 21).0.abs_diff(lower) <= 1 && rate(0, 49).0.abs_diff(lower) <= 1);
        assert_eq!(rate(0, 50), (10_000_000, true));
        assert_eq!(rate(1, 21), (2_000_000, true));
        assert_eq!(profile.availability, 1.0);
        assert!(
            profile.notes[0].contains("QPSK 1/2 does, with 3.333 Mbit/s"),
            "{:?}",
            profile.notes
        );
        assert!([1, 2, 77].iter().all(|seed| profile.start(*seed).is_zero()));
        let profile = question(Coding::Ccm).path().unwrap().profile.unwrap();
        assert_eq!(profile.longest_outage, Duration::from_secs(30));
        assert!(
            profile
                .timelines
                .iter()
                .all(|line| !line.at(Time::ZERO + Duration::from_secs(30)).up)
        );
    }
}
