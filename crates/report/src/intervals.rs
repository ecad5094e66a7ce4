//! Horizontal bars with intervals for a page, readable on a phone and on paper:
//! names and numbers are text of the page, and each bar is its own drawing
//! that takes the width that is left.

use crate::xml::escape;
use std::fmt::Write as _;

/// Bars, one below the other, on one scale that begins at zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    bars: Vec<Bar>,
    bound: Option<f64>,
}

/// A bar of [`Intervals`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Label of the row.
    pub name: String,
    /// A word next to the name, such as `today`; may be empty.
    pub tag: String,
    /// Its length; without one, there is no bar.
    pub value: Option<f64>,
    /// The low and the high end of the interval around it.
    pub interval: Option<[f64; 2]>,
    /// The value in words, with its unit.
    pub text: String,
    /// How much it stands out.
    pub weight: Weight,
}

/// How much a bar stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// An ordinary row.
    #[default]
    Plain,
    /// The one to look at.
    Strong,
    /// The reference of the comparison.
    Reference,
    /// A row that is not a candidate.
    Faint,
}

impl Weight {
    const fn class(self) -> &'static str {
        match self {
            Weight::Plain => "bar",
            Weight::Strong => "bar bar-strong",
            Weight::Reference => "bar bar-reference",
            Weight::Faint => "bar bar-faint",
        }
    }
}

/// Width of a drawing in its own units.
const WIDTH: f64 = 1000.0;

impl Intervals {
    /// An empty picture.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a bar below the others.
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    /// Draws a dashed line across all bars at a value that none can be below.
    #[must_use]
    pub fn bound(mut self, value: f64) -> Self {
        self.bound = Some(value).filter(|value| value.is_finite() && *value > 0.0);
        self
    }

    /// The bars as markup for [`Page::markup`](crate::html::Page::markup), with
    /// what is text escaped.
    #[must_use]
    pub fn to_markup(&self) -> String {
        let largest = self.largest();
        let mut out = "<div class=\"bars\">\n".to_owned();
        for bar in &self.bars {
            let tag = match bar.tag.as_str() {
                "" => String::new(),
                tag => format!(" <span class=\"tag\">{}</span>", escape(tag)),
            };
            let _ = writeln!(
                out,
                "<div class=\"{}\"><span class=\"bar-name\">{}{tag}</span>{}<span \
                 class=\"bar-value\">{}</span></div>",
                bar.weight.class(),
                escape(&bar.name),
                self.drawing(bar, largest),
                escape(&bar.text),
            );
        }
        out.push_str("</div>\n");
        out
    }

    /// The value at the full width.
    fn largest(&self) -> f64 {
        let ends = self.bars.iter().flat_map(|bar| {
            let high = bar.interval.map(|[_, high]| high);
            [bar.value, high].into_iter().flatten()
        });
        let ends = ends.chain(self.bound).filter(|x| x.is_finite());
        ends.fold(f64::MIN_POSITIVE, f64::max)
    }

    /// The bar alone. Screen readers use the text next to it.
    fn drawing(&self, bar: &Bar, largest: f64) -> String {
        let place = |x: f64| (x / largest * WIDTH).clamp(0.0, WIDTH);
        let mut out = format!(
            "<svg class=\"bar-track\" viewBox=\"0 0 {WIDTH} 24\" preserveAspectRatio=\"none\" \
             aria-hidden=\"true\">"
        );
        let mut line = |class: &str, [x1, y1, x2, y2]: [f64; 4]| {
            let _ = write!(
                out,
                "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1}\" x2=\"{x2:.1}\" y2=\"{y2}\"/>"
            );
        };
        if let Some(bound) = self.bound.map(place) {
            line("bar-bound", [bound, 0.0, bound, 24.0]);
        }
        if let Some(value) = bar.value.filter(|x| x.is_finite()) {
            if let Some([low, high]) = bar.interval.map(|ends| ends.map(place)) {
                line("bar-interval", [low, 12.0, high, 12.0]);
                line("bar-interval", [low, 7.0, low, 17.0]);
                line("bar-interval", [high, 7.0, high, 17.0]);
            }
            let rect = format!(
                "<rect class=\"bar-fill\" x=\"0\" y=\"4\" width=\"{:.1}\" height=\"16\"/>",
                place(value)
            );
            // Below the lines.
            let at = out.find('>').map_or(out.len(), |at| at + 1);
            out.insert_str(at, &rect);
        }
        out.push_str("</svg>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: f64) -> Bar {
        Bar {
            name: "a < b".to_owned(),
            tag: "to<day".to_owned(),
            value: Some(value),
            interval: Some([value - 1.0, value + 2.0]),
            text: "2 s & more".to_owned(),
            weight: Weight::Strong,
        }
    }

    #[test]
    fn bars_share_one_scale_from_zero() {
        let bars = Intervals::new().bar(bar(2.0)).bar(bar(6.0)).bound(1.0);
        let text = bars.to_markup();
        // 8, the end of the longest interval, is the full width.
        assert!(text.contains("width=\"250.0\"") && text.contains("width=\"750.0\""));
        assert!(text.contains("x1=\"625.0\" y1=\"12\" x2=\"1000.0\" y2=\"12\""));
        assert_eq!(text.matches("bar-bound\" x1=\"125.0\"").count(), 2);
        roxmltree::Document::parse(&text).expect("well-formed");
        assert!(text.contains("a &lt; b") && text.contains("to&lt;day"));
        assert!(text.contains("2 s &amp; more"));
    }

    #[test]
    fn what_has_no_value_has_no_bar() {
        let none = Bar {
            name: "x".to_owned(),
            text: "no end".to_owned(),
            ..Bar::default()
        };
        let text = Intervals::new().bar(none).bound(f64::NAN).to_markup();
        assert!(!text.contains("<rect") && !text.contains("<line"), "{text}");
        let odd = Intervals::new().bar(Bar {
            interval: None,
            ..bar(f64::INFINITY)
        });
        assert!(!odd.to_markup().contains("<rect"));
    }
}
