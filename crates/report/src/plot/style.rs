//! The dashes and markers of series.

use std::collections::BTreeMap;

use super::model::{Chart, Content};
use super::series::SeriesKind;
use crate::svg::{PALETTE, Svg, path_data};

/// Line dashes, one for each turn through the palette.
const DASHES: [&str; 4] = ["", "7 3", "2 2.5", "9 3 2 3"];

/// The looks of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) marker: Marker,
    /// How often the palette has been used up before.
    pub(super) turn: usize,
}

impl Style {
    fn of_slot(slot: usize) -> Self {
        let turn = slot / PALETTE.len();
        Self {
            colour: PALETTE[slot % PALETTE.len()],
            dash: DASHES[turn % DASHES.len()],
            marker: Marker::ALL[slot % Marker::ALL.len()],
            turn,
        }
    }

    /// The colour inside a bar: the series' own mixed with white, so that marks
    /// on it stay visible, and lighter at each turn through the palette.
    pub(super) fn fill(self) -> String {
        let share = [0.72, 0.4, 0.14, 0.55][self.turn % 4];
        let mut out = String::from("#");
        for at in [1, 3, 5] {
            let part = self.colour.get(at..at + 2).unwrap_or("00");
            let level = f64::from(u8::from_str_radix(part, 16).unwrap_or(0));
            let mixed = (255.0 - share * (255.0 - level)).round() as u8;
            out.push_str(&format!("{mixed:02x}"));
        }
        out
    }
}

/// The shape at a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Inverted,
    Pentagon,
    Hexagon,
    Hourglass,
}

impl Marker {
    const ALL: [Self; 8] = [
        Self::Circle,
        Self::Square,
        Self::Triangle,
        Self::Diamond,
        Self::Inverted,
        Self::Pentagon,
        Self::Hexagon,
        Self::Hourglass,
    ];

    /// The corners around a centre at radius 1; none for the circle. Areas are
    /// about equal, so that no series looks heavier than another.
    fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Self::Circle => &[],
            Self::Square => &[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
            Self::Triangle => &[(0.0, -1.25), (1.12, 0.8), (-1.12, 0.8)],
            Self::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            Self::Inverted => &[(0.0, 1.25), (-1.12, -0.8), (1.12, -0.8)],
            Self::Pentagon => &[
                (0.0, -1.15),
                (1.09, -0.36),
                (0.68, 0.93),
                (-0.68, 0.93),
                (-1.09, -0.36),
            ],
            Self::Hexagon => &[
                (1.1, 0.0),
                (0.55, 0.95),
                (-0.55, 0.95),
                (-1.1, 0.0),
                (-0.55, -0.95),
                (0.55, -0.95),
            ],
            Self::Hourglass => &[(-1.05, -1.1), (1.05, -1.1), (-1.05, 1.1), (1.05, 1.1)],
        }
    }

    /// Draws the shape; a hollow one is larger, so that a solid one in the same
    /// place shows inside it.
    pub(super) fn draw(self, svg: &mut Svg, (x, y): (f64, f64), colour: &str, hollow: bool) {
        let radius = if hollow { 4.6 } else { 3.0 };
        let tag = if self == Self::Circle {
            svg.tag("circle").num("cx", x).num("cy", y).num("r", radius)
        } else {
            let corners = self.corners().iter();
            let outline = corners
                .map(|(dx, dy)| (x + radius * dx, y + radius * dy))
                .collect();
            svg.tag("path").attr("d", &path_data(&[outline], true))
        };
        if hollow {
            tag.attr("fill", "none")
                .attr("stroke", colour)
                .num("stroke-width", 1.6)
                .close();
        } else {
            tag.attr("fill", colour)
                .attr("stroke", "#ffffff")
                .num("stroke-width", 0.7)
                .close();
        }
    }
}

/// Appearance of the series of one name in the legend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) line: bool,
    pub(super) markers: bool,
    pub(super) bar: bool,
}

/// The style of every series name of a chart, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Styles {
    pub(super) order: Vec<(String, Style, Shown)>,
    by_name: BTreeMap<String, usize>,
}

