//! A small writer of SVG, and labels that keep clear of each other.

use bentpipe_report::{escape, text_width};

/// Okabe and Ito's colours as the figures of the report have them: they stay
/// apart for colour-blind readers.
pub(super) const PALETTE: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#882255",
];
pub(super) const INK: &str = "#1f2328";
pub(super) const SOFT: &str = "#57606a";

/// The colour of number `i`.
pub(super) fn colour(i: usize) -> &'static str {
    PALETTE[i % PALETTE.len()]
}

/// A number with at most two decimals.
pub(super) fn num(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// Where a text sticks to its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) fill: &'static str,
    pub(super) anchor: Anchor,
    /// With a white rim, over lines.
    pub(super) rim: bool,
}

impl Style {
    pub(super) const fn new(size: f64, fill: &'static str) -> Style {
        Style {
            size,
            bold: false,
            fill,
            anchor: Anchor::Start,
            rim: false,
        }
    }

    pub(super) const fn bold(self) -> Style {
        Style { bold: true, ..self }
    }

    pub(super) const fn rim(self) -> Style {
        Style { rim: true, ..self }
    }

    pub(super) const fn anchor(self, anchor: Anchor) -> Style {
        Style { anchor, ..self }
    }

    pub(super) fn width(self, text: &str) -> f64 {
        text_width(text, self.size, self.bold)
    }
}

/// Elements, one after the other.
#[derive(Debug, Default)]
pub(super) struct Svg {
    pub(super) out: String,
}

impl Svg {
    /// Adds an element as it is.
    pub(super) fn raw(&mut self, element: impl AsRef<str>) {
        self.out.push_str(element.as_ref());
        self.out.push('\n');
    }

    /// Adds a line of text; `y` is its baseline.
    pub(super) fn text(&mut self, (x, y): (f64, f64), text: &str, style: Style) {
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
        };
        let bold = if style.bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let rim = if style.rim {
            " stroke=\"#fff\" stroke-width=\"3.5\" stroke-linejoin=\"round\" paint-order=\"stroke\""
        } else {
            ""
        };
        self.raw(format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{bold}{anchor}{rim}>{}</text>",
            num(x),
            num(y),
            num(style.size),
            style.fill,
            escape(text)
        ));
    }

    /// The whole picture on white, `width` by `height`.
    pub(super) fn document(&self, width: f64, height: f64, name: &str) -> String {
        let (w, h) = (num(width), num(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" font-family=\"'DejaVu Sans', sans-serif\" role=\"img\" \
             aria-label=\"{}\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(name),
            self.out
        )
    }
}

/// Points as the data of a path.
pub(super) fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut data = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        data.push(if i == 0 { 'M' } else { 'L' });
        data.push_str(&format!("{} {}", num(*x), num(*y)));
    }
    if closed {
        data.push('Z');
    }
    data
}

/// A box: left, top, right, bottom.
pub(super) type Box4 = [f64; 4];

/// Room that is taken.
#[derive(Debug, Default)]
pub(super) struct Room {
    taken: Vec<Box4>,
}

impl Room {
    /// Takes a box.
    pub(super) fn take(&mut self, taken: Box4) {
        self.taken.push(taken);
    }

    /// What is taken.
    pub(super) fn boxes(&self) -> &[Box4] {
        &self.taken
    }

    /// How much of `place` is taken.
    fn overlap(&self, place: Box4) -> f64 {
        let shared = |taken: &Box4| {
            let w = place[2].min(taken[2]) - place[0].max(taken[0]);
            let h = place[3].min(taken[3]) - place[1].max(taken[1]);
            w.max(0.0) * h.max(0.0)
        };
        self.taken.iter().map(shared).sum()
    }

    /// Takes the first of `places` that is free; of none the one that is most.
    /// Gives its number.
    pub(super) fn choose(&mut self, places: &[Box4]) -> usize {
        let mut best = (0, f64::INFINITY);
        for (i, place) in places.iter().enumerate() {
            let overlap = self.overlap(*place);
            if overlap < best.1 {
                best = (i, overlap);
            }
            if overlap == 0.0 {
                break;
            }
        }
        if let Some(place) = places.get(best.0) {
            self.take(*place);
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_take_the_first_place_that_is_free() {
        let mut room = Room::default();
        room.take([0.0, 0.0, 10.0, 10.0]);
        let places = [[5.0, 5.0, 15.0, 15.0], [10.0, 0.0, 20.0, 10.0]];
        assert_eq!(room.choose(&places), 1);
        // Now both are taken, the first less.
        assert_eq!(room.choose(&places), 0);
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [(1.0, "1"), (-0.001, "0"), (2.345, "2.35"), (10.5, "10.5")] {
            assert_eq!(num(x), text);
        }
    }
}
