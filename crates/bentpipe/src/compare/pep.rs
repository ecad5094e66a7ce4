//! The proxies that may stand at the gateway.

/// A proxy between the server and the satellite link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Pep {
    /// None: the server's connection goes to the user.
    #[default]
    None,
    /// A split-connection PEP at the gateway: the server's connection, with the
    /// default of Linux, ends there, and the compared transports run on from
    /// there to the user.
    Split,
    /// A Snoop agent at the gateway, which repairs losses of the link from a
    /// cache.
    Snoop,
    /// `bentpipe gateway`: a box on each side of the satellite. Between them runs one
    /// association for all connections, whose sender is given the rate of the
    /// link; the hosts keep their TCP.
    Gateway,
}

impl Pep {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Pep); 4] = [
        ("none", Pep::None),
        ("split", Pep::Split),
        ("snoop", Pep::Snoop),
        ("gateway", Pep::Gateway),
    ];

    /// Its name, as the command line and JSON have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Pep::ALL.iter().find(|(_, pep)| *pep == self);
        found.map_or("", |(name, _)| name)
    }

    /// The proxy in a few words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Pep::None => "no proxy",
            Pep::Split => "a split-connection proxy at the gateway",
            Pep::Snoop => "Snoop at the gateway",
            Pep::Gateway => "a proxy on each side of the satellite",
        }
    }

    /// True where the transports that are compared run in it, and not on the
    /// server.
    #[must_use]
    pub const fn sends(self) -> bool {
        matches!(self, Pep::Split)
    }

    /// True if there is something to deploy today.
    #[must_use]
    pub const fn exists(self) -> bool {
        matches!(self, Pep::None | Pep::Split | Pep::Gateway)
    }
}
