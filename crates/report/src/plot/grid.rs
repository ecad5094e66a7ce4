//! The panels of a chart in rows and columns: which axes they share, how wide they are, and the
//! positions in each.

use super::extent::{Values, values_of, x_axis};
use super::heat::BAR_ROOM;
use super::labels::{across_height, category_labels, gutter, strip};
use super::measures::{
    Across, LABEL, LABEL_ROW, PAD, PanelBox, Rect, Sides, TICK, TICK_GAP, TICK_ROW,
};
use super::model::{Annotation, Content, Panel};
use super::planner::Planner;
use super::ranges::{label_rooms, same_x, same_y, x_range_of, x_ranges, y_ranges};
use super::scale::{self, Scale, Ticks};
use crate::font::{self, Weight};

/// A column of panels is not narrower than this.
const NARROW: f64 = 110.0;
/// Between the columns of panels whose y axes are shared.
const COLUMN_GAP: f64 = 28.0;
/// The longest name of a row of bars: pixels, and a share of the page.
const LONGEST_NAME: (f64, f64) = (190.0, 0.28);

/// The panels of a chart and their common measures.
pub(super) struct Grid {
    values: Vec<Values>,
    columns: usize,
    /// The x range of each panel; category axes have none.
    x_ranges: Vec<Option<(f64, f64)>>,
    /// Whether the panels of a column have one set of x labels.
    x_shared: bool,
    /// The room for texts at the end of the bars of each panel.
    label_rooms: Vec<f64>,
    /// The y range of each panel.
    y_ranges: Vec<(f64, f64)>,
    /// Whether the panels of a row have one set of y labels.
    y_shared: bool,
    left: f64,
    right: f64,
    /// Between two columns, and the width of one.
    gap: f64,
    column: f64,
    /// The longest name along a y axis.
    longest: f64,
    /// Of the words left of a panel.
    words: f64,
    /// Of the words right of a panel.
    gutter: f64,
}

impl Grid {
    pub(super) fn new(planner: &Planner<'_>) -> Self {
        let panels = &planner.chart.panels;
        let values: Vec<Values> = panels.iter().map(values_of).collect();
        let mut grid = Self {
            x_ranges: x_ranges(panels, &values),
            x_shared: (planner.columns..panels.len())
                .all(|i| same_x(&panels[i - planner.columns], &panels[i])),
            label_rooms: label_rooms(panels),
            y_ranges: Vec::new(),
            y_shared: false,
            columns: planner.columns,
            values,
            left: 0.0,
            right: 0.0,
            gap: 0.0,
            column: 0.0,
            longest: LONGEST_NAME.0.min(LONGEST_NAME.1 * planner.width),
            words: 0.0,
            gutter: 0.0,
        };
        let columns = grid.columns;
        grid.y_shared = columns > 1
            && panels
                .chunks(columns)
                .all(|row| row.windows(2).all(|pair| same_y(&pair[0], &pair[1])));
        grid.y_ranges = y_ranges(panels, &grid.values, columns > 1);
        grid.sides(planner);
        grid
    }

    /// The width of a column.
    pub(super) fn width(&self) -> f64 {
        self.column
    }

    /// Whether the columns are wide enough to be read.
    pub(super) fn is_wide_enough(&self) -> bool {
        self.column >= NARROW
    }

    /// The left edge of the first column and the right edge of the last.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// The left and right edges of the panels: the same for all of a column, so
    /// that their x axes line up.
    fn sides(&mut self, planner: &Planner<'_>) {
        let panels = &planner.chart.panels;
        let mut labels: f64 = 0.0;
        let mut rows: usize = 0;
        for (i, panel) in panels.iter().enumerate() {
            let height = planner.height(i / self.columns);
            let (_, ticks) = self.y_axis(panel, i, 0.0, height);
            let width = |(_, label): &(f64, String)| font::width(label, TICK, Weight::Regular);
            labels = ticks.major.iter().map(width).fold(labels, f64::max);
            rows = rows.max(y_label(panel, height).len());
            self.gutter = self.gutter.max(gutter_room(panel, planner.beside()));
        }
        let label_room = if rows > 0 {
            rows as f64 * LABEL_ROW + 6.0
        } else {
            0.0
        };
        self.words = label_room + labels + TICK_GAP;
        self.left = (PAD + self.words).round();
        let mut right = planner.width - PAD - self.gutter;
        if planner.right_legend {
            right -= planner.legend.width + 18.0;
        }
        self.right = right.floor().max(self.left + 60.0);
        let between = if self.y_shared {
            COLUMN_GAP
        } else {
            COLUMN_GAP.max(self.words + 14.0)
        };
        self.gap = (between + self.gutter).ceil();
        self.fit_columns();
        // The last tick label is centred on its tick and may stick out.
        let mut over: f64 = 0.0;
        let edge = self.right + self.gutter + PAD - 6.0;
        for (i, panel) in panels.iter().enumerate() {
            let left = self.right - self.column;
            if let Some((scale, ticks)) = self.numbers(panel, i, left, self.right) {
                for (value, label) in &ticks.major {
                    let half = font::width(label, TICK, Weight::Regular) / 2.0;
                    over = over.max(scale.at(*value).unwrap_or(left) + half - edge);
                }
            }
        }
        self.right = (self.right - over.max(0.0).ceil()).max(self.left + 60.0);
        self.fit_columns();
    }

