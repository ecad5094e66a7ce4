//! The named transports.
//!
//! Each congestion control has a transport of its name, whose settings its
//! declaration carries ([`bentpipe_cc::TransportDefaults`]). Here are those that
//! are named after something else: other recoveries, and sets of options.

use super::{Suggested, TransportSettings};
use crate::options::{Pacing, Recovery};
use crate::profile::HostProfile;
use crate::transport::{CongestionControlChoice, Transport};
use bentpipe_cc::{
    BuildError, Described, LossRecovery, OwnControl, Parameters, TransportDefaults, nearest, own,
};
use bentpipe_units::Duration;
use std::sync::LazyLock;

/// A named transport.
#[derive(Clone, Debug)]
pub struct NamedTransport {
    /// As scenarios write it.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Paper with section or equation, or RFC.
    pub source: &'static str,
    settings: Settings,
}

/// The components of a transport.
#[derive(Clone, Debug)]
enum Settings {
    /// The congestion control of its name, and what that has around it.
    Control(&'static TransportDefaults),
    /// The settings for a user's control.
    Brought(OwnControl),
    /// A function that returns the transport's settings.
    Own(fn() -> TransportSettings),
}

impl NamedTransport {
    /// Its components; the profile determines the rest.
    #[must_use]
    pub fn settings(&self) -> TransportSettings {
        match &self.settings {
            Settings::Control(defaults) => around(control(self.name), defaults),
            Settings::Brought(own) => {
                let settings = TransportSettings {
                    congestion_control: Some(CongestionControlChoice::Own(own.clone())),
                    ..TransportSettings::default()
                };
                around(settings, &own.described().transport)
            }
            Settings::Own(settings) => settings(),
        }
    }

    /// The transport with its own settings, under the profile `rfc`.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.settings().resolve(self.name)
    }

    /// The transport of a control that a user brought along.
    #[must_use]
    pub fn of_own(control: &OwnControl) -> NamedTransport {
        NamedTransport {
            settings: Settings::Brought(control.clone()),
            ..NamedTransport::of(control.described())
        }
    }

    /// True where a user brought its congestion control along.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.settings, Settings::Brought(_))
    }

    fn of(control: &'static Described) -> NamedTransport {
        let defaults = &control.transport;
        let or = |own: &'static str, controls| if own.is_empty() { controls } else { own };
        NamedTransport {
            name: control.name,
            summary: or(defaults.summary, control.summary),
            source: or(defaults.source, control.source),
            settings: Settings::Control(defaults),
        }
    }
}

/// The defaults around the congestion control of that name.
pub(super) fn control(name: &str) -> TransportSettings {
    TransportSettings {
        congestion_control: Some(CongestionControlChoice::Named(name.to_string())),
        on_linux: bentpipe_cc::find(name).and_then(|described| described.on_linux),
        ..TransportSettings::default()
    }
}

/// The `settings` of a congestion control with the defaults of its transport.
fn around(settings: TransportSettings, defaults: &TransportDefaults) -> TransportSettings {
    TransportSettings {
        profile: defaults.on_linux.then_some(HostProfile::Linux),
        initial_window: defaults.initial_window,
        send_buffer: defaults.buffers,
        receive_buffer: defaults.buffers,
        ack_timer: defaults.ack_timer,
        suggested: Suggested {
            recovery: defaults.recovery.map(|recovery| match recovery {
                LossRecovery::NewReno => Recovery::NewReno,
                LossRecovery::Sack => Recovery::Sack,
                LossRecovery::SackRepeat => Recovery::SackRepeat,
            }),
            timestamps: defaults.timestamps,
            recovery_fix: defaults.recovery_fix,
            undo: defaults.undo,
            pacing: defaults.pacing.map(|pacing| Pacing::Window {
                gain: pacing.gain,
                initial_burst: pacing.initial_burst,
            }),
        },
        ecn: defaults.ecn,
        ..settings
    }
}

/// NewReno's window over a recovery that is what the name means.
fn newreno(recovery: Recovery) -> TransportSettings {
    TransportSettings {
        recovery: Some(recovery),
        ..control("newreno")
    }
}

/// NewReno's window over a recovery that gives way to the host's.
fn suggesting(recovery: Recovery) -> TransportSettings {
    TransportSettings {
        suggested: Suggested {
            recovery: Some(recovery),
            ..Suggested::default()
        },
        ..control("newreno")
    }
}

const fn named(
    after: &'static str,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    settings: fn() -> TransportSettings,
) -> (&'static str, NamedTransport) {
    let named = NamedTransport {
        name,
        summary,
        source,
        settings: Settings::Own(settings),
    };
    (after, named)
}

