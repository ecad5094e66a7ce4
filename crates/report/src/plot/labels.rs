//! The words around a panel: categories below it, annotations above and next to it.

use super::measures::{Across, Rect, SMALL, Sides, TICK, TICK_GAP, TICK_ROW};
use super::model::{Annotation, Panel};
use super::scale::Scale;
use crate::font::{self, Weight};

/// Rows of annotations above a panel.
const STRIP_ROWS: usize = 3;
/// Slant of category labels that fit in no other way: 40 degrees.
pub(super) const SLANT: f64 = -40.0;
const SLANT_COS: f64 = 0.766;
const SLANT_SIN: f64 = 0.643;
const SLANT_LONGEST: f64 = 170.0;

pub(super) fn across_height(across: &Across) -> f64 {
    match across {
        Across::Numbers(..) => TICK_GAP + TICK_ROW,
        Across::Upright(labels) => {
            TICK_GAP + TICK_ROW * labels.iter().map(Vec::len).max().unwrap_or(0) as f64
        }
        Across::Slanted(labels) => {
            let width = |label: &String| font::width(label, TICK, Weight::Regular);
            let longest = labels.iter().map(width).fold(0.0, f64::max);
            TICK_GAP + longest * SLANT_SIN + TICK
        }
    }
}

/// Category labels: upright on up to three lines if every word fits under its
/// group, else on a slant, where they may begin left of the panel at `reach`.
pub(super) fn category_labels(
    categories: &[String],
    (left, right): (f64, f64),
    reach: f64,
) -> Across {
    let cell = (right - left) / categories.len().max(1) as f64;
    let upright: Vec<Vec<String>> = categories
        .iter()
        .map(|c| font::balance(c, cell - 8.0, TICK, Weight::Regular, 3))
        .collect();
    let whole = |(text, lines): (&String, &Vec<String>)| {
        text.split_whitespace()
            .eq(lines.iter().flat_map(|l| l.split_whitespace()))
    };
    if categories.iter().zip(&upright).all(whole) {
        return Across::Upright(upright);
    }
    let every = (15.0 / cell).ceil().max(1.0) as usize;
    let slanted = categories
        .iter()
        .enumerate()
        .map(|(i, text)| {
            if i % every != 0 {
                return String::new();
            }
            // The text ends under its group and reaches to the left.
            let end = left + (i as f64 + 0.5) * cell;
            let room = ((end - reach - 4.0) / SLANT_COS).min(SLANT_LONGEST);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            font::elide_middle(&text, room, TICK, Weight::Regular)
        })
        .collect();
    Across::Slanted(slanted)
}

/// Places the labels of vertical lines above a panel: centre, row, text. A
/// label that finds no row is left out; its line stays.
pub(super) fn strip(panel: &Panel, across: &Across, place: Sides) -> Vec<(f64, f64, String)> {
    let Across::Numbers(scale, _) = across else {
        return Vec::new();
    };
    let mut wanted: Vec<(f64, String)> = panel
        .annotations
        .iter()
        .filter_map(|annotation| match annotation {
            Annotation::Vertical { x, label } if scale.contains(*x) && !label.trim().is_empty() => {
                let room = (place.right - place.left) / 2.0;
                Some((
                    scale.at(*x)?,
                    font::elide(label.trim(), room, SMALL, Weight::Regular),
                ))
            }
            _ => None,
        })
        .collect();
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ends = [f64::NEG_INFINITY; STRIP_ROWS];
    let mut placed = Vec::new();
    for (at, label) in wanted {
        let half = font::width(&label, SMALL, Weight::Regular) / 2.0;
        let centre = at.min(place.right - half).max(place.left + half);
        if let Some(row) = ends.iter().position(|end| centre - half >= end + 8.0) {
            ends[row] = centre + half;
            placed.push((centre, row as f64, label));
        }
    }
    placed
}

/// Places the labels of horizontal lines at the right of a panel, moved apart.
pub(super) fn gutter(panel: &Panel, y: &Scale, plot: Rect, room: f64) -> Vec<(f64, String)> {
    let mut wanted: Vec<(f64, String)> = panel
        .annotations
        .iter()
        .filter_map(|annotation| match annotation {
            Annotation::Horizontal { y: at, label } if y.contains(*at) => {
                let label = font::elide(label.trim(), room, SMALL, Weight::Regular);
                Some((y.at(*at)?, label)).filter(|(_, label)| !label.is_empty())
            }
            _ => None,
        })
        .collect();
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
    wanted.truncate((plot.height() / TICK_ROW) as usize);
    let mut lowest = plot.top - TICK_ROW;
    for (at, _) in &mut wanted {
        *at = at.max(lowest + TICK_ROW);
        lowest = *at;
    }
    let mut highest = plot.bottom + TICK_ROW;
    for (at, _) in wanted.iter_mut().rev() {
        *at = at.min(highest - TICK_ROW);
        highest = *at;
    }
    wanted
}
