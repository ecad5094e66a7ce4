//! The writer of SVG behind all figures and maps: elements, attributes, text,
//! and the palette.

mod palette;

pub(crate) use palette::{AXIS, GRID, GRID_MINOR, PALETTE};
pub use palette::{INK, INK_SOFT, colour};

use crate::font::{self, FAMILY, Weight};
use crate::xml::escape_into;
use std::fmt::Write as _;

/// An SVG document, or a part of one, that is being written.
#[derive(Debug, Default)]
pub struct Svg {
    out: String,
}

/// The point of a text that is at its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// Anchored at its middle.
    Middle,
    /// At its right end.
    End,
}

/// How a text is drawn.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Size of the font.
    pub size: f64,
    pub(crate) fill: &'static str,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    /// Degrees, clockwise around the anchor point.
    rotate: f64,
    /// With a white outline, over lines.
    outlined: bool,
}

impl TextStyle {
    /// Regular text of that size and colour that begins at its x.
    #[must_use]
    pub const fn new(size: f64, fill: &'static str) -> Self {
        Self {
            size,
            fill,
            weight: Weight::Regular,
            anchor: Anchor::Start,
            rotate: 0.0,
            outlined: false,
        }
    }

    /// Sets the text in bold.
    #[must_use]
    pub const fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    /// Sets the anchor.
    #[must_use]
    pub const fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// Turns the text clockwise by `degrees` around its anchor.
    #[must_use]
    pub const fn rotate(mut self, degrees: f64) -> Self {
        self.rotate = degrees;
        self
    }

    /// The same with a white outline, so that it can be read over lines.
    #[must_use]
    pub const fn outlined(mut self) -> Self {
        self.outlined = true;
        self
    }

    /// The width of `text` in this style.
    #[must_use]
    pub fn width(self, text: &str) -> f64 {
        font::width(text, self.size, self.weight)
    }
}

impl Svg {
    /// Opens a document with a white background and an accessible name.
    #[must_use]
    pub fn new(width: f64, height: f64, name: &str) -> Self {
        let mut svg = Self { out: String::new() };
        let mut view = String::from("0 0 ");
        push_coordinate(&mut view, width);
        view.push(' ');
        push_coordinate(&mut view, height);
        svg.tag("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .num("width", width)
            .num("height", height)
            .attr("viewBox", &view)
            .attr("font-family", &format!("'{FAMILY}', sans-serif"))
            .attr("role", "img")
            .attr("aria-label", name)
            .open();
        svg.tag("rect")
            .num("width", width)
            .num("height", height)
            .attr("fill", "#ffffff")
            .close();
        svg
    }

    /// Adds elements as they are.
    pub fn raw(&mut self, elements: impl AsRef<str>) {
        self.out.push_str(elements.as_ref());
        self.out.push('\n');
    }

    /// Begins an element; finish it with one of the ends of [`Tag`].
    pub fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { svg: self, name }
    }

    /// Ends an element that was left open.
    pub fn end(&mut self, name: &'static str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push_str(">\n");
    }

    /// Draws a straight line between two points, in pixels.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        self.tag("line")
            .num("x1", from.0)
            .num("y1", from.1)
            .num("x2", to.0)
            .num("y2", to.1)
            .attr("stroke", stroke)
            .num("stroke-width", width)
            .close();
    }

    /// One line of text; `y` is its baseline.
    pub fn text(&mut self, x: f64, y: f64, text: &str, style: TextStyle) {
        let mut tag = self
            .tag("text")
            .num("x", x)
            .num("y", y)
            .num("font-size", style.size)
            .attr("fill", style.fill);
        if style.weight == Weight::Bold {
            tag = tag.attr("font-weight", "bold");
        }
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => tag = tag.attr("text-anchor", "middle"),
            Anchor::End => tag = tag.attr("text-anchor", "end"),
        }
        if style.rotate != 0.0 {
            let mut turn = String::from("rotate(");
            for (number, after) in [(style.rotate, ' '), (x, ' '), (y, ')')] {
                push_coordinate(&mut turn, number);
                turn.push(after);
            }
            tag = tag.attr("transform", &turn);
        }
        if style.outlined {
            tag = tag
                .attr("stroke", "#fff")
                .num("stroke-width", 3.5)
                .attr("stroke-linejoin", "round")
                .attr("paint-order", "stroke");
        }
        tag.text(text);
    }

    /// Closes the document and returns its text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.end("svg");
        self.out
    }

    /// A document around elements.
    #[must_use]
    pub fn document(width: f64, height: f64, name: &str, elements: &str) -> String {
        let mut svg = Svg::new(width, height, name);
        svg.out.push_str(elements);
        svg.finish()
    }

    /// The elements of a part of a document.
    #[must_use]
    pub fn into_elements(self) -> String {
        self.out
    }
}