    fn fit_columns(&mut self) {
        let room = self.right - self.left;
        let gaps = self.gap * (self.columns - 1) as f64;
        self.column = ((room - gaps) / self.columns as f64).max(20.0);
        if self.columns > 1 {
            self.column = self.column.floor();
        }
    }

    /// The numeric x axis of a panel.
    fn numbers(&self, panel: &Panel, i: usize, left: f64, right: f64) -> Option<(Scale, Ticks)> {
        let x = match &panel.content {
            Content::Xy { x, .. } | Content::Rows { x, .. } => x,
            _ => return None,
        };
        let range = self.x_ranges.get(i).copied().flatten();
        let (scale, mut ticks) = x_axis(
            x,
            range.unwrap_or_else(|| x_range_of(panel, std::iter::empty())),
            left,
            // Texts next to bars extend beyond.
            right - self.label_rooms[i].min(0.5 * (right - left)),
        );
        if range.is_none() {
            ticks = Ticks::default();
        }
        if self.columns > 1 {
            // Labels of neighbouring columns must not meet.
            let reach = (self.gap.min(COLUMN_GAP) / 2.0 - 3.0).max(0.0);
            for (value, label) in &mut ticks.major {
                let half = font::width(label, TICK, Weight::Regular) / 2.0;
                let at = scale.at(*value).unwrap_or(left);
                if at - half < left - reach || at + half > right + reach {
                    label.clear();
                }
            }
        }
        Some((scale, ticks))
    }

    fn y_axis(&self, panel: &Panel, i: usize, top: f64, height: f64) -> (Scale, Ticks) {
        if let Some(names) = panel.names() {
            return name_axis(names, self.longest, top, height);
        }
        let range = self.y_ranges.get(i).copied().unwrap_or((0.0, 1.0));
        let scale = Scale::new(panel.y.kind, range, top + height, top).broken(&panel.y.breaks);
        if self.values[i].y.is_empty() {
            return (scale, Ticks::default());
        }
        let target = ((height / 32.0) as usize).clamp(2, 9);
        let ticks = scale::fit(&scale, target, 5.0, |_| TICK);
        (scale, ticks)
    }

    /// Places all panels below `top`; returns them with the end of the lowest.
    pub(super) fn place(&self, planner: &Planner<'_>, top: f64) -> (Vec<PanelBox>, f64) {
        let panels = &planner.chart.panels;
        let mut placed = Vec::with_capacity(panels.len());
        let mut y = top;
        let mut between = 0.0;
        for (r, row) in panels.chunks(self.columns).enumerate() {
            y += between;
            let first = r * self.columns;
            let shown = |i: usize| !self.x_shared || i + self.columns >= panels.len();
            let heads: Vec<Head> = row
                .iter()
                .enumerate()
                .map(|(c, panel)| self.head(panel, first + c, self.sides_of(planner, c)))
                .collect();
            let above = heads.iter().map(|h| h.height).fold(0.0, f64::max);
            let mut bottom: f64 = y;
            for (c, (panel, head)) in row.iter().zip(heads).enumerate() {
                let i = first + c;
                let sides = Sides {
                    top: y + above,
                    ..self.sides_of(planner, c)
                };
                let mut area = self.panel(planner, panel, i, head, (sides, r));
                area.x_shown = shown(i);
                area.y_shown = c == 0 || !self.y_shared;
                let mut end = area.plot.bottom;
                if area.x_shown {
                    end += across_height(&area.across);
                    if !area.x_label.is_empty() {
                        end += LABEL_ROW + 4.0;
                    }
                }
                bottom = bottom.max(end);
                placed.push(area);
            }
            y = bottom;
            between = if (first..first + row.len()).any(shown) {
                16.0
            } else {
                12.0
            };
        }
        (placed, y)
    }

    /// The edges of the panels of a column.
    fn sides_of(&self, planner: &Planner<'_>, column: usize) -> Sides {
        let left = self.left + column as f64 * (self.column + self.gap);
        let outer = if planner.right_legend {
            planner.width - PAD - planner.legend.width
        } else {
            planner.width
        };
        let right = left + self.column;
        Sides {
            left,
            right,
            top: 0.0,
            y_label_x: left - self.words.round(),
            last: if self.columns > 1 {
                (right + self.gap.min(COLUMN_GAP) / 2.0).min(outer)
            } else {
                outer
            },
        }
    }

    /// The texts above a panel.
    fn head(&self, panel: &Panel, i: usize, place: Sides) -> Head {
        let title = panel.title.trim();
        let title = font::elide(title, place.last - 6.0 - place.left, LABEL, Weight::Bold);
        let across = self.across(panel, i, place);
        let strip = strip(panel, &across, place);
        let rows = strip.iter().map(|s| s.1 + 1.0).fold(0.0, f64::max);
        let mut height = if title.is_empty() { 0.0 } else { 20.0 };
        if rows > 0.0 {
            height += rows * TICK_ROW + 3.0;
        }
        Head {
            title,
            across,
            strip,
            rows,
            height,
        }
    }

