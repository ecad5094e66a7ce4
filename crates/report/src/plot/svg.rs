//! A writer of SVG: elements, attributes, text.

use super::number::push_coordinate;
use crate::font::{FAMILY, Weight};
use crate::xml::escape_into;

/// An SVG document being written.
pub(super) struct Svg {
    out: String,
}

/// Where a text sticks to its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextStyle {
    pub(super) size: f64,
    pub(super) fill: &'static str,
    pub(super) weight: Weight,
    pub(super) anchor: Anchor,
    /// Degrees, clockwise around the anchor point.
    pub(super) rotate: f64,
}

impl TextStyle {
    pub(super) fn new(size: f64, fill: &'static str) -> Self {
        Self {
            size,
            fill,
            weight: Weight::Regular,
            anchor: Anchor::Start,
            rotate: 0.0,
        }
    }

    pub(super) fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    pub(super) fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    pub(super) fn rotate(mut self, degrees: f64) -> Self {
        self.rotate = degrees;
        self
    }
}

impl Svg {
    /// Opens a document with a light background and an accessible name.
    pub(super) fn new(width: f64, height: f64, name: &str) -> Self {
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

    /// Begins an element; finish it with one of the ends of [`Tag`].
    pub(super) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { svg: self, name }
    }

    /// Ends an element that was left open.
    pub(super) fn end(&mut self, name: &'static str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push_str(">\n");
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
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
    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, style: TextStyle) {
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
        tag.text(text);
    }

    /// Closes the document.
    pub(super) fn finish(mut self) -> String {
        self.end("svg");
        self.out
    }
}

/// An element whose attributes are being written.
pub(super) struct Tag<'a> {
    svg: &'a mut Svg,
    name: &'static str,
}

impl Tag<'_> {
    pub(super) fn attr(self, key: &str, value: &str) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        escape_into(out, value);
        out.push('"');
        self
    }

    pub(super) fn num(self, key: &str, value: f64) -> Self {
        let out = &mut self.svg.out;
        out.push(' ');
        out.push_str(key);
        out.push_str("=\"");
        push_coordinate(out, value);
        out.push('"');
        self
    }

    /// Ends an element without content.
    pub(super) fn close(self) {
        self.svg.out.push_str("/>\n");
    }

    /// Leaves the element open for others.
    pub(super) fn open(self) {
        self.svg.out.push_str(">\n");
    }

    /// Ends an element that holds text.
    pub(super) fn text(self, text: &str) {
        self.svg.out.push('>');
        escape_into(&mut self.svg.out, text);
        self.svg.end(self.name);
    }
}

/// The data of a path made of straight lines.
pub(super) fn path_data(lines: &[Vec<(f64, f64)>], closed: bool) -> String {
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
}
