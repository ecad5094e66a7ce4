//! Traffic of others that does not react to the link: a share of its rate, or a
//! rate.

use bentpipe_traffic::{Application, Period};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::fmt;
use std::str::FromStr;

/// Mean length of the bursts of traffic that comes in bursts, and of the pauses.
const PERIOD: Duration = Duration::from_secs(1);

/// Size of its packets at the IP layer.
const PACKET: Bytes = Bytes::new(1000);

/// Datagrams that cross the link besides the users' traffic and that no
/// transport controls, such as voice or a tunnel of others.
///
/// ```
/// use bentpipe::compare::Background;
///
/// for text in ["20%", "2 Mbit/s", "20% in bursts"] {
///     assert_eq!(text.parse::<Background>().unwrap().to_string(), text);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Background {
    /// How much of it there is on average.
    pub load: Load,
    /// It comes at twice the mean rate for a second and pauses for a second,
    /// both on average; else it comes evenly.
    pub bursty: bool,
}

/// How much traffic there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// A share of the link's rate.
    Share(Ratio),
    /// A rate.
    Rate(Rate),
}

impl Background {
    /// Even traffic.
    #[must_use]
    pub const fn even(load: Load) -> Background {
        Background {
            load,
            bursty: false,
        }
    }

    /// Its mean rate on a link of `rate`.
    #[must_use]
    pub fn rate(self, rate: Rate) -> Rate {
        match self.load {
            Load::Share(share) => Rate::from_bps_f64(rate.bps_f64() * share.get()),
            Load::Rate(rate) => rate,
        }
    }

    /// The application that sends it over a link of `rate`.
    pub(super) fn application(self, rate: Rate) -> Application {
        let rate = self.rate(rate);
        if !self.bursty {
            return Application::ConstantRate {
                rate,
                packet_size: PACKET,
                control: None,
                deadline: None,
            };
        }
        Application::OnOff {
            on: Period::Exponential { mean: PERIOD },
            off: Period::Exponential { mean: PERIOD },
            rate: Rate::from_bps(rate.bps().saturating_mul(2)),
            packet_size: PACKET,
        }
    }
}

impl fmt::Display for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.load {
            Load::Share(share) => write!(f, "{share}")?,
            Load::Rate(rate) => write!(f, "{rate}")?,
        }
        f.write_str(if self.bursty { " in bursts" } else { "" })
    }
}

impl FromStr for Background {
    type Err = String;

    fn from_str(text: &str) -> Result<Background, String> {
        let text = text.trim();
        let (load, bursty) = match text.strip_suffix("in bursts") {
            Some(load) => (load.trim(), true),
            None => (text, false),
        };
        let wrong = || {
            format!(
                "`{text}` is no load: expected a share of the rate or a rate, such as `20%` or \
                 `2 Mbit/s`, evenly or `in bursts`, as in `20% in bursts`"
            )
        };
        let share = load.strip_suffix('%').map(|number| {
            let percent = number.trim().parse::<f64>().map_err(|_| wrong())?;
            let share = Ratio::new(percent / 100.0).filter(|s| (0.0..1.0).contains(&s.get()));
            share.map(Load::Share).ok_or_else(|| {
                format!("a load of `{load}` leaves nothing of the link: expected less than 100%")
            })
        });
        let load = match share {
            Some(share) => share?,
            None => Load::Rate(load.parse().map_err(|_| wrong())?),
        };
        Ok(Background { load, bursty })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_share_or_a_rate() {
        let read = |text: &str| text.parse::<Background>();
        let link = Rate::from_mbps(10);
        assert_eq!(read("20%").unwrap().rate(link), Rate::from_mbps(2));
        assert_eq!(read("3 Mbit/s").unwrap().rate(link), Rate::from_mbps(3));
        let bursty = read("20% in bursts").unwrap();
        assert!(matches!(
            bursty.application(link),
            Application::OnOff { rate, .. } if rate == Rate::from_mbps(4)
        ));
        for wrong in ["0.2", "100%", "-5%", "fish", "20% of it"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
