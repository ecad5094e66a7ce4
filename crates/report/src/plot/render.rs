//! From a chart to its SVG.

use super::axis::Axis;
use super::content::Heat;
use super::layout;
use super::legend::LegendBox;
use super::measures::{SMALL, SUBTITLE, TITLE};
use super::model::{Chart, Content, Panel};
use super::style::Styles;
use super::{axes, bars, boxes, heat, xy};
use crate::svg::{INK, INK_SOFT};
use crate::svg::{Svg, TextStyle};

impl Chart {
    /// Draws the chart.
    #[must_use]
    pub fn to_svg(&self) -> String {
        render(self)
    }
}

/// Draws a chart.
fn render(chart: &Chart) -> String {
    if chart.panels.is_empty() {
        let nothing = Panel::xy(Axis::default(), Axis::default());
        return render(&chart.clone().panel(nothing));
    }
    let styles = Styles::assign(chart);
    let page = layout::plan(chart, || LegendBox::of(chart, &styles));
    let name = if chart.title.trim().is_empty() {
        "figure"
    } else {
        chart.title.trim()
    };
    let mut svg = Svg::new(page.width, page.height, name);
    for (y, line) in &page.title {
        svg.text(page.left, *y, line, TextStyle::new(TITLE, INK).bold());
    }
    for (y, line) in &page.subtitle {
        svg.text(page.left, *y, line, TextStyle::new(SUBTITLE, INK_SOFT));
    }
    for (panel, area) in chart.panels.iter().zip(&page.panels) {
        axes::draw_under(&mut svg, panel, area);
        match &panel.content {
            Content::Xy { series, .. } => xy::draw(&mut svg, series, area, &styles),
            Content::Bars(groups) => bars::draw(&mut svg, groups, area, &styles),
            Content::Rows { bars, .. } => bars::draw_rows(&mut svg, bars, area, &styles),
            Content::Boxes(groups) => boxes::draw(&mut svg, groups, area, &styles),
            Content::Heat(map) => heat::draw(&mut svg, map, area, &shared_colours(chart, map)),
        }
        axes::draw_over(&mut svg, area);
    }
    page.legend
        .draw(&mut svg, page.legend_at.0, page.legend_at.1);
    for (y, line) in &page.note {
        svg.text(page.left, *y, line, TextStyle::new(SMALL, INK_SOFT));
    }
    svg.finish()
}

/// The numbers of all maps of a chart whose colours mean the same.
fn shared_colours(chart: &Chart, map: &Heat) -> Vec<f64> {
    let maps = chart
        .panels
        .iter()
        .filter_map(|panel| match &panel.content {
            Content::Heat(other) if other.scale == map.scale => Some(other),
            _ => None,
        });
    maps.flat_map(Heat::numbers).collect()
}
