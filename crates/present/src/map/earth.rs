//! The earth below: land, meridians and parallels, a rectangle of
//! both (equirectangular projection).

use bentpipe_orbit::Position;
use bentpipe_report::svg::{Anchor, INK_SOFT, Svg, TextStyle, num, path};
use bentpipe_units::math::{acos, cos, sin};
use std::sync::OnceLock;

const LAND_FILL: &str = "#e9ece4";
const LAND_EDGE: &str = "#c2c8ba";
const SEA: &str = "#f7fafc";

/// Coasts: Natural Earth's land of 1:110 million; the file says how it is packed.
const LAND: &str = include_str!("land.txt");

/// The rings of land and of the Caspian Sea inside it: longitude and latitude in
/// degrees. `crates/orbit/data/natural_earth.py` writes them.
fn land() -> &'static [Vec<(f64, f64)>] {
    static RINGS: OnceLock<Vec<Vec<(f64, f64)>>> = OnceLock::new();
    RINGS.get_or_init(|| rings(LAND))
}

/// A ring a line: the first point, then steps, in hundredths of a degree.
fn rings(text: &str) -> Vec<Vec<(f64, f64)>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let ring = |line: &str| {
        let (mut x, mut y) = (0i32, 0i32);
        let steps = line.split(' ').filter_map(|step| step.split_once(','));
        let steps =
            steps.filter_map(|(x, y)| Some((x.parse::<i32>().ok()?, y.parse::<i32>().ok()?)));
        let points = steps.map(|step| {
            (x, y) = (x.saturating_add(step.0), y.saturating_add(step.1));
            (f64::from(x) / 100.0, f64::from(y) / 100.0)
        });
        points.collect()
    };
    lines.map(ring).collect()
}

/// What part of the earth is drawn where: twice as wide as high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Longitude of the left edge, degrees.
    pub(super) left: f64,
    /// Latitude of the upper edge.
    pub(super) top: f64,
    /// Pixels of a degree.
    pub(super) scale: f64,
    /// Pixels.
    pub(super) width: f64,
    /// Pixels.
    pub(super) height: f64,
}

impl View {
    /// The whole earth.
    pub(super) fn world(width: f64) -> View {
        View {
            left: -180.0,
            top: 90.0,
            scale: width / 360.0,
            width,
            height: width / 2.0,
        }
    }

    /// A part of the earth around `points` (longitude, latitude), with room
    /// around them; none if that is most of it.
    pub(super) fn around(points: &[(f64, f64)], width: f64) -> Option<View> {
        let &(first, _) = points.first()?;
        let (mut west, mut east, mut south, mut north) = (0.0f64, 0.0f64, 90.0f64, -90.0f64);
        for &(lon, lat) in points {
            let off = wrapped(lon - first);
            (west, east) = (west.min(off), east.max(off));
            (south, north) = (south.min(lat), north.max(lat));
        }
        let span = (east - west).max(2.0 * (north - south)).max(24.0) * 1.5;
        if span > 200.0 {
            return None;
        }
        let top = ((north + south) / 2.0 + span / 4.0).clamp(-90.0 + span / 2.0, 90.0);
        Some(View {
            left: first + (east + west - span) / 2.0,
            top,
            scale: width / span,
            width,
            height: width / 2.0,
        })
    }

    /// Degrees from the left edge to the right one.
    pub(super) fn span(self) -> f64 {
        self.width / self.scale
    }

    /// Where a place is drawn; longitudes do not wrap.
    pub(super) fn at(self, lon: f64, lat: f64) -> (f64, f64) {
        (
            (lon - self.left) * self.scale,
            (self.top - lat) * self.scale,
        )
    }

    /// The longitude, by whole turns, that lies inside the view, or first to
    /// its right.
    pub(super) fn inside(self, lon: f64) -> f64 {
        self.left + (lon - self.left).rem_euclid(360.0)
    }

