//! Why satellites form no grid.

/// Why satellites form no grid.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum GridError {
    /// Too few to tell.
    #[error("a grid has at least 2 planes of 3 satellites; here are {0} satellites")]
    Few(usize),
    /// Of several shells.
    #[error(
        "the satellites belong to several shells: {}; choose one by inclination and altitude",
        shells(.0)
    )]
    Shells(Vec<(usize, f64, f64)>),
    /// An orbit is too eccentric for a circular shell.
    #[error("the orbit of `{name}` is no circle: eccentricity {eccentricity:.3}")]
    Ellipse {
        /// Name of the satellite.
        name: String,
        /// Eccentricity of its orbit.
        eccentricity: f64,
    },
    /// One that is not there.
    #[error("`{0}` has decayed: its elements say nothing about the time of the run")]
    Decayed(String),
    /// Planes at uneven distances.
    #[error(
        "{planes} planes, but not evenly spaced: plane {plane} (`{name}`) lies {gap:.1} deg from \
         the next one, the others {spacing:.1} (tolerance a quarter)"
    )]
    Planes {
        /// Number of planes.
        planes: usize,
        /// The plane before the gap, counted from 0 in the order of the nodes.
        plane: usize,
        /// A satellite of it.
        name: String,
        /// Width of the gap, degrees.
        gap: f64,
        /// Most frequent spacing of planes, degrees.
        spacing: f64,
    },
    /// A satellite between slots.
    #[error(
        "`{name}` is {off:.1} deg off the nearest of the {slots} slots of its plane, which are \
         {spacing:.1} deg apart (tolerance a quarter)"
    )]
    Slot {
        /// Name of the satellite.
        name: String,
        /// Deviation from its slot, degrees.
        off: f64,
        /// Number of slots per plane.
        slots: usize,
        /// Spacing of slots, degrees.
        spacing: f64,
    },
    /// Two satellites for one slot.
    #[error("`{first}` and `{second}` are in one slot of {slots} of their plane")]
    Double {
        /// Name of one satellite.
        first: String,
        /// Name of the other satellite in the same slot.
        second: String,
        /// Number of slots per plane.
        slots: usize,
    },
    /// Too many that are missing.
    #[error(
        "{planes} planes of {slots} slots, but only {satellites} satellites: more than a tenth of \
         the slots are empty, {missing} of them in the plane of `{name}`"
    )]
    Holes {
        /// Number of planes.
        planes: usize,
        /// Slots per plane.
        slots: usize,
        /// Number of satellites in all planes.
        satellites: usize,
        /// In the emptiest plane.
        missing: usize,
        /// A satellite of that.
        name: String,
    },
}

fn shells(shells: &[(usize, f64, f64)]) -> String {
    let text = |(count, degrees, km): &(usize, f64, f64)| {
        format!("{count} at {degrees:.1} deg, {km:.0} km")
    };
    let most = 6;
    let mut texts: Vec<String> = shells.iter().take(most).map(text).collect();
    if shells.len() > most {
        texts.push(format!("{} more", shells.len() - most));
    }
    texts.join("; ")
}
