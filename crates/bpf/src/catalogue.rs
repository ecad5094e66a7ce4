//! The controls and their parameters. The order of a control's parameters is
//! that of the `enum` in its C file.

mod general;
mod marchese;
mod satellite;
mod table;

use crate::{Control, Parameter};

pub(crate) use table::MILLIONTH;

/// The parameters that every control has first.
pub(crate) const COMMON: [Parameter; 2] = [table::INITIAL_WINDOW, table::WINDOW_CLAMP];

static ALL: [Control; 14] = concat([
    &marchese::CONTROLS,
    &satellite::CONTROLS,
    &general::CONTROLS,
]);

/// All controls of this build, group by group.
pub static CONTROLS: &[Control] = &ALL;

/// The groups one after another, `N` controls in all.
const fn concat<const N: usize>(groups: [&[Control]; 3]) -> [Control; N] {
    let mut all = [groups[0][0]; N];
    let (mut group, mut at, mut len) = (0, 0, 0);
    while group < groups.len() {
        if at == groups[group].len() {
            (group, at) = (group + 1, 0);
            continue;
        }
        all[len] = groups[group][at];
        (at, len) = (at + 1, len + 1);
    }
    assert!(len == N, "the number of controls differs");
    all
}

/// The control of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Control> {
    CONTROLS.iter().find(|control| control.name == name)
}

/// The name that was probably meant.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    bentpipe_units::nearest(name, CONTROLS.iter().map(|control| control.name))
}
