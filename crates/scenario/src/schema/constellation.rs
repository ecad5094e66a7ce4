//! Constellations of satellites.

use super::link::ChannelTable;
use super::queue::QueueTable;
use bentpipe_document::schema::{Kind, SPAN, number};
use bentpipe_document::{kinds, table};
use bentpipe_link::{InFlightPolicy, WhenDown};
use bentpipe_orbit::{Pattern, Policy};
use bentpipe_units::{Duration, Rate};

table! {
    /// what every constellation has
    pub(crate) SkyKeys at "constellation.NAME", called "constellation";
    /// degrees; terminals use satellites that stand higher than this
    mask: f64 [number(0.0, 90.0)],
        or "10; geo 0, iridium 8.2, teledesic 40, starlink 25";
    /// from a terminal to a satellite
    up_rate: Rate, or "iridium and teledesic 1.5 Mbit/s, starlink 20 Mbit/s, else required";
    /// from a satellite to a terminal
    down_rate: Rate, or "iridium and teledesic 1.5 Mbit/s, starlink 200 Mbit/s, else required";
    /// the queue of every link of the constellation
    queue: QueueTable, or "50 packets";
    /// the loss process of links up and down; links between satellites lose nothing
    channel: ChannelTable, or "perfect";
}

table! {
    /// what constellations have that move
    pub(crate) OrbitKeys at "constellation.NAME", called "constellation";
    /// true: satellites hand packets on over links between them; false: they repeat them to the
    /// ground, and two terminals are joined while one satellite serves both (bent pipe)
    isl: bool, or "true; elements false without `links` or `grid`";
    /// of a link between satellites
    isl_rate: Rate,
        or "iridium 25 Mbit/s, teledesic 155 Mbit/s, starlink 10 Gbit/s, else as `up_rate`";
    /// how terminals choose a satellite: keep it while it is above the mask, and then take the one
    /// that follows in its plane or else the highest (ns-2); always the highest; keep it, and then
    /// take the one that stays longest
    handover: Policy {
        "keep" => Policy::Keep,
        "highest" => Policy::Highest,
        "longest" => Policy::Longest,
    }, default "keep";
    /// between two searches of a terminal for a satellite, and two checks of the links between
    /// satellites
    search: Duration [SPAN], default "10 s";
    /// pauses between searches are drawn from half to one and a half times `search`, by the seed
    /// of the scenario
    jitter: bool, default false;
    /// what waits for a satellite that is out of sight is lost when its turn comes (ns-2), or waits
    when_down: WhenDown {
        "lost" => WhenDown::Lost,
        "waits" => WhenDown::Waits,
    }, default "lost";
    /// what becomes of packets that are on their way to or from a satellite at a handover
    in_flight: InFlightPolicy {
        "delivered" => InFlightPolicy::Delivered,
        "lost" => InFlightPolicy::Lost,
    }, default "delivered";
}