impl Styles {
    /// Gives each name a place in the palette: the one it asks for, else the first unclaimed one.
    pub(super) fn assign(chart: &Chart) -> Self {
        let mut names: Vec<(String, Option<usize>, Shown)> = Vec::new();
        let mut place: BTreeMap<String, usize> = BTreeMap::new();
        let mut note = |name: &str, slot: Option<usize>, shown: Shown| {
            let at = *place.entry(name.to_owned()).or_insert_with(|| {
                names.push((name.to_owned(), None, Shown::default()));
                names.len() - 1
            });
            let (_, known, all) = &mut names[at];
            *known = known.or(slot);
            all.line |= shown.line;
            all.markers |= shown.markers;
            all.bar |= shown.bar;
        };
        let bar = Shown {
            bar: true,
            ..Shown::default()
        };
        for panel in &chart.panels {
            match &panel.content {
                Content::Xy { series, .. } => {
                    for s in series {
                        let kind: SeriesKind = s.kind;
                        let (line, markers) = (kind.has_line(), kind.has_markers());
                        note(
                            &s.name,
                            s.slot,
                            Shown {
                                line,
                                markers,
                                bar: false,
                            },
                        );
                    }
                }
                Content::Bars(bars) | Content::Rows { bars, .. } => {
                    for s in &bars.series {
                        note(&s.name, s.slot, bar);
                    }
                }
                Content::Boxes(boxes) => {
                    for s in &boxes.series {
                        note(&s.name, s.slot, bar);
                    }
                }
                Content::Heat(_) => {}
            }
        }
        let taken: Vec<usize> = names.iter().filter_map(|(_, slot, _)| *slot).collect();
        let mut free = (0..).filter(|slot| !taken.contains(slot));
        let order = names
            .into_iter()
            .map(|(name, slot, shown)| {
                let slot = slot.or_else(|| free.next()).unwrap_or(0);
                (name, Style::of_slot(slot), shown)
            })
            .collect();
        Self {
            order,
            by_name: place,
        }
    }

    /// The style of a series.
    pub(super) fn of(&self, name: &str) -> Style {
        let known = self.by_name.get(name).and_then(|at| self.order.get(*at));
        known.map_or_else(|| Style::of_slot(0), |(_, style, _)| *style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Panel, Series};

    fn chart(series: impl IntoIterator<Item = Series>) -> Chart {
        let panel = Panel::xy(Axis::linear(""), Axis::linear(""));
        Chart::new("").panel(series.into_iter().fold(panel, Panel::series))
    }

    #[test]
    fn a_name_has_one_colour_in_all_panels() {
        let mut chart = chart([Series::line("a", []), Series::line("b", [])]);
        let again = Panel::xy(Axis::linear(""), Axis::linear("")).series(Series::line("b", []));
        chart.panels.push(again);
        let styles = Styles::assign(&chart);
        assert_eq!(styles.order.len(), 2);
        assert_eq!(styles.of("b").colour, PALETTE[1]);
    }

    #[test]
    fn asked_slots_are_kept_free() {
        let styles = Styles::assign(&chart([
            Series::line("a", []),
            Series::line("b", []).slot(0),
            Series::line("c", []),
        ]));
        assert_eq!(styles.of("b").colour, PALETTE[0]);
        assert_eq!(styles.of("a").colour, PALETTE[1]);
        assert_eq!(styles.of("c").colour, PALETTE[2]);
    }

    #[test]
    fn bars_are_lighter_than_lines() {
        assert_eq!(Style::of_slot(0).fill(), "#4799c8");
        assert_eq!(Style::of_slot(16).fill(), "#dbebf4");
    }

    #[test]
    fn twenty_series_all_differ() {
        let styles = Styles::assign(&chart((0..20).map(|i| Series::line(format!("s{i}"), []))));
        for (i, a) in styles.order.iter().enumerate() {
            for b in &styles.order[i + 1..] {
                assert_ne!((a.1.colour, a.1.dash), (b.1.colour, b.1.dash));
            }
        }
    }
}
