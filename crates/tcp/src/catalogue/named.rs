//! The named transports: the standards, and what is made of them.

use super::TransportSettings;
use crate::{CongestionControlChoice, Pacing, Recovery, Transport};
use bentpipe_cc::{Parameters, nearest};
use bentpipe_units::Bytes;

/// A transport that has a name of its own.
#[derive(Clone, Copy, Debug)]
pub struct NamedTransport {
    /// As scenarios write it.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Paper with section or equation, or RFC.
    pub source: &'static str,
    settings: fn() -> TransportSettings,
}

impl NamedTransport {
    /// What makes it up; the rest is left to the profile.
    #[must_use]
    pub fn settings(&self) -> TransportSettings {
        (self.settings)()
    }

    /// The transport as it stands, under the profile `rfc`.
    #[must_use]
    pub fn transport(&self) -> Transport {
        self.settings().resolve(self.name)
    }
}

/// The defaults around the congestion control of that name.
pub(super) fn control(name: &str) -> TransportSettings {
    TransportSettings {
        congestion_control: Some(CongestionControlChoice::Named(name.to_string())),
        ..TransportSettings::default()
    }
}

fn newreno(recovery: Recovery) -> TransportSettings {
    TransportSettings {
        recovery: Some(recovery),
        ..control("newreno")
    }
}

/// The starts of Marchese 2006 share IW 6 and "320 Kbytes", of which Linux 2.2
/// advertises half: 113 segments, so a Kbyte is 1024 bytes.
fn marchese(name: &str) -> TransportSettings {
    TransportSettings {
        initial_window: Some(6.0),
        send_buffer: Some(Bytes::new(320 * 1024)),
        receive_buffer: Some(Bytes::new(320 * 1024)),
        ..control(name)
    }
}

pub(super) const fn named(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    settings: fn() -> TransportSettings,
) -> NamedTransport {
    NamedTransport {
        name,
        summary,
        source,
        settings,
    }
}

static TRANSPORTS: [NamedTransport; 15] = [
    named(
        "newreno",
        "fast recovery with partial ACKs, no SACK: the baseline of most papers",
        "RFC 5681, RFC 6582",
        || newreno(Recovery::NewReno),
    ),
    named(
        "reno",
        "fast recovery that ends with the first new ACK",
        "RFC 2581",
        || newreno(Recovery::Reno),
    ),
    named(
        "tahoe",
        "slow start after every loss",
        "Jacobson 1988",
        || newreno(Recovery::Tahoe),
    ),
    named(
        "sack",
        "selective acknowledgements, initial window 10: the standards of today",
        "RFC 5681, RFC 6675, RFC 6928",
        || TransportSettings {
            initial_window: Some(10.0),
            ..newreno(Recovery::Sack)
        },
    ),
    named(
        "fack",
        "forward acknowledgement",
        "Mathis & Mahdavi 1996",
        || newreno(Recovery::Fack),
    ),
    named(
        "const",
        "K segments per ACK in slow start, initial window 6",
        "Marchese 2006, eq. 6",
        || marchese("const"),
    ),
    named(
        "linear",
        "one segment more with every ACK of slow start, initial window 6",
        "Marchese 2006, eq. 7",
        || marchese("linear"),
    ),
    named(
        "mtsi",
        "multi-threshold slow start 20-30-40, initial window 6, buffers of 320 KiB",
        "Marchese 2006, eq. 3-5",
        || marchese("mtsi"),
    ),
    named(
        "westwood",
        "cuts to the bandwidth that the ACKs show; NewReno recovery",
        "Mascolo, Casetti, Gerla et al. 2001",
        || TransportSettings {
            recovery: Some(Recovery::NewReno),
            ..control("westwood")
        },
    ),
    named(
        "westwood+",
        "Westwood with one bandwidth sample per round trip",
        "Grieco & Mascolo 2004",
        || control("westwood+"),
    ),
    named(
        "e-tcpw",
        "Enhanced Westwood: SACK, Hoe's estimate, recovery fix",
        "Caini & Firrincieli 2006, section IV.C",
        || TransportSettings {
            recovery: Some(Recovery::Sack),
            recovery_fix: Some(true),
            parameters: Parameters::new().with("hoe", "round"),
            ..control("westwood")
        },
    ),
    named(
        "hybla",
        "grows as if the RTT were 25 ms: SACK, timestamps, pacing, Hoe's estimate, recovery fix",
        "Caini & Firrincieli 2004 and 2006, section IV",
        || TransportSettings {
            recovery: Some(Recovery::Sack),
            timestamps: Some(true),
            recovery_fix: Some(true),
            pacing: Some(Pacing::Window {
                gain: 1.0,
                initial_burst: 10,
            }),
            ..control("hybla")
        },
    ),
    named(
        "cubic",
        "the default of most hosts, with HyStart++",
        "RFC 9438, RFC 9406",
        || control("cubic"),
    ),
    named(
        "ideal",
        "an analytic bound: the bottleneck's rate and one round trip, no packets",
        "Marchese 2006, section 4.3.1",
        || TransportSettings {
            congestion_control: Some(CongestionControlChoice::Ideal),
            ..TransportSettings::default()
        },
    ),
    named(
        "fixed-window",
        "a constant window that ignores losses: for measuring",
        "no paper: a probe",
        || control("fixed-window"),
    ),
];

/// Every named transport.
pub fn transports() -> impl Iterator<Item = &'static NamedTransport> {
    TRANSPORTS
        .iter()
        .chain(&super::delay::TRANSPORTS)
        .chain(&super::satellite::TRANSPORTS)
        .chain(&super::highspeed::TRANSPORTS)
        .chain(&super::kernel::TRANSPORTS)
        .chain(&super::linux::TRANSPORTS)
        .chain(&super::model::TRANSPORTS)
        .chain(&super::explicit::TRANSPORTS)
        .chain(&super::proxy::TRANSPORTS)
}

/// The transport of that name.
#[must_use]
pub fn find_transport(name: &str) -> Option<&'static NamedTransport> {
    transports().find(|t| t.name == name)
}

/// The name that a misspelt one most likely means.
#[must_use]
pub fn nearest_transport(name: &str) -> Option<&'static str> {
    nearest(name, transports().map(|t| t.name))
}