kinds! {
    /// satellites; nodes with `terminal_of` are their terminals
    pub(crate) ConstellationTable at "constellation.NAME", called "constellation";
    /// a satellite that stands over the equator and repeats what it receives
    Geo "geo",
        example "[constellation.sky]\nkind = \"geo\"\nlongitude = 13\nup_rate = \"2 Mbit/s\"\n\
                 down_rate = \"10 Mbit/s\"\n[node.dish]\nterminal_of = \"sky\"\nlatitude = 48\n\
                 longitude = 11\n[node.hub]\nterminal_of = \"sky\"\nlatitude = 52\nlongitude = 13",
        with sky: SkyKeys
    {
        /// degrees east; negative: west
        longitude: f64 [number(-180.0, 180.0)], required;
    }
    /// 66 satellites at 780 km in 6 polar planes, linked, as ns-2 places them
    Iridium "iridium",
        example "[constellation.sky]\nkind = \"iridium\"\n[node.paris]\nterminal_of = \"sky\"\n\
                 latitude = 48.9\nlongitude = 2.4\n[node.boston]\nterminal_of = \"sky\"\n\
                 latitude = 42.3\nlongitude = -71.1",
        with sky: SkyKeys, with orbit: OrbitKeys {}
    /// 288 satellites at 1375 km in 12 polar planes, linked, as ns-2 places them
    Teledesic "teledesic",
        example "[constellation.sky]\nkind = \"teledesic\"\nstagger = 0\n[node.paris]\n\
                 terminal_of = \"sky\"\nlatitude = 48.9\nlongitude = 2.4\n[node.boston]\n\
                 terminal_of = \"sky\"\nlatitude = 42.3\nlongitude = -71.1",
        with sky: SkyKeys, with orbit: OrbitKeys
    {
        /// degrees by which every second plane is ahead; Table 3 of Salamanca (2008) says 0
        stagger: f64 [number(0.0, 90.0)], default 7.5;
    }
    /// 1584 satellites at 550 km in 72 planes of 53 degrees, linked in a grid
    Starlink "starlink",
        example "[constellation.sky]\nkind = \"starlink\"\nisl = false\nhandover = \"highest\"\n\
                 search = \"15 s\"\n[node.dish]\nterminal_of = \"sky\"\nlatitude = 48\n\
                 longitude = 11\n[node.hub]\nterminal_of = \"sky\"\nlatitude = 50\nlongitude = 8",
        with sky: SkyKeys, with orbit: OrbitKeys {}
    /// a shell of circular orbits, linked in a grid
    Walker "walker",
        example "[constellation.sky]\nkind = \"walker\"\npattern = \"86.4: 66/6/2\"\n\
                 shape = \"star\"\naltitude_km = 780\nup_rate = \"2 Mbit/s\"\n\
                 down_rate = \"10 Mbit/s\"\n[node.paris]\nterminal_of = \"sky\"\n\
                 latitude = 48.9\nlongitude = 2.4\n[node.boston]\nterminal_of = \"sky\"\n\
                 latitude = 42.3\nlongitude = -71.1",
        with sky: SkyKeys, with orbit: OrbitKeys
    {
        /// Walker's `INCLINATION: SATELLITES/PLANES/PHASING`, such as `53: 1584/72/65`
        pattern: String, required;
        /// above the ground, km
        altitude_km: f64 [number(100.0, 400_000.0)], required;
        /// ascending nodes over 360 degrees, or over 180 with a seam without links
        shape: Pattern {
            "delta" => Pattern::Delta,
            "star" => Pattern::Star,
        }, default "delta";
        /// degrees beyond which links across planes are down
        isl_latitude: f64 [number(0.0, 90.0)], or "none";
    }
    /// satellites from a file of TLE or OMM, by SGP4
    Elements "elements",
        example "[constellation.sky]\nkind = \"elements\"\nfile = \"iss.tle\"\n\
                 up_rate = \"2 Mbit/s\"\ndown_rate = \"10 Mbit/s\"\n[node.dish]\n\
                 terminal_of = \"sky\"\nlatitude = 48\nlongitude = 11\n[node.hub]\n\
                 terminal_of = \"sky\"\nlatitude = 50\nlongitude = 8",
        with sky: SkyKeys, with orbit: OrbitKeys
    {
        /// the file, seen from the scenario's folder
        file: String [Kind::File], required;
        /// the UTC instant at which the run begins, such as 2026-03-20T12:00:00Z
        start: String, or "the latest epoch in the file";
        /// a file with the links between satellites, two numbers counted from 0 a line (Hypatia's
        /// `isls.txt`)
        links: String [Kind::File], or "none";
        /// links as in a Walker shell: to both neighbours in the plane and to one satellite of each
        /// plane beside it. The satellites must form a grid; up to a tenth of it may be missing
        grid: bool, default false;
        /// only satellites within a degree of this inclination
        inclination: f64 [number(0.0, 180.0)], or "all";
        /// only satellites within 25 km of this altitude, km
        altitude_km: f64 [number(100.0, 400_000.0)], or "all";
        /// degrees beyond which links of a `grid` across planes are down
        isl_latitude: f64 [number(0.0, 90.0)], or "none";
    }
}
