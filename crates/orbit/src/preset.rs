//! Constellations with a name.
//!
//! | | Iridium | Teledesic | Starlink |
//! |---|---|---|---|
//! | source | Table 3 of Salamanca (2008), ns-2's `sat-iridium` | the same, ns-2's `sat-teledesic` | first shell of the FCC filing SAT-MOD-20200417-00037 |
//! | pattern | star | star | delta |
//! | altitude | 780 km | 1375 km | 550 km |
//! | planes x satellites | 6 x 11 | 12 x 24 | 72 x 22 |
//! | inclination | 86.4 deg | 84.7 deg | 53 deg |
//! | node spacing | 31.6 deg | 15 deg | 5 deg |
//! | phasing | odd planes by 16.36 deg | even planes by 7.5 deg | f = 65 |
//! | mask | 8.2 deg | 40 deg | 25 deg |
//! | links in the plane | 2 | 4 | 2 |
//! | links across | 2, none across the seam | 4, 3 and one active across the seam | 2 |
//! | down beyond | 60 deg | 60 deg, 8 deg of longitude | never |
//! | link rate | 25 Mbit/s | 155 Mbit/s | 10 Gbit/s |
//! | up, down | 1.5 Mbit/s | 1.5 Mbit/s | 20, 200 Mbit/s |
//!
//! What the sources leave open. The thesis' Table 3 says that Teledesic has no
//! phasing between planes; ns-2 staggers every second plane by half the
//! spacing, and so does this preset ([`teledesic`] takes another stagger). The
//! operator of Starlink states no phasing: f = 65 keeps its satellites
//! farthest apart of all 72 values (71.5 km). Its rates and link rate are round numbers
//! of what is reported, not of a source. ns-2 writes Iridium's angles with two
//! decimals, which shifts satellites by up to 0.4 km; so does [`iridium`].

use bentpipe_units::Rate;

use crate::constellation::{Constellation, Mesh};
use crate::isl::IslRules;
use crate::quantity::{Angle, Distance};
use crate::shell::{Pattern, Phasing, Shell};

/// A constellation with a name, and what else belongs to it.
#[derive(Clone, Debug)]
pub struct Preset {
    /// As in scenarios and on the command line.
    pub name: &'static str,
    /// Orbits of the satellites and the links between them.
    pub constellation: Constellation,
    /// The least elevation at which terminals use a satellite.
    pub mask: Angle,
    /// Of an inter-satellite link.
    pub isl_rate: Rate,
    /// From a terminal to a satellite.
    pub up_rate: Rate,
    /// From a satellite to a terminal.
    pub down_rate: Rate,
}

/// The names that [`preset`] knows.
pub const PRESETS: [&str; 3] = ["iridium", "teledesic", "starlink"];

/// The constellation called `name`.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    match name {
        "iridium" => Some(iridium()),
        "teledesic" => Some(teledesic(Angle::from_degrees(7.5))),
        "starlink" => Some(starlink()),
        _ => None,
    }
}

const fn mbit(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000)
}

/// Iridium of 66 satellites, broadband, as ns-2 has it.
#[must_use]
pub fn iridium() -> Preset {
    let shell = Shell {
        inclination: Angle::from_degrees(86.4),
        altitude: Distance::from_km(780.0),
        planes: 6,
        per_plane: 11,
        pattern: Pattern::Star,
        node_spacing: Angle::from_degrees(31.6),
        phasing: Phasing::Alternate(Angle::from_degrees(360.0 / 22.0)),
        grain: Angle::from_degrees(0.01),
    };
    let rules = IslRules {
        latitude: Some(Angle::from_degrees(60.0)),
        longitude: Angle::from_degrees(10.0),
    };
    Preset {
        name: "iridium",
        constellation: Constellation::shell(shell, Mesh::GRID, rules),
        mask: Angle::from_degrees(8.2),
        isl_rate: mbit(25),
        up_rate: Rate::from_bps(1_500_000),
        down_rate: Rate::from_bps(1_500_000),
    }
}

/// Teledesic of 288 satellites as ns-2 has it; every second plane is ahead by
/// `stagger` (7.5 degrees in ns-2, 0 in Table 3 of the thesis).
#[must_use]
pub fn teledesic(stagger: Angle) -> Preset {
    let shell = Shell {
        inclination: Angle::from_degrees(84.7),
        altitude: Distance::from_km(1375.0),
        planes: 12,
        per_plane: 24,
        pattern: Pattern::Star,
        node_spacing: Angle::from_degrees(15.0),
        phasing: Phasing::Alternate(stagger),
        grain: Angle::ZERO,
    };
    let mesh = Mesh {
        in_plane: 2,
        across: 2,
        cross_seam: true,
    };
    let rules = IslRules {
        latitude: Some(Angle::from_degrees(60.0)),
        longitude: Angle::from_degrees(8.0),
    };
    Preset {
        name: "teledesic",
        constellation: Constellation::shell(shell, mesh, rules),
        mask: Angle::from_degrees(40.0),
        isl_rate: mbit(155),
        up_rate: Rate::from_bps(1_500_000),
        down_rate: Rate::from_bps(1_500_000),
    }
}

/// The first shell of Starlink: 1584 satellites.
#[must_use]
pub fn starlink() -> Preset {
    let shell = Shell {
        inclination: Angle::from_degrees(53.0),
        altitude: Distance::from_km(550.0),
        planes: 72,
        per_plane: 22,
        pattern: Pattern::Delta,
        node_spacing: Angle::from_degrees(5.0),
        phasing: Phasing::Walker(65),
        grain: Angle::ZERO,
    };
    Preset {
        name: "starlink",
        constellation: Constellation::shell(shell, Mesh::GRID, IslRules::NONE),
        mask: Angle::from_degrees(25.0),
        isl_rate: mbit(10_000),
        up_rate: mbit(20),
        down_rate: mbit(200),
    }
}
