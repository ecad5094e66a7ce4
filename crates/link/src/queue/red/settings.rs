//! Parameters of RED and their defaults in ns-2 over the years.

use crate::Limit;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// Parameters of random early detection. [`RedSettings::preset`] gives them
/// all; the fields are then changed one by one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RedSettings {
    /// How much may wait, whatever the average. In packets: this many; under
    /// [`RedMode::Bytes`] they are packets of `mean_packet`, as `limit_` of
    /// ns-2. In bytes: a packet is admitted while less than this waits, so
    /// that up to a packet more does.
    pub limit: Limit,
    /// The unit of the average.
    pub mode: RedMode,
    /// The size that thresholds, weight and idle times are reckoned in.
    pub mean_packet: Bytes,
    /// Average from which packets are dropped, mean packets. `None`: half of
    /// what `target_delay` lets wait, at least 5.
    pub minimum: Option<f64>,
    /// Average at which the probability is `max_p`, mean packets. `None`:
    /// three times the minimum.
    pub maximum: Option<f64>,
    /// Weight of the queue that an arriving packet finds in the average, from
    /// 0 to 1. `None`: such that the average follows over ten round trips of
    /// 100 ms, or of three times the link's delay if that is more.
    pub weight: Option<f64>,
    /// Probability at the maximum threshold (the first one, if adaptive).
    pub max_p: Ratio,
    /// From the maximum to twice the maximum the probability rises to 1; all
    /// is dropped above the maximum otherwise.
    pub gentle: bool,
    /// After a drop, none for as many packets again as lie between drops on
    /// the mean.
    pub wait: bool,
    /// Marks ECN-capable packets instead of dropping them early.
    pub ecn: bool,
    /// Packets are marked only while the probability is below this, and
    /// dropped above. `None`: they are marked up to the end of the (gentle)
    /// region, and all are dropped, as forced, beyond it.
    pub mark_below: Option<f64>,
    /// The queueing delay that an automatic minimum aims at (twice itself).
    pub target_delay: Duration,
    /// Adapts `max_p` to hold the average between the thresholds.
    pub adaptive: Option<AdaptiveSettings>,
}

/// The unit in which a RED queue counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum RedMode {
    /// Packets, each as likely to be dropped as another.
    Packets,
    /// Bytes: a packet is dropped in proportion to its size.
    Bytes,
}

/// Parameters of Adaptive RED.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct AdaptiveSettings {
    /// Least time between two adaptations.
    pub interval: Duration,
    /// Added to `max_p` when the average is too long, at most a quarter of it.
    pub alpha: f64,
    /// `max_p` is multiplied with this when the average is too short.
    pub beta: f64,
    /// `max_p` at which it is no longer decreased. `None`: 0.01, or less on
    /// links above 8 Mbit/s (one in 100 ms of packets of 1000 bytes).
    pub bottom: Option<f64>,
    /// `max_p` at which it is no longer increased.
    pub top: f64,
}

impl Default for AdaptiveSettings {
    /// As in ns-2 since June 2004.
    fn default() -> AdaptiveSettings {
        AdaptiveSettings {
            interval: Duration::from_millis(500),
            alpha: 0.01,
            beta: 0.9,
            bottom: None,
            top: 0.5,
        }
    }
}

/// The defaults of ns-2 at some time, by the dates in its `ns-default.tcl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedPreset {
    /// From 2001-04-23 (gentle) to 2001-12-29: counted in packets, thresholds
    /// 5 and 15, weight 0.002.
    Ns2001,
    /// From 2001-12-29 to 2004-06-23: counted in packets, automatic
    /// thresholds and weight.
    Ns2002,
    /// Since 2005-12-22, version 2.35: counted in bytes of packets of 500
    /// bytes, automatic thresholds and weight, marks only below 0.1.
    Ns235,
}

impl RedPreset {
    /// All of them with their names.
    pub const ALL: [(&'static str, RedPreset); 3] = [
        ("ns-2001", RedPreset::Ns2001),
        ("ns-2002", RedPreset::Ns2002),
        ("ns-2.35", RedPreset::Ns235),
    ];
}

impl RedSettings {
    /// ns-2's defaults with this limit (its own is 50 packets), not adaptive.
    #[must_use]
    pub fn preset(preset: RedPreset, limit: Limit) -> RedSettings {
        let automatic = RedSettings {
            limit,
            mode: RedMode::Packets,
            mean_packet: Bytes::new(500),
            minimum: None,
            maximum: None,
            weight: None,
            max_p: Ratio::new(0.1).unwrap_or(Ratio::ZERO),
            gentle: true,
            wait: true,
            ecn: false,
            mark_below: None,
            target_delay: Duration::from_millis(5),
            adaptive: None,
        };
        match preset {
            RedPreset::Ns2001 => RedSettings {
                minimum: Some(5.0),
                maximum: Some(15.0),
                weight: Some(0.002),
                ..automatic
            },
            RedPreset::Ns2002 => automatic,
            RedPreset::Ns235 => RedSettings {
                mode: RedMode::Bytes,
                mark_below: Some(0.1),
                ..automatic
            },
        }
    }

    /// The same queue as Adaptive RED, with that preset's defaults.
    #[must_use]
    pub fn adaptive(self, preset: RedPreset) -> RedSettings {
        let bottom = match preset {
            RedPreset::Ns2001 | RedPreset::Ns2002 => Some(0.01),
            RedPreset::Ns235 => None,
        };
        let adaptive = AdaptiveSettings {
            bottom,
            ..AdaptiveSettings::default()
        };
        RedSettings {
            adaptive: Some(adaptive),
            ..self
        }
    }

    /// Minimum and maximum threshold before a link of `rate`, in mean packets.
    #[must_use]
    pub fn thresholds(&self, rate: Rate) -> (f64, f64) {
        let minimum = self.minimum.unwrap_or_else(|| {
            let waiting = self.target_delay.as_secs() * self.packet_rate(rate);
            (waiting / 2.0).max(5.0)
        });
        (minimum, self.maximum.unwrap_or(3.0 * minimum))
    }

    /// Mean packets a second that a link of `rate` can send.
    pub(super) fn packet_rate(&self, rate: Rate) -> f64 {
        // No division by zero, whatever the settings.
        let bits = 8.0 * self.mean_packet.as_f64().max(1.0);
        (rate.bps_f64() / bits).max(f64::MIN_POSITIVE)
    }

    /// The limit in the unit that it is held against.
    #[must_use]
    pub fn effective_limit(&self) -> Limit {
        match (self.mode, self.limit) {
            (RedMode::Bytes, Limit::Packets(n)) => Limit::Bytes(Bytes::new(
                u64::from(n).saturating_mul(self.mean_packet.get()),
            )),
            (_, limit) => limit,
        }
    }
}
