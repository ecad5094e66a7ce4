//! Inter-satellite links: their topology, and when they are up.
//!
//! Source: ns-2.35 (`satellite/sathandoff.cc`). *Intra-plane* links are always up. An *inter-plane*
//! link is down while either end is beyond the latitude threshold or the line of sight passes below
//! the atmosphere's margin. A *cross-seam* link belongs to the satellite of the first plane: when
//! the satellite that follows its peer is nearer it is handed to that one, and it is down while
//! either end is beyond the latitude threshold, while the two are nearer in longitude than the
//! longitude threshold, or out of sight. All are updated at regular intervals (10 s), one step at a
//! time.

use crate::position::Position;
use crate::quantity::Angle;

/// What a link joins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IslKind {
    /// Two satellites of a plane.
    IntraPlane,
    /// Satellites of planes that move the same way.
    InterPlane,
    /// Satellites of planes that move against each other.
    CrossSeam,
}

/// A link between two satellites at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isl {
    /// One end; of a cross-seam link that of the first plane.
    pub a: u32,
    /// Index of the other satellite.
    pub b: u32,
    /// Whether it stays in the plane or crosses planes.
    pub kind: IslKind,
    /// Whether packets can use it.
    pub up: bool,
}

/// When inter-plane and cross-seam links are down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IslRules {
    /// Beyond this latitude they are; none: nowhere.
    pub latitude: Option<Angle>,
    /// Cross-seam: nearer in longitude than this they are.
    pub longitude: Angle,
}

impl IslRules {
    /// Links that only the earth can cut.
    pub const NONE: IslRules = IslRules {
        latitude: None,
        longitude: Angle::ZERO,
    };

    fn beyond(&self, at: Position) -> bool {
        let threshold = self.latitude.map(Angle::radians);
        threshold.is_some_and(|threshold| at.latitude_radians().abs() > threshold)
    }

    fn too_near_in_longitude(&self, a: Position, b: Position) -> bool {
        let apart = (a.longitude_radians() - b.longitude_radians()).abs();
        let threshold = self.longitude.radians();
        apart < threshold || apart > 2.0 * core::f64::consts::PI - threshold
    }

    /// Brings `link` to what it is with satellites at `positions`; `follower`
    /// names the satellite behind another in its plane. True if it changed.
    pub(crate) fn look(
        &self,
        link: &mut Isl,
        positions: &[Position],
        follower: impl Fn(u32) -> Option<u32>,
    ) -> bool {
        let before = *link;
        let at = |satellite: u32| positions[satellite as usize];
        let here = at(link.a);
        link.up = match link.kind {
            IslKind::IntraPlane => true,
            IslKind::InterPlane => {
                let there = at(link.b);
                !self.beyond(here) && !self.beyond(there) && here.sees(there)
            }
            IslKind::CrossSeam => {
                if let Some(next) = follower(link.b)
                    && here.km_to(at(next)) < here.km_to(at(link.b))
                {
                    link.b = next;
                }
                let there = at(link.b);
                !self.beyond(here)
                    && !self.beyond(there)
                    && !self.too_near_in_longitude(here, there)
                    && here.sees(there)
            }
        };
        before != *link
    }
}