    /// Draws closed or open outlines (degrees, longitudes running on over 180)
    /// wherever a turn of them meets the view.
    pub(super) fn outlines(self, lines: &[Vec<(f64, f64)>], closed: bool) -> String {
        let mut data = String::new();
        let right = self.left + self.span();
        for line in lines {
            let west = line.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
            let east = line.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
            for turn in -2..=2 {
                let by = 360.0 * f64::from(turn);
                if east + by < self.left || west + by > right || !(east - west).is_finite() {
                    continue;
                }
                let points: Vec<(f64, f64)> = line.iter().map(|p| self.at(p.0 + by, p.1)).collect();
                data.push_str(&path(&points, closed));
            }
        }
        data
    }
}

/// An angle between -180 and 180 degrees.
pub(super) fn wrapped(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

/// Sea, land and the lines of the earth.
pub(super) fn draw(svg: &mut Svg, view: View) {
    svg.raw(format!(
        "<rect width=\"{}\" height=\"{}\" fill=\"{SEA}\"/>",
        num(view.width),
        num(view.height)
    ));
    // Inner rings are water: the rule of even and odd leaves them out.
    svg.raw(format!(
        "<path d=\"{}\" fill=\"{LAND_FILL}\" fill-rule=\"evenodd\" stroke=\"{LAND_EDGE}\" stroke-width=\"0.8\" stroke-linejoin=\"round\"/>",
        view.outlines(land(), true)
    ));
    let step = match view.span() {
        s if s > 180.0 => 30.0,
        s if s > 60.0 => 10.0,
        s if s > 24.0 => 5.0,
        _ => 2.0,
    };
    let mut lines = Vec::new();
    let (right, bottom) = (view.left + view.span(), view.top - view.height / view.scale);
    let mut lon = (view.left / step).ceil() * step;
    let small = TextStyle::new(10.0, INK_SOFT).outlined();
    let mut texts: Vec<((f64, f64), String, TextStyle)> = Vec::new();
    while lon <= right {
        let ((x, top), (_, end)) = (view.at(lon, view.top), view.at(lon, bottom));
        lines.push(vec![(x, top), (x, end)]);
        let shown = wrapped(lon);
        let text = match shown {
            l if l.abs() < 0.5 => "0°".to_owned(),
            l if l < -179.5 => "180°".to_owned(),
            l if l < 0.0 => format!("{}° W", num(-l)),
            l => format!("{}° E", num(l)),
        };
        if x > 60.0 && x < view.width - 30.0 {
            texts.push(((x, view.height - 5.0), text, small.anchor(Anchor::Middle)));
        }
        lon += step;
    }
    let mut lat = (bottom / step).ceil() * step;
    while lat <= view.top {
        let (_, y) = view.at(view.left, lat);
        lines.push(vec![(0.0, y), (view.width, y)]);
        let text = match lat {
            l if l.abs() < 0.5 => "0°".to_owned(),
            l if l < 0.0 => format!("{}° S", num(-l)),
            l => format!("{}° N", num(l)),
        };
        if y > 12.0 && y < view.height - 18.0 {
            texts.push(((4.0, y - 3.0), text, small));
        }
        lat += step;
    }
    let data: String = lines.iter().map(|line| path(line, false)).collect();
    svg.raw(format!(
        "<path d=\"{data}\" fill=\"none\" stroke=\"#d5dbe1\" stroke-width=\"0.7\"/>"
    ));
    for (at, text, style) in texts {
        svg.text(at.0, at.1, &text, style);
    }
}

/// Longitude and latitude below a point in space, degrees.
pub(super) fn below(at: Position) -> (f64, f64) {
    let place = at.place();
    (place.longitude(), place.latitude())
}

/// The rim of the cap of `half` degrees around a place, ready to be filled: up
/// its eastern side and down the western one. Over a pole it runs along the
/// edge of the map.
pub(super) fn cap((lon, lat): (f64, f64), half: f64) -> Vec<(f64, f64)> {
    const STEPS: u32 = 24;
    let rad = |degrees: f64| degrees.to_radians();
    let (low, high) = ((lat - half).max(-90.0), (lat + half).min(90.0));
    let mut east = Vec::new();
    for i in 0..=STEPS {
        // Closer together at the ends, where the rim turns.
        let share = (1.0 - cos(core::f64::consts::PI * f64::from(i) / f64::from(STEPS))) / 2.0;
        let at = low + (high - low) * share;
        let below = cos(rad(at)) * cos(rad(lat));
        let above = cos(rad(half)) - sin(rad(at)) * sin(rad(lat));
        let wide = if above <= -below {
            180.0
        } else if above >= below {
            0.0
        } else {
            acos(above / below).to_degrees()
        };
        east.push((wide, at));
    }
    let west = east.iter().rev().map(|(wide, at)| (lon - wide, *at));
    let west: Vec<(f64, f64)> = west.collect();
    let mut rim: Vec<(f64, f64)> = east.iter().map(|(wide, at)| (lon + wide, *at)).collect();
    rim.extend(west);
    rim
}

/// The line below the straight one between two points in space, in pieces that
/// do not jump; longitudes run on over 180.
pub(super) fn track(a: Position, b: Position) -> Vec<Vec<(f64, f64)>> {
    let (from, to) = (below(a), below(b));
    let apart = wrapped(to.0 - from.0).abs().max((to.1 - from.1).abs());
    let steps = ((apart / 4.0).ceil() as u32).clamp(1, 45);
    let mut lines: Vec<Vec<(f64, f64)>> = vec![vec![from]];
    for i in 1..=steps {
        let share = f64::from(i) / f64::from(steps);
        let mix = |a: f64, b: f64| a + (b - a) * share;
        let (lon, lat) = below(Position {
            x: mix(a.x, b.x),
            y: mix(a.y, b.y),
            z: mix(a.z, b.z),
        });
        let line = lines.last_mut().expect("never empty");
        let before = line.last().copied().unwrap_or(from);
        let next = before.0 + wrapped(lon - before.0);
        if (next - before.0).abs() > 120.0 {
            lines.push(vec![(lon, lat)]);
        } else {
            line.push((next, lat));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_over_a_pole_reaches_around_the_earth() {
        let rim = cap((10.0, 80.0), 20.0);
        assert!(rim.iter().any(|p| p.1 == 90.0 && p.0 == 190.0));
        assert!(rim.iter().any(|p| p.1 == 90.0 && p.0 == -170.0));
        // Elsewhere its rim stands at the half angle from the middle.
        let rim = cap((0.0, 0.0), 30.0);
        let east = rim.iter().map(|p| p.0).fold(0.0, f64::max);
        assert!((east - 30.0).abs() < 1e-9, "{east}");
    }

    #[test]
    fn land_is_read_whole() {
        let land = land();
        assert_eq!(land.len(), LAND.lines().count() - 1);
        let points: usize = land.iter().map(Vec::len).sum();
        let steps = LAND.lines().skip(1).map(|line| line.split(' ').count());
        assert_eq!(points, steps.sum::<usize>());
        // The largest ring first; every point on the earth.
        assert!(land[0].len() > 1000);
        let inside = |p: &(f64, f64)| p.0.abs() <= 180.0 && p.1.abs() <= 90.0;
        assert!(land.iter().flatten().all(inside));
        // Even and odd: Moscow and Nairobi are land, the Caspian and the Atlantic are not.
        let dry = |lon: f64, lat: f64| {
            let edges = land.iter().flat_map(|ring| {
                let ends = ring.iter().skip(1).chain(ring.first());
                ring.iter().zip(ends)
            });
            let crossed = edges.filter(|((x, y), (u, v))| {
                (*y > lat) != (*v > lat) && lon < x + (u - x) * (lat - y) / (v - y)
            });
            crossed.count() % 2 == 1
        };
        assert!(dry(37.6, 55.75) && dry(36.8, -1.3) && dry(134.0, -25.0) && dry(-100.0, 40.0));
        assert!(!dry(50.5, 42.0) && !dry(-40.0, 30.0) && !dry(-140.0, -20.0));
    }

    #[test]
    fn a_view_holds_what_it_was_made_for() {
        let view = View::around(&[(179.0, 0.0), (-179.0, 4.0)], 960.0).unwrap();
        for (lon, lat) in [(179.0, 0.0), (-179.0, 4.0)] {
            let (x, y) = view.at(view.inside(lon), lat);
            assert!((0.0..960.0).contains(&x) && (0.0..480.0).contains(&y));
        }
        assert_eq!(View::around(&[(-120.0, 0.0), (60.0, 0.0)], 960.0), None);
    }
}