    /// The x axis of a panel.
    fn across(&self, panel: &Panel, i: usize, place: Sides) -> Across {
        let categories = match &panel.content {
            Content::Bars(bars) => &bars.categories,
            Content::Boxes(boxes) => &boxes.categories,
            Content::Heat(heat) => &heat.columns,
            Content::Xy { .. } | Content::Rows { .. } => {
                return match self.numbers(panel, i, place.left, place.right) {
                    Some((scale, ticks)) => Across::Numbers(scale, ticks),
                    None => Across::Upright(Vec::new()),
                };
            }
        };
        let reach = if i.is_multiple_of(self.columns) {
            0.0
        } else {
            place.left - self.gap + 4.0
        };
        category_labels(categories, (place.left, place.right), reach)
    }

    fn panel(
        &self,
        planner: &Planner<'_>,
        panel: &Panel,
        i: usize,
        head: Head,
        (place, row): (Sides, usize),
    ) -> PanelBox {
        let height = planner.height(row);
        let top = place.top.round();
        let plot = Rect {
            left: place.left,
            top,
            right: place.right,
            bottom: top + height,
        };
        let strip_room = if head.rows > 0.0 {
            head.rows * TICK_ROW + 3.0
        } else {
            0.0
        };
        let (y, y_ticks) = self.y_axis(panel, i, plot.top, height);
        let above = head.strip.into_iter();
        // From the row number, counted upwards, to the baseline.
        let above = above.map(|(x, row, text)| (x, plot.top - 5.0 - row * TICK_ROW, text));
        let beside = gutter(panel, &y, plot, planner.beside());
        // Centred under the panel, unless it is too wide for that: then it moves
        // sideways, as far as the page and the legend allow.
        let (low, last) = if self.columns > 1 {
            (place.left - 6.0, place.right + 6.0)
        } else {
            (0.0, place.last)
        };
        let x_label = x_label(panel);
        let x_label = font::elide(x_label.trim(), last - low - 12.0, LABEL, Weight::Regular);
        let half = font::width(&x_label, LABEL, Weight::Regular) / 2.0;
        let x_label_x = ((plot.left + plot.right) / 2.0)
            .min(last - 6.0 - half)
            .max(low + 6.0 + half);
        PanelBox {
            plot,
            y,
            y_ticks,
            y_label: y_label(panel, height),
            y_label_x: place.y_label_x,
            across: head.across,
            x_label,
            x_label_x,
            x_shown: true,
            y_shown: true,
            title: head.title,
            title_y: plot.top - strip_room - 20.0 + LABEL,
            above: above.collect(),
            beside,
            empty: self.values[i].y.is_empty(),
        }
    }
}

/// The texts above a panel, and its x axis.
struct Head {
    title: String,
    across: Across,
    /// Centre, row counted upwards, text.
    strip: Vec<(f64, f64, String)>,
    rows: f64,
    height: f64,
}

fn x_label(panel: &Panel) -> &str {
    match &panel.content {
        Content::Xy { x, .. } | Content::Rows { x, .. } => &x.label,
        Content::Bars(bars) => &bars.label,
        Content::Boxes(boxes) => &boxes.label,
        Content::Heat(heat) => &heat.label,
    }
}

fn y_label(panel: &Panel, height: f64) -> Vec<String> {
    font::wrap(&panel.y.label, height + 8.0, LABEL, Weight::Regular, 2)
}

/// The room that the words right of a panel take.
fn gutter_room(panel: &Panel, most: f64) -> f64 {
    let labels = panel.annotations.iter().map(|annotation| match annotation {
        Annotation::Horizontal { label, .. } => {
            let width = font::width(label.trim(), super::measures::SMALL, Weight::Regular);
            if width > 0.0 {
                width.min(most) + 6.0
            } else {
                0.0
            }
        }
        Annotation::Vertical { .. } => 0.0,
    });
    let bar = match &panel.content {
        Content::Heat(_) => BAR_ROOM,
        _ => 0.0,
    };
    labels.fold(bar, f64::max)
}

/// An axis of names, from top to bottom; names that would touch are left out.
fn name_axis(names: &[String], longest: f64, top: f64, height: f64) -> (Scale, Ticks) {
    let count = names.len().max(1) as f64;
    let scale = Scale::new(
        super::axis::ScaleKind::Linear,
        (0.0, count),
        top + height,
        top,
    );
    let every = ((TICK + 2.0) * count / height).ceil().max(1.0) as usize;
    let place = |(i, name): (usize, &String)| {
        let text = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = font::elide_middle(&text, longest, TICK, Weight::Regular);
        (count - i as f64 - 0.5, text)
    };
    let major = names.iter().enumerate().step_by(every).map(place).collect();
    let minor = Vec::new();
    (scale, Ticks { major, minor })
}
