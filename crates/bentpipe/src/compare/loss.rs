//! What the channel loses, as a user writes it: `0.1%`, or `5% in bursts of 8
//! packets`.

use bentpipe_link::ChannelSettings;
use bentpipe_report::text::digits3;
use bentpipe_units::{Bytes, Rate, Ratio, math};
use std::fmt;
use std::str::FromStr;

/// Bytes of a full packet at the IP layer, for counting in packets.
pub(super) const PACKET: u64 = 1500;

/// The longest burst, packets.
const LONGEST: f64 = 1e6;

/// The share of packets that the channel loses: each independently, or in
/// bursts (two states in time, as Gilbert's and Elliott's).
///
/// ```
/// use bentpipe::compare::Loss;
///
/// let loss: Loss = "5% in bursts of 8 packets".parse()?;
/// assert_eq!((loss.share.get(), loss.burst), (0.05, Some(8.0)));
/// assert_eq!(loss.to_string(), "5% in bursts of 8 packets");
/// // A share needs its unit: this could be 0.1% as well as a tenth.
/// assert!("0.1".parse::<Loss>().is_err());
/// # Ok::<(), bentpipe::compare::LossError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Loss {
    /// The share of packets that are lost.
    pub share: Ratio,
    /// Mean number of packets that are lost in a row; `None` where each is lost
    /// independently of the others.
    pub burst: Option<f64>,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss {
        share: Ratio::ZERO,
        burst: None,
    };

    /// Each packet is lost with this probability, whatever becomes of the others.
    #[must_use]
    pub const fn independent(share: Ratio) -> Loss {
        Loss { share, burst: None }
    }

    /// This share of the packets is lost, `burst` in a row on average.
    #[must_use]
    pub const fn bursts(share: Ratio, burst: f64) -> Loss {
        Loss {
            share,
            burst: Some(burst),
        }
    }

    /// True if nothing is lost.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.share == Ratio::ZERO
    }

    /// The channel of a link of `rate` that loses so much. A burst lasts as long
    /// as its packets take to be sent, whether there are any: a packet that is
    /// sent again alone meets another burst only by chance.
    #[must_use]
    pub fn channel(self, rate: Rate) -> ChannelSettings {
        match self.burst {
            _ if self.is_none() => ChannelSettings::Perfect,
            None => ChannelSettings::Uniform {
                packet_error_rate: self.share,
            },
            Some(packets) => ChannelSettings::Bursts {
                packet_error_rate: self.share,
                mean_burst: rate.transmission_time(Bytes::new(PACKET)).scaled(packets),
            },
        }
    }
}

impl From<Ratio> for Loss {
    fn from(share: Ratio) -> Loss {
        Loss::independent(share)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.burst {
            None => write!(f, "{}", self.share),
            Some(burst) => {
                let burst = math::floor(100.0 * burst + 0.5) / 100.0;
                let packets = if burst == 1.0 { "packet" } else { "packets" };
                write!(f, "{} in bursts of {burst} {packets}", self.share)
            }
        }
    }
}

/// Why a text is no loss, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LossError(String);

const EXPECTED: &str = "expected a share with its unit, such as `0.1%`, `0`, or `5% in bursts of \
                        8 packets`";

impl FromStr for Loss {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Loss, LossError> {
        let text = text.trim();
        let wrong = |why: String| LossError(format!("{why}; {EXPECTED}"));
        let (share, burst) = match text.split_once("in bursts of") {
            Some((share, burst)) => (share.trim(), Some(burst.trim())),
            None => (text, None),
        };
        let share = read_share(share, &wrong)?;
        let Some(burst) = burst else {
            return Ok(Loss::independent(share));
        };
        let number = burst.trim_end_matches("packets").trim_end_matches("packet");
        match number.trim().parse::<f64>() {
            Ok(burst) if (1.0..=LONGEST).contains(&burst) => Ok(Loss::bursts(share, burst)),
            Ok(_) => Err(wrong(format!(
                "a burst has from 1 to {LONGEST} packets on average, not `{burst}`"
            ))),
            Err(_) => Err(wrong(format!("`{burst}` is no number of packets"))),
        }
    }
}

fn read_share(text: &str, wrong: &dyn Fn(String) -> LossError) -> Result<Ratio, LossError> {
    if let Some(number) = text.strip_suffix('%') {
        let Ok(percent) = number.trim().parse::<f64>() else {
            return Err(wrong(format!("`{text}` is no share")));
        };
        let share = Ratio::new(percent / 100.0);
        return share.ok_or_else(|| wrong(format!("`{text}` is not from 0% to 100%")));
    }
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Ratio::ZERO),
        Ok(x) if x > 0.0 && x <= 1.0 => Err(LossError(format!(
            "`{text}` has no unit: write `{text}%`, or `{}%` for a share of {text}",
            short(100.0 * x)
        ))),
        Ok(x) if x > 0.0 && x <= 100.0 => {
            Err(LossError(format!("`{text}` has no unit: write `{text}%`")))
        }
        _ => Err(wrong(format!("`{text}` is no share"))),
    }
}

fn short(x: f64) -> String {
    match x.fract() == 0.0 {
        true => format!("{x:.0}"),
        false => digits3(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_printed_as_it_is_written() {
        for text in ["0.1%", "5% in bursts of 8 packets", "100%"] {
            assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
        }
        assert_eq!("0".parse(), Ok(Loss::NONE));
        assert_eq!(
            "5% in bursts of 2.5".parse::<Loss>().unwrap().burst,
            Some(2.5)
        );
        let loss: Loss = "5% in bursts of 8 packets".parse().unwrap();
        let ChannelSettings::Bursts { mean_burst, .. } = loss.channel(Rate::from_mbps(12)) else {
            panic!("it is bursty");
        };
        assert_eq!(mean_burst, bentpipe_units::Duration::from_millis(8));
    }

    #[test]
    fn a_share_without_a_unit_is_asked_back() {
        let error = |text: &str| text.parse::<Loss>().unwrap_err().to_string();
        assert_eq!(
            error("0.1"),
            "`0.1` has no unit: write `0.1%`, or `10%` for a share of 0.1"
        );
        assert_eq!(
            error("1"),
            "`1` has no unit: write `1%`, or `100%` for a share of 1"
        );
        assert_eq!(error("5"), "`5` has no unit: write `5%`");
        for wrong in [
            "",
            "fish",
            "-1%",
            "101%",
            "nan",
            "5% in bursts of 0 packets",
        ] {
            assert!(wrong.parse::<Loss>().is_err(), "{wrong}");
        }
    }
}