/// Transports that are not named after a congestion control, each with the one
/// that it follows in lists.
static OTHERS: [(&str, NamedTransport); 8] = [
    named(
        "newreno",
        "reno",
        "fast recovery that ends with the first new ACK",
        "RFC 2581",
        || suggesting(Recovery::Reno),
    ),
    named(
        "newreno",
        "tahoe",
        "slow start after every loss",
        "Jacobson 1988",
        || newreno(Recovery::Tahoe),
    ),
    named(
        "newreno",
        "sack",
        "selective acknowledgements: the standards of today",
        "RFC 5681, RFC 6675, RFC 6928",
        || suggesting(Recovery::Sack),
    ),
    named(
        "newreno",
        "fack",
        "forward acknowledgement",
        "Mathis & Mahdavi 1996",
        || newreno(Recovery::Fack),
    ),
    named(
        "westwood+",
        "e-tcpw",
        "Enhanced Westwood: SACK, Hoe's estimate, recovery fix",
        "Caini & Firrincieli 2006, section IV.C",
        || TransportSettings {
            suggested: Suggested {
                recovery: Some(Recovery::Sack),
                recovery_fix: Some(true),
                ..Suggested::default()
            },
            parameters: Parameters::new().with("hoe", "round"),
            on_linux: None,
            ..control("westwood")
        },
    ),
    named(
        "cubic",
        "ideal",
        "an analytic bound: the bottleneck's rate and one round trip, no packets",
        "Marchese 2006, section 4.3.1",
        || TransportSettings {
            congestion_control: Some(CongestionControlChoice::Ideal),
            ..TransportSettings::default()
        },
    ),
    named(
        "veno",
        "scps-tp",
        "Vegas over negative acknowledgements (SNACK); losses that a link reports as \
             corruption cut nothing",
        "CCSDS 714.0-B, Salamanca 2008, section 1.2.3.2 (our reading)",
        || TransportSettings {
            recovery: Some(Recovery::Snack),
            timestamps: Some(true),
            // The receiver delays ACKs by half of the round trip at most.
            ack_timer: Some(Duration::from_secs(1)),
            on_linux: None,
            ..control("vegas")
        },
    ),
    named(
        "veno",
        "stp",
        "the Satellite Transport Protocol: the sender polls, the receiver reports what is \
             missing, at once where it sees a gap; no ACKs",
        "Henderson & Katz 1999, Salamanca 2008, section 1.2.3.2 (our reading)",
        || TransportSettings {
            recovery: Some(Recovery::Stp),
            timestamps: Some(false),
            // Reports come a few times in a round trip: growth counts
            // segments, and nothing but pacing spaces them.
            parameters: Parameters::new()
                .with("byte_counting", 1e6)
                .with("growth", "per-segment"),
            pacing: Some(Pacing::Window {
                gain: 1.0,
                initial_burst: 10,
            }),
            initial_window: Some(10.0),
            ..control("newreno")
        },
    ),
];

static TRANSPORTS: LazyLock<Vec<NamedTransport>> = LazyLock::new(|| {
    let mut controls: Vec<&'static Described> = bentpipe_cc::list().collect();
    controls.sort_by_key(|control| control.family);
    let mut all = Vec::new();
    for control in controls {
        all.push(NamedTransport::of(control));
        let others = OTHERS.iter().filter(|(after, _)| *after == control.name);
        all.extend(others.map(|(_, other)| other.clone()));
    }
    all
});

/// Every named transport: the built-in ones, then those of registered controls.
pub fn transports() -> impl Iterator<Item = NamedTransport> {
    let own = own::registered();
    let own: Vec<NamedTransport> = own.iter().map(NamedTransport::of_own).collect();
    TRANSPORTS.iter().cloned().chain(own)
}

/// The transport of that name.
#[must_use]
pub fn find_transport(name: &str) -> Option<NamedTransport> {
    let built_in = TRANSPORTS.iter().find(|t| t.name == name);
    let own = || Some(NamedTransport::of_own(&own::find(name)?));
    built_in.cloned().or_else(own)
}

/// Registers a user's congestion control under its name in this process, as a congestion control
/// and as a transport. One that was registered under the name before gives way to it.
///
/// # Errors
/// If a built-in transport has the name.
pub fn register_control(control: OwnControl) -> Result<(), BuildError> {
    check_name(&control)?;
    own::register(control)
}

/// Refuses a control with the name of a built-in transport.
///
/// # Errors
/// If it has one.
pub fn check_name(control: &OwnControl) -> Result<(), BuildError> {
    match TRANSPORTS.iter().find(|t| t.name == control.name()) {
        Some(taken) => Err(BuildError::Taken {
            name: control.name(),
            origin: control.described().source,
            by: taken.summary,
        }),
        None => Ok(()),
    }
}

/// The name that a misspelt one most likely means.
#[must_use]
pub fn nearest_transport(name: &str) -> Option<&'static str> {
    nearest(name, transports().map(|t| t.name))
}
