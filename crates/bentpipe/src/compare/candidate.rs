//! A setting that is compared, the hosts that it is of, and how far it is from being
//! used.

use super::setting::Setting;
use crate::own::OwnControl;
use bentpipe_tcp::Transport;
use bentpipe_units::Bytes;

/// The hosts whose TCP is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Hosts {
    /// Linux 6: a name is the congestion control that one chooses by it there.
    #[default]
    Linux,
    /// Hosts that do what the RFCs say, with the variants of the papers as their
    /// authors describe them. To compare ideas: none of it can be switched on as
    /// it is.
    Rfc,
}

impl Hosts {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Hosts); 2] = [("linux", Hosts::Linux), ("rfc", Hosts::Rfc)];

    /// As the command line and JSON have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Hosts::ALL.iter().find(|(_, hosts)| *hosts == self);
        found.map_or("", |(name, _)| name)
    }
}

/// How far a setting is from being used, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Availability {
    /// What a Linux host does unless told otherwise.
    Default,
    /// The default with other settings.
    Setting,
    /// Another congestion control that comes with Linux.
    Module,
    /// A congestion control that QUIC libraries have.
    Quic,
    /// A congestion control that bentpipe loads into the running kernel.
    Kernel,
    /// The two boxes of `bentpipe gateway` run it between them.
    Gateway,
    /// It would have to be written first.
    Absent,
    /// Of the past, a bound, or in need of what the link does not have: shown to
    /// compare with, never recommended.
    Reference,
}

impl Availability {
    /// A few words for tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Availability::Default => "default",
            Availability::Setting => "setting",
            Availability::Module => "in Linux",
            Availability::Quic => "in QUIC libraries",
            Availability::Kernel => "bentpipe kernel",
            Availability::Gateway => "bentpipe gateway",
            Availability::Absent => "not in Linux",
            Availability::Reference => "reference",
        }
    }

    /// True if it can be switched on today.
    #[must_use]
    pub const fn is_deployable(self) -> bool {
        matches!(
            self,
            Availability::Default
                | Availability::Setting
                | Availability::Module
                | Availability::Quic
                | Availability::Kernel
                | Availability::Gateway
        )
    }
}

/// One setting of the comparison.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Candidate {
    /// As `--transport` takes it and tables show it.
    pub name: String,
    /// The same, taken apart.
    pub setting: Setting,
    /// What it is, in a line.
    pub about: String,
    /// How far it is from being used.
    pub availability: Availability,
    /// The transport that is simulated.
    pub transport: Transport,
    /// The transport of the catalogue that a Linux host has under its name.
    pub(crate) base: Option<&'static str>,
    /// A congestion control of the program that takes the place of the
    /// transport's.
    pub(crate) own: Option<OwnControl>,
    /// The largest buffer that a host must allow, where the setting opens them.
    pub(crate) room: Option<Bytes>,
    /// The largest window, segments, where the setting bounds it.
    pub(crate) clamp: Option<u32>,
    /// Commands that switch on what is no plain name: of RFC hosts, and of the gateway.
    pub(crate) preset: Vec<String>,
}

/// The name of what a Linux host does unless told otherwise.
pub const DEFAULT: &str = "cubic";

/// The name of the bound.
pub const IDEAL: &str = "ideal";
