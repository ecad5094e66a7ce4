//! What runs at the sender, as it is typed and shown: a congestion control and
//! what is changed around it, such as `cubic + IW 32`.

use bentpipe_cc::{ParameterValue, nearest};
use bentpipe_units::{Duration, Rate};
use std::fmt;
use std::str::FromStr;

/// The largest initial window, segments.
const LARGEST_WINDOW: u32 = 10_000;

/// A congestion control by name, and refinements.
///
/// ```
/// use bentpipe::compare::Setting;
///
/// let setting: Setting = "bp_hybla+iw 32".parse()?;
/// assert_eq!(setting.control, "bp_hybla");
/// assert_eq!(setting.initial_window, Some(32));
/// assert_eq!(setting.to_string(), "bp_hybla + IW 32");
/// assert!("cubic + IV 32".parse::<Setting>().is_err());
/// # Ok::<(), bentpipe::compare::SettingError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Setting {
    /// The name of the congestion control, `cubic`; on RFC hosts of a transport.
    pub control: String,
    /// `IW 32`: the initial window, segments.
    pub initial_window: Option<u32>,
    /// `clamp 1 BDP`: the window is at most so many bandwidth-delay products of
    /// the link.
    pub clamp: Option<f64>,
    /// `buffers`: send and receive buffers that hold what the link and its queue
    /// do.
    pub buffers: bool,
    /// `QUIC`: what is sent goes over QUIC, whose congestion control this is.
    pub quic: bool,
    /// `TLS`: the handshake of TLS 1.3 precedes the data of TCP.
    pub tls: bool,
    /// `0-RTT`: its users have been there before, so that QUIC or TLS sends data with the first
    /// flight.
    pub zero_rtt: bool,
    /// `k=4`: parameters of the congestion control, as given.
    pub parameters: Vec<(String, String)>,
}

impl Setting {
    /// A congestion control as it is.
    #[must_use]
    pub fn of(control: impl Into<String>) -> Setting {
        Setting {
            control: control.into(),
            ..Setting::default()
        }
    }

    /// The same with this initial window, segments.
    #[must_use]
    pub fn window(mut self, segments: u32) -> Setting {
        self.initial_window = Some(segments);
        self
    }

    /// The same with buffers for the link.
    #[must_use]
    pub fn with_buffers(mut self) -> Setting {
        self.buffers = true;
        self
    }

    /// The same over QUIC.
    #[must_use]
    pub fn over_quic(mut self) -> Setting {
        self.quic = true;
        self
    }

    /// True if nothing is refined.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Setting::of(self.control.clone())
    }

    fn refine(&mut self, text: &str) -> Result<(), SettingError> {
        let whole = text;
        let lower = text.to_ascii_lowercase();
        let rest = |word: &str| lower.strip_prefix(word).map(str::trim);
        let twice = |is: bool| match is {
            true => Err(SettingError(format!("`{whole}` comes twice"))),
            false => Ok(()),
        };
        if let Some((name, value)) = text.split_once('=') {
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            twice(self.parameters.iter().any(|(known, _)| *known == name))?;
            self.parameters.push((name, value));
            self.parameters.sort();
            return Ok(());
        }
        if lower == "quic" {
            twice(self.quic)?;
            self.quic = true;
            return Ok(());
        }
        if lower == "tls" {
            twice(self.tls)?;
            self.tls = true;
            return Ok(());
        }
        if lower == "0-rtt" {
            twice(self.zero_rtt)?;
            self.zero_rtt = true;
            return Ok(());
        }
        if lower == "buffers" {
            twice(self.buffers)?;
            self.buffers = true;
            return Ok(());
        }
        if let Some(number) = rest("iw") {
            twice(self.initial_window.is_some())?;
            let window = number.parse::<u32>().ok();
            let window = window.filter(|n| (1..=LARGEST_WINDOW).contains(n));
            self.initial_window = Some(window.ok_or_else(|| {
                let known = format!("from 1 to {LARGEST_WINDOW} segments, such as `IW 32`");
                SettingError(format!("`{whole}`: expected an initial window of {known}"))
            })?);
            return Ok(());
        }
        if let Some(length) = rest("clamp") {
            twice(self.clamp.is_some())?;
            let number = length.strip_suffix("bdp").unwrap_or(length).trim();
            let clamp = number.parse::<f64>().ok();
            let clamp = clamp.filter(|x| *x > 0.0 && *x <= 1e6);
            self.clamp = Some(clamp.filter(|_| length.ends_with("bdp")).ok_or_else(|| {
                SettingError(format!(
                    "`{whole}`: expected the window at most in bandwidth-delay products, such \
                     as `clamp 1 BDP`"
                ))
            })?);
            return Ok(());
        }
        let word = lower.split_whitespace().next().unwrap_or("");
        let near = nearest(word, ["IW", "clamp", "buffers", "QUIC", "TLS", "0-RTT"]);
        let near = near.map_or_else(|| ".".to_owned(), |n| format!("; did you mean `{n}`?"));
        Err(SettingError(format!(
            "`{whole}` refines nothing{near} Expected `IW 32` (the initial window, segments), \
             `clamp 1 BDP` (the window at most), `buffers` (that hold what the link does), `QUIC` \
             (instead of TCP), `TLS` (its handshake before the data of TCP), `0-RTT` (of QUIC or TLS, \
             whose users have been there before), or a parameter of the congestion control, such as \
             `k=4`"
        )))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.control)?;
        for (name, value) in &self.parameters {
            write!(f, " + {name}={value}")?;
        }
        if let Some(segments) = self.initial_window {
            write!(f, " + IW {segments}")?;
        }
        if let Some(clamp) = self.clamp {
            write!(f, " + clamp {clamp} BDP")?;
        }
        f.write_str(if self.buffers { " + buffers" } else { "" })?;
        f.write_str(if self.quic { " + QUIC" } else { "" })?;
        f.write_str(if self.tls { " + TLS" } else { "" })?;
        f.write_str(if self.zero_rtt { " + 0-RTT" } else { "" })
    }
}

