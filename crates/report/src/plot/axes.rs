//! Grid, axes, tick labels and annotations of a panel.

use super::labels::{SLANT, across_height};
use super::measures::{Across, LABEL, LABEL_ROW, PanelBox, SMALL, TICK, TICK_GAP, TICK_ROW};
use super::model::{Annotation, Content, Panel};
use crate::svg::{AXIS, GRID, GRID_MINOR, INK, INK_SOFT};
use crate::svg::{Anchor, Svg, TextStyle};

/// The middle of the pixel that holds a coordinate: thin lines stay sharp.
fn sharp(v: f64) -> f64 {
    v.floor() + 0.5
}

fn vertical(svg: &mut Svg, area: &PanelBox, x: f64, colour: &str) {
    let x = sharp(x);
    svg.line((x, area.plot.top), (x, area.plot.bottom), colour, 1.0);
}

fn horizontal(svg: &mut Svg, area: &PanelBox, y: f64, colour: &str) {
    let y = sharp(y);
    svg.line((area.plot.left, y), (area.plot.right, y), colour, 1.0);
}

/// Draws what lies under the data: the grid and the annotations' lines.
pub(super) fn draw_under(svg: &mut Svg, panel: &Panel, area: &PanelBox) {
    if area.empty {
        return;
    }
    if let Across::Numbers(scale, ticks) = &area.across {
        for x in ticks.minor.iter().filter_map(|v| scale.at(*v)) {
            vertical(svg, area, x, GRID_MINOR);
        }
    }
    if matches!(panel.content, Content::Heat(_)) {
        return;
    }
    let named = matches!(panel.content, Content::Rows { .. });
    for y in area.y_ticks.minor.iter().filter_map(|v| area.y.at(*v)) {
        horizontal(svg, area, y, GRID_MINOR);
    }
    if let Across::Numbers(scale, ticks) = &area.across {
        for x in ticks.major.iter().filter_map(|(v, _)| scale.at(*v)) {
            vertical(svg, area, x, GRID);
        }
    }
    for y in area.y_ticks.major.iter().filter_map(|(v, _)| area.y.at(*v)) {
        if !named {
            horizontal(svg, area, y, GRID);
        }
    }
    for annotation in &panel.annotations {
        let (from, to) = match annotation {
            Annotation::Vertical { x, .. } => {
                let Across::Numbers(scale, _) = &area.across else {
                    continue;
                };
                let Some(at) = scale.at(*x).filter(|_| scale.contains(*x)) else {
                    continue;
                };
                (
                    (sharp(at), area.plot.top - 3.0),
                    (sharp(at), area.plot.bottom),
                )
            }
            Annotation::Horizontal { y, .. } => {
                let Some(at) = area.y.at(*y).filter(|_| area.y.contains(*y)) else {
                    continue;
                };
                (
                    (area.plot.left, sharp(at)),
                    (area.plot.right + 3.0, sharp(at)),
                )
            }
        };
        svg.tag("line")
            .num("x1", from.0)
            .num("y1", from.1)
            .num("x2", to.0)
            .num("y2", to.1)
            .attr("stroke", INK_SOFT)
            .attr("stroke-dasharray", "5 4")
            .close();
    }
}

