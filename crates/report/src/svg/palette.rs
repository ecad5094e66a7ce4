//! The colours of figures and maps.

/// Colours that stay apart for colour-blind readers: those of Okabe and Ito
/// (2008), except that their yellow, unreadable as a thin line on white, is
/// replaced by the wine of Tol's *muted* scheme.
pub(crate) const PALETTE: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#882255",
];

/// The colour of number `i`, over and over.
#[must_use]
pub fn colour(i: usize) -> &'static str {
    PALETTE[i % PALETTE.len()]
}

/// Text, and outlines of boxes.
pub const INK: &str = "#1f2328";
/// Text of less weight.
pub const INK_SOFT: &str = "#57606a";
/// Colour of axes and ticks.
pub(crate) const AXIS: &str = "#6e7781";
/// Lines of the grid.
pub(crate) const GRID: &str = "#e3e6ea";
/// Lines of the grid between labelled ones.
pub(crate) const GRID_MINOR: &str = "#f1f3f5";