/// A coordinate with at most two decimals: a hundredth of a pixel.
#[must_use]
pub fn num(value: f64) -> String {
    let mut out = String::new();
    push_coordinate(&mut out, value);
    out
}

/// Appends a coordinate with at most two decimals: a hundredth of a pixel. The
/// same number gives the same text everywhere, and a file stays small.
pub(crate) fn push_coordinate(out: &mut String, value: f64) {
    // Not a number becomes 0, and what is far outside stays far outside.
    let hundredths = (value.clamp(-1e6, 1e6) * 100.0).round() as i64;
    if hundredths < 0 {
        out.push('-');
    }
    let size = hundredths.unsigned_abs();
    // Writing to a string cannot fail.
    let _ = write!(out, "{}", size / 100);
    match size % 100 {
        0 => {}
        rest if rest % 10 == 0 => {
            let _ = write!(out, ".{}", rest / 10);
        }
        rest => {
            let _ = write!(out, ".{rest:02}");
        }
    }
}

/// An element whose attributes are being written.
pub struct Tag<'a> {
    svg: &'a mut Svg,
    name: &'static str,
}

impl Tag<'_> {
    /// Adds an attribute; the value is escaped.
    #[must_use]
    pub fn attr(self, key: &str, value: &str) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        escape_into(out, value);
        out.push('"');
        self
    }

    /// Adds an attribute that is a coordinate.
    #[must_use]
    pub fn num(self, key: &str, value: f64) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        push_coordinate(out, value);
        out.push('"');
        self
    }

    /// Ends an element without content.
    pub fn close(self) {
        self.svg.out.push_str("/>\n");
    }

    /// Leaves the element open for others.
    pub fn open(self) {
        self.svg.out.push_str(">\n");
    }

    /// Ends an element that holds text.
    pub fn text(self, text: &str) {
        self.svg.out.push('>');
        escape_into(&mut self.svg.out, text);
        self.svg.end(self.name);
    }
}

/// The data of a path through `points`.
#[must_use]
pub fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut data = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        data.push(if i == 0 { 'M' } else { 'L' });
        push_coordinate(&mut data, *x);
        data.push(' ');
        push_coordinate(&mut data, *y);
    }
    if closed {
        data.push('Z');
    }
    data
}

/// The data of a path made of several lines, as short as can be.
pub(crate) fn path_data(lines: &[Vec<(f64, f64)>], closed: bool) -> String {
    let mut data = String::new();
    for line in lines {
        let mut previous: Option<(f64, f64)> = None;
        for &(x, y) in line {
            // Horizontal and vertical strokes take one number, not two.
            match previous {
                None => {
                    data.push('M');
                    push_coordinate(&mut data, x);
                    data.push(' ');
                    push_coordinate(&mut data, y);
                }
                Some((_, py)) if py == y => {
                    data.push('H');
                    push_coordinate(&mut data, x);
                }
                Some((px, _)) if px == x => {
                    data.push('V');
                    push_coordinate(&mut data, y);
                }
                Some(_) => {
                    data.push('L');
                    push_coordinate(&mut data, x);
                    data.push(' ');
                    push_coordinate(&mut data, y);
                }
            }
            previous = Some((x, y));
        }
        if closed && previous.is_some() {
            data.push('Z');
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compact() {
        let lines = [
            vec![(0.0, 0.0), (5.0, 0.0), (5.0, 2.5), (6.0, 3.0)],
            vec![(9.0, 9.0)],
        ];
        assert_eq!(path_data(&lines, false), "M0 0H5V2.5L6 3M9 9");
    }

    #[test]
    fn a_document_is_well_formed() {
        let mut svg = Svg::new(10.0, 5.0, "a < b");
        svg.text(
            1.0,
            2.0,
            "R&D",
            TextStyle::new(9.0, "#000000").bold().rotate(-90.0),
        );
        let text = svg.finish();
        let tree = roxmltree::Document::parse(&text).expect("well-formed");
        assert_eq!(tree.root_element().attribute("aria-label"), Some("a < b"));
        assert!(text.contains("rotate(-90 1 2)") && text.contains(">R&amp;D</text>"));
    }

    #[test]
    fn coordinates_are_short_and_never_negative_zero() {
        let values = [
            0.0,
            -0.001,
            1.5,
            12.345,
            -7.05,
            100.0,
            f64::NAN,
            f64::INFINITY,
        ];
        let texts: Vec<_> = values.into_iter().map(num).collect();
        assert_eq!(
            texts,
            ["0", "0", "1.5", "12.35", "-7.05", "100", "0", "1000000"]
        );
    }
}