/// Draws what lies over the data: the axes, their labels, all other text.
pub(super) fn draw_over(svg: &mut Svg, area: &PanelBox) {
    let plot = area.plot;
    draw_gaps(svg, area);
    if area.y.contains(0.0)
        && !area.empty
        && let Some(y) = area.y.at(0.0).filter(|y| (*y - plot.bottom).abs() > 1.0)
    {
        horizontal(svg, area, y, AXIS);
    }
    horizontal(svg, area, plot.bottom, AXIS);
    let x = sharp(plot.left);
    svg.line((x, plot.top), (x, plot.bottom + 1.0), AXIS, 1.0);

    let ticks = TextStyle::new(TICK, INK);
    for (value, label) in &area.y_ticks.major {
        let Some(y) = area.y.at(*value) else { continue };
        svg.line(
            (plot.left - 4.0, sharp(y)),
            (plot.left, sharp(y)),
            AXIS,
            1.0,
        );
        if !area.y_shown {
            continue;
        }
        let place = (plot.left - TICK_GAP, y + 0.36 * TICK + 0.5);
        svg.text(place.0, place.1, label, ticks.anchor(Anchor::End));
    }
    let mut middle = TextStyle::new(LABEL, INK)
        .anchor(Anchor::Middle)
        .rotate(-90.0);
    let centre = (plot.top + plot.bottom) / 2.0;
    let label = area.y_label.iter().filter(|_| area.y_shown);
    for (i, line) in label.enumerate() {
        let x = area.y_label_x + LABEL - 1.0 + i as f64 * LABEL_ROW;
        svg.text(x, centre, line, middle);
    }
    middle = middle.rotate(0.0);

    draw_across(svg, area, ticks);
    if area.x_shown && !area.x_label.is_empty() {
        let labels = across_height(&area.across);
        svg.text(
            area.x_label_x,
            plot.bottom + labels + 15.0,
            &area.x_label,
            middle,
        );
    }
    if !area.title.is_empty() {
        svg.text(
            plot.left,
            area.title_y,
            &area.title,
            TextStyle::new(LABEL, INK).bold(),
        );
    }
    let small = TextStyle::new(SMALL, INK_SOFT);
    for (x, y, label) in &area.above {
        svg.text(*x, *y, label, small.anchor(Anchor::Middle));
    }
    for (y, label) in &area.beside {
        svg.text(plot.right + 6.0, y + 0.36 * SMALL, label, small);
    }
    if area.empty {
        let place = ((plot.left + plot.right) / 2.0, centre + 0.36 * LABEL);
        let style = TextStyle::new(LABEL, INK_SOFT).anchor(Anchor::Middle);
        svg.text(place.0, place.1, "no data", style);
    }
}

/// Draws the gaps of broken axes: a white stripe across the panel, and two strokes
/// where it crosses the axis.
fn draw_gaps(svg: &mut Svg, area: &PanelBox) {
    let plot = area.plot;
    let stripe = |svg: &mut Svg, x: f64, y: f64, width: f64, height: f64| {
        svg.tag("rect")
            .num("x", x)
            .num("y", y)
            .num("width", width)
            .num("height", height)
            .attr("fill", "#ffffff")
            .close();
    };
    for (low, high) in area.y.gaps() {
        stripe(svg, plot.left, high, plot.width(), low - high);
        for y in [low, high] {
            svg.line((plot.left, y), (plot.right, y), GRID, 1.0);
            svg.line(
                (plot.left - 4.0, y + 3.0),
                (plot.left + 4.0, y - 3.0),
                AXIS,
                1.0,
            );
        }
    }
    if let Across::Numbers(scale, _) = &area.across {
        for (low, high) in scale.gaps() {
            stripe(svg, low, plot.top, high - low, plot.height());
            for x in [low, high] {
                svg.line((x, plot.top), (x, plot.bottom), GRID, 1.0);
                svg.line(
                    (x - 3.0, plot.bottom + 4.0),
                    (x + 3.0, plot.bottom - 4.0),
                    AXIS,
                    1.0,
                );
            }
        }
    }
}

fn draw_across(svg: &mut Svg, area: &PanelBox, style: TextStyle) {
    let plot = area.plot;
    let first = plot.bottom + TICK_GAP + 9.0;
    let cell = |count: usize| plot.width() / count.max(1) as f64;
    match &area.across {
        Across::Numbers(scale, ticks) => {
            for (value, label) in &ticks.major {
                let Some(x) = scale.at(*value) else { continue };
                svg.line(
                    (sharp(x), plot.bottom),
                    (sharp(x), plot.bottom + 4.0),
                    AXIS,
                    1.0,
                );
                if area.x_shown && !label.is_empty() {
                    svg.text(x, first, label, style.anchor(Anchor::Middle));
                }
            }
        }
        Across::Upright(labels) if area.x_shown => {
            for (i, lines) in labels.iter().enumerate() {
                let x = plot.left + (i as f64 + 0.5) * cell(labels.len());
                for (row, line) in lines.iter().enumerate() {
                    let y = first + row as f64 * TICK_ROW;
                    svg.text(x, y, line, style.anchor(Anchor::Middle));
                }
            }
        }
        Across::Slanted(labels) if area.x_shown => {
            for (i, label) in labels
                .iter()
                .enumerate()
                .filter(|(_, label)| !label.is_empty())
            {
                let x = plot.left + (i as f64 + 0.5) * cell(labels.len());
                let style = style.anchor(Anchor::End).rotate(SLANT);
                svg.text(x + 3.0, first, label, style);
            }
        }
        Across::Upright(_) | Across::Slanted(_) => {}
    }
}
