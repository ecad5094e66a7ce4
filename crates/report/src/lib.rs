//! Tables and figures: pure presentation, from plain numbers and texts.
//!
//! - [`plot`] draws charts as SVG: lines, steps, points, bands, grouped bars, and the printed
//!   values of a paper with ours.
//! - [`svg`] writes elements of such pictures, with the palette.
//! - [`png`] and [`pdf`] turn such an SVG into a PNG or a PDF, with embedded fonts.
//! - [`table`] lays out tables for terminals, and text bars.
//! - [`text`] writes numbers as sentences have them.
//! - [`intervals`] draws horizontal bars with intervals for a page.
//! - [`html`] puts all of them on one page that works offline.
//!
//! The same data gives the same bytes on every machine.

/// The methods of a builder that set the field of their name.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name.into();
            self
        }
    )*};
}

pub mod html;
pub mod intervals;
pub mod pdf;
pub mod plot;
pub mod png;
pub mod svg;
pub mod table;
pub mod text;

mod font;
mod xml;

pub use xml::escape;