/// Why a text is no setting, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub(super) String);

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Setting, SettingError> {
        let mut parts = split(text).into_iter();
        let control = parts.next().unwrap_or_default();
        if control.is_empty() {
            return Err(SettingError("it has no name".to_owned()));
        }
        let mut setting = Setting::of(control);
        for part in parts {
            setting.refine(part)?;
        }
        Ok(setting)
    }
}

/// The parts between the plus signs. One that ends a name, as in `westwood+`,
/// belongs to the name.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, _) in text.match_indices('+') {
        let rest = text[at + 1..].trim_start();
        if rest.is_empty() || rest.starts_with('+') {
            continue;
        }
        parts.push(text[begin..at].trim());
        begin = at + 1;
    }
    parts.push(text[begin..].trim());
    parts
}

/// The value of a parameter, as an algorithm takes it.
pub(super) fn value(text: &str) -> ParameterValue {
    if let Ok(number) = text.parse::<f64>() {
        return number.into();
    }
    let list: Result<Vec<f64>, _> = text.split('-').map(str::parse).collect();
    match (text, list) {
        ("true", _) => true.into(),
        ("false", _) => false.into(),
        (_, Ok(list)) => list.into(),
        _ => match (text.parse::<Duration>(), text.parse::<Rate>()) {
            (Ok(duration), _) => duration.into(),
            (_, Ok(rate)) => rate.into(),
            _ => text.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_printed_as_it_is_typed() {
        for text in [
            "cubic",
            "cubic + IW 32",
            "westwood+",
            "westwood+ + IW 32",
            "cubic + clamp 1 BDP",
            "cubic + IW 32 + clamp 0.5 BDP + buffers",
            "bbr + QUIC",
            "bbr + QUIC + 0-RTT",
            "cubic + IW 32 + TLS",
            "cubic + TLS + 0-RTT",
            "cubic + IW 32 + buffers + QUIC",
            "bp_mtsi + thresholds=20-30-40 + IW 6",
        ] {
            let setting: Setting = text.parse().unwrap();
            assert_eq!(setting.to_string(), text);
            assert_eq!(setting.to_string().parse::<Setting>().unwrap(), setting);
        }
        for (typed, shown) in [
            ("cubic+iw32", "cubic + IW 32"),
            ("bbr+quic+iw 20", "bbr + IW 20 + QUIC"),
            ("bbr+0-rtt+tls", "bbr + TLS + 0-RTT"),
            (" cubic +Buffers+IW 4", "cubic + IW 4 + buffers"),
            ("cubic + clamp 2bdp", "cubic + clamp 2 BDP"),
        ] {
            assert_eq!(typed.parse::<Setting>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_refinement_is_named() {
        let error = |text: &str| text.parse::<Setting>().unwrap_err().to_string();
        assert!(error("cubic + IV 32").starts_with("`IV 32` refines nothing; did you mean `IW`?"));
        assert!(error("cubic + IW many").contains("from 1 to 10000 segments"));
        assert!(error("cubic + IW 0").contains("from 1 to 10000 segments"));
        assert!(error("cubic + clamp 3").contains("`clamp 1 BDP`"));
        assert!(error("cubic + IW 4 + IW 5").contains("comes twice"));
        assert!(error(" ").contains("no name"));
    }
}
