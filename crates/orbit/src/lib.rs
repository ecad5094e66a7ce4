//! Moving satellites without a clock: positions, visibility, routes, timelines.
//!
//! A [`Constellation`] (GEO slots, a Walker [`Shell`], a [`preset`] or the satellites of a
//! [`Catalogue`]) and [`Terminal`]s on the ground go into [`plan`], which computes the satellite of
//! each terminal over time, the shortest path of each pair at each time and the delay of every link
//! on it: a [`Plan`]. The earth is a sphere that turns once in a sidereal day; the numbers are in
//! [`constants`].
//!
//! ```
//! use bentpipe_orbit::{Settings, Terminal, plan, preset};
//! use bentpipe_units::{Duration, Time};
//!
//! let iridium = preset("iridium").unwrap();
//! let at = |place: &str| Terminal { place: place.parse().unwrap(), mask: iridium.mask };
//! let terminals = [at("37.9,-122.3"), at("42.3,-71.1")];
//! let settings = Settings { duration: Duration::from_secs(600), ..Settings::default() };
//! let plan = plan(&iridium.constellation, &terminals, &[(0, 1)], &settings)?;
//! assert_eq!(plan.path_at(0, Time::ZERO).map(<[_]>::len), Some(5));
//! assert!(plan.delay_at(0, Time::ZERO).unwrap() < Duration::from_millis(40));
//! # Ok::<(), bentpipe_orbit::PlanError>(())
//! ```

mod catalogue;
pub mod constants;
mod constellation;
mod epoch;
mod geo;
mod grid;
mod handover;
mod isl;
mod places;
mod plan;
mod planner;
mod position;
mod preset;
mod quantity;
mod route;
mod shell;
mod spans;

pub use catalogue::{Catalogue, CatalogueError, MAX_ENTRIES};
pub use constellation::{Constellation, LinkError, Mesh};
pub use epoch::{Utc, UtcError};
pub use geo::GeoSlot;
pub use grid::{Grid, GridError};
pub use handover::{Policy, PolicyError, Terminal};
pub use isl::{Isl, IslKind, IslRules};
pub use places::{City, DOMINANCE, LookupError, Site, SiteError, complete, find, near};
pub use plan::{Edge, EdgeKind, Handover, Knot, Leg, Node, Pair, Plan, Span, Stretch, Track};
pub use planner::{Mode, PlanError, Settings, plan};
pub use position::{Position, coverage_half_angle, slant_range, visibility_limit};
pub use preset::{PRESETS, Preset, iridium, preset, starlink, teledesic};
pub use quantity::{Angle, Distance, Place, PlaceError};
pub use shell::{MAX_SATELLITES, Pattern, Phasing, Shell, ShellError, Walker};
