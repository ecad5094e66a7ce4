//! Maps of coloured cells: a number for each pair of two categories.

use super::content::Heat;
use super::measures::{PanelBox, SMALL, TICK};
use super::scale::{self, Padding, Scale, Ticks};
use crate::font::{self, Weight};
use crate::svg::{AXIS, Anchor, INK, Svg, TextStyle};

/// From low to high: dark to light at an even pace, also for colour-blind
/// readers and in print without colour (after the scheme *viridis*).
const COLOURS: [(u8, u8, u8); 6] = [
    (68, 1, 84),
    (65, 68, 135),
    (42, 120, 142),
    (34, 168, 132),
    (122, 209, 81),
    (253, 231, 37),
];

/// The width of the colour scale next to a map.
pub(super) const BAR_ROOM: f64 = 88.0;
/// The part of it that the label of that axis takes.
const LABEL_ROOM: f64 = 16.0;
const BAR_GAP: f64 = 14.0;
const BAR_WIDTH: f64 = 12.0;

fn mixed(share: f64) -> (f64, f64, f64) {
    let last = COLOURS.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last - 1);
    let part = at - below as f64;
    let (a, b) = (COLOURS[below], COLOURS[below + 1]);
    let mix = |a: u8, b: u8| f64::from(a) + part * (f64::from(b) - f64::from(a));
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

fn hex((r, g, b): (f64, f64, f64)) -> String {
    format!(
        "#{:02x}{:02x}{:02x}",
        r.round() as u8,
        g.round() as u8,
        b.round() as u8
    )
}

fn number(value: f64, decimals: usize) -> String {
    format!("{value:.*}", decimals.min(6)).replace('-', "−")
}

/// Draws the cells of `heat` and the axis of its colours; `reach` are the numbers
/// of all maps that share the colours.
pub(super) fn draw(svg: &mut Svg, heat: &Heat, area: &PanelBox, reach: &[f64]) {
    let plot = area.plot;
    if heat.columns.is_empty() || heat.rows.is_empty() {
        return;
    }
    let none = Padding {
        low: 0.0,
        high: 0.0,
    };
    let mut axis = heat.scale.clone();
    axis.zero = Some(axis.zero.unwrap_or(false));
    let range = scale::range(&axis, reach.iter().copied(), none);
    let share = Scale::new(axis.kind, range, 0.0, 1.0);
    let width = plot.width() / heat.columns.len() as f64;
    let height = plot.height() / heat.rows.len() as f64;
    for (r, row) in heat.values.iter().take(heat.rows.len()).enumerate() {
        for (c, value) in row.iter().take(heat.columns.len()).enumerate() {
            let Some(at) = share.at(*value) else { continue };
            let (x, y) = (plot.left + c as f64 * width, plot.top + r as f64 * height);
            let colour = mixed(at);
            svg.tag("rect")
                .num("x", x + 0.5)
                .num("y", y + 0.5)
                .num("width", (width - 1.0).max(0.2))
                .num("height", (height - 1.0).max(0.2))
                .attr("fill", &hex(colour))
                .close();
            let text = number(*value, heat.decimals);
            let fits = font::width(&text, TICK, Weight::Regular) + 6.0 <= width;
            if fits && height >= TICK + 3.0 {
                // Weighted as the eye weighs the colours.
                let light = 0.299 * colour.0 + 0.587 * colour.1 + 0.114 * colour.2;
                let fill = if light > 140.0 { INK } else { "#ffffff" };
                let style = TextStyle::new(TICK, fill).anchor(Anchor::Middle);
                svg.text(
                    x + width / 2.0,
                    y + height / 2.0 + 0.36 * TICK,
                    &text,
                    style,
                );
            }
        }
    }
    draw_bar(svg, heat, area, range);
}

fn draw_bar(svg: &mut Svg, heat: &Heat, area: &PanelBox, range: (f64, f64)) {
    let plot = area.plot;
    let left = plot.right + BAR_GAP;
    let steps = 48;
    let tall = plot.height() / f64::from(steps);
    for i in 0..steps {
        let share = 1.0 - (f64::from(i) + 0.5) / f64::from(steps);
        svg.tag("rect")
            .num("x", left)
            .num("y", plot.top + f64::from(i) * tall)
            .num("width", BAR_WIDTH)
            .num(
                "height",
                (tall + 0.4).min(plot.bottom - plot.top - f64::from(i) * tall),
            )
            .attr("fill", &hex(mixed(share)))
            .close();
    }
    let scale = Scale::new(heat.scale.kind, range, plot.bottom, plot.top);
    let target = ((plot.height() / 24.0) as usize).clamp(2, 7);
    let mut ticks: Ticks = scale::fit(&scale, target, 5.0, |_| TICK);
    if ticks.major.len() < 2 {
        let ends = [range.0, range.1].map(|v| (v, number(v, heat.decimals)));
        ticks.major = ends.to_vec();
    }
    let room = BAR_ROOM - BAR_GAP - BAR_WIDTH - 7.0 - LABEL_ROOM;
    let label = font::elide(&heat.scale.label, plot.height(), SMALL, Weight::Regular);
    let style = TextStyle::new(SMALL, INK)
        .anchor(Anchor::Middle)
        .rotate(-90.0);
    let middle = (plot.top + plot.bottom) / 2.0;
    svg.text(plot.right + BAR_ROOM - 3.0, middle, &label, style);
    for (value, label) in &ticks.major {
        let Some(y) = scale.at(*value) else { continue };
        let right = left + BAR_WIDTH;
        svg.line((right, y), (right + 3.0, y), AXIS, 1.0);
        let y = y.clamp(plot.top + 4.0, plot.bottom - 1.0);
        let label = font::elide(label, room, SMALL, Weight::Regular);
        svg.text(
            right + 6.0,
            y + 0.36 * SMALL,
            &label,
            TextStyle::new(SMALL, INK),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_dark_to_light() {
        assert_eq!(hex(mixed(0.0)), "#440154");
        assert_eq!(hex(mixed(1.0)), "#fde725");
        assert_eq!(hex(mixed(7.0)), "#fde725");
        let light = |s: f64| {
            let (r, g, b) = mixed(s);
            0.299 * r + 0.587 * g + 0.114 * b
        };
        let shades: Vec<f64> = (0..=20).map(|i| light(f64::from(i) / 20.0)).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
