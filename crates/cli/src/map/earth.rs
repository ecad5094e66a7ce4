//! The earth below: continents by hand, meridians and parallels, a rectangle of
//! both (equirectangular projection).

use bentpipe_orbit::Position;
use bentpipe_report::svg::{Anchor, INK_SOFT, Svg, TextStyle, num, path};
use bentpipe_units::math::{acos, cos, sin};

const LAND_FILL: &str = "#e9ece4";
const LAND_EDGE: &str = "#c2c8ba";
const SEA: &str = "#f7fafc";

/// Coasts, about 2 degrees coarse: longitude and latitude in degrees, drawn by
/// hand for this map. For orientation only.
#[rustfmt::skip]
const LAND: &[&[(i16, i8)]] = &[
    // North America
    &[(-168,66),(-162,70),(-156,71),(-141,70),(-128,70),(-115,68),(-95,68),(-94,72),(-88,69),(-82,69),(-82,66),(-87,64),(-94,61),(-94,58),(-88,57),(-82,55),(-80,51),(-79,55),(-77,58),(-78,62),(-74,62),(-70,61),(-69,58),(-65,60),(-62,57),(-56,52),(-60,50),(-66,50),(-65,48),(-61,46),(-66,44),(-70,43),(-74,41),(-76,37),(-76,35),(-81,31),(-80,26),(-81,25),(-83,28),(-84,30),(-90,29),(-94,30),(-97,28),(-98,22),(-95,19),(-91,18),(-90,21),(-87,21),(-88,16),(-84,16),(-83,12),(-82,9),(-79,9),(-77,8),(-80,7),(-83,8),(-86,11),(-88,13),(-92,14),(-95,16),(-99,17),(-105,20),(-106,23),(-109,26),(-113,31),(-115,32),(-112,28),(-109,23),(-112,25),(-115,29),(-117,32),(-121,35),(-124,40),(-124,46),(-128,51),(-131,55),(-136,58),(-141,60),(-148,60),(-152,59),(-158,56),(-164,55),(-158,59),(-162,60),(-166,62),(-161,64)],
    // Greenland, islands of the Arctic
    &[(-73,78),(-60,82),(-35,83),(-20,81),(-20,75),(-22,70),(-32,68),(-40,65),(-43,60),(-48,61),(-52,65),(-54,70),(-60,76)],
    &[(-80,73),(-72,71),(-62,66),(-66,62),(-73,64),(-78,68),(-88,71),(-88,73)],
    &[(-90,77),(-76,79),(-62,82),(-80,83),(-95,80)],
    &[(-117,70),(-105,69),(-102,72),(-110,73),(-118,72)],
    &[(52,71),(57,71),(68,77),(60,76)], &[(11,79),(17,77),(27,80)],
    &[(-24,65),(-22,64),(-18,63),(-14,65),(-16,66),(-22,66)], &[(-59,48),(-53,47),(-56,51)],
    // South America
    &[(-77,8),(-72,12),(-68,11),(-62,11),(-57,6),(-51,4),(-50,0),(-44,-2),(-39,-3),(-35,-6),(-35,-9),(-39,-13),(-39,-18),(-42,-23),(-48,-26),(-49,-29),(-54,-34),(-58,-35),(-57,-38),(-62,-39),(-65,-42),(-66,-46),(-68,-50),(-68,-53),(-66,-55),(-72,-54),(-75,-50),(-74,-44),(-73,-39),(-71,-33),(-70,-20),(-76,-14),(-81,-6),(-80,-2),(-80,1),(-77,4)],
    &[(-85,22),(-80,23),(-74,20),(-78,20)], &[(-74,18),(-72,20),(-68,19),(-71,18)],
    // Africa
    &[(-6,36),(-1,35),(10,37),(11,34),(15,32),(20,31),(20,33),(25,32),(32,31),(34,28),(36,24),(37,21),(39,16),(43,12),(44,10),(51,12),(48,4),(42,-2),(39,-6),(41,-11),(41,-15),(35,-20),(36,-24),(33,-27),(30,-31),(26,-34),(20,-35),(18,-32),(15,-26),(12,-18),(14,-11),(12,-6),(9,-1),(10,4),(5,4),(-2,5),(-8,4),(-13,8),(-17,13),(-17,21),(-13,28),(-10,30)],
    &[(49,-12),(50,-16),(47,-25),(44,-24),(43,-21),(44,-16)],
    // Europe and Asia
    &[(-9,39),(-9,43),(-2,43),(-1,46),(-5,48),(2,51),(5,53),(8,54),(8,57),(10,57),(10,55),(11,54),(14,54),(19,54),(21,57),(24,57),(24,59),(30,60),(23,60),(21,61),(25,65),(22,66),(17,61),(19,60),(16,57),(14,55),(13,56),(11,59),(8,58),(5,59),(5,62),(12,66),(19,70),(26,71),(31,70),(41,67),(38,64),(44,66),(46,68),(54,69),(60,69),(68,69),(67,71),(72,73),(75,72),(81,73),(90,75),(104,77),(113,74),(129,71),(140,73),(160,70),(170,70),(180,69),(190,66),(182,62),(170,60),(163,58),(162,55),(157,51),(156,57),(163,62),(155,59),(143,59),(135,55),(141,53),(140,48),(136,44),(131,43),(128,40),(129,36),(126,34),(127,37),(125,40),(121,39),(118,39),(122,37),(119,35),(122,31),(121,28),(117,23),(110,21),(108,21),(106,19),(109,13),(106,10),(105,9),(103,11),(100,13),(100,10),(103,2),(101,3),(98,8),(98,13),(97,17),(94,16),(94,18),(91,22),(87,21),(82,16),(80,13),(80,10),(77,8),(74,14),(73,19),(72,21),(69,22),(67,25),(57,26),(56,27),(50,30),(48,30),(50,26),(51,25),(54,24),(56,26),(60,22),(58,19),(52,16),(45,13),(43,13),(42,17),(39,21),(35,28),(34,31),(36,36),(30,36),(27,37),(26,39),(29,41),(35,42),(41,41),(37,45),(39,47),(35,46),(33,45),(31,46),(28,43),(28,41),(24,41),(23,40),(24,38),(22,36),(19,41),(19,42),(14,45),(12,45),(14,43),(18,40),(16,39),(16,38),(15,40),(11,42),(9,44),(4,43),(3,42),(0,39),(-2,37),(-5,36),(-9,37)],
    &[(-5,50),(1,51),(2,53),(-1,55),(-2,58),(-5,59),(-6,56),(-3,54),(-5,52)], &[(-10,52),(-6,52),(-6,54),(-8,55),(-10,54)],
    &[(12,38),(15,38),(15,37)], &[(8,39),(10,39),(9,41)],
    &[(130,31),(135,34),(140,36),(142,39),(141,41),(140,38),(137,37),(132,35),(130,34)], &[(140,42),(143,42),(145,43),(142,45)],
    &[(142,46),(144,49),(143,54),(142,52)], &[(120,23),(121,22),(122,25)], &[(80,10),(82,7),(80,6)],
    // Islands between Asia and Australia
    &[(120,16),(122,18),(122,14),(124,13),(120,14)], &[(122,7),(126,6),(126,10)],
    &[(109,1),(113,3),(117,7),(119,5),(117,1),(116,-4),(110,-3)], &[(95,6),(98,4),(104,-1),(106,-3),(106,-6),(102,-4),(99,2)],
    &[(105,-7),(108,-7),(115,-8),(114,-9),(106,-7)], &[(119,-5),(121,-3),(123,-5),(121,-1),(125,2),(120,1),(119,-3)],
    &[(131,-1),(135,-3),(138,-2),(145,-4),(148,-6),(151,-10),(146,-9),(143,-9),(138,-8),(133,-4)],
    // Australia, New Zealand
    &[(113,-22),(114,-26),(115,-34),(118,-35),(123,-34),(131,-31),(135,-35),(138,-33),(140,-38),(146,-39),(150,-37),(153,-31),(153,-25),(149,-20),(146,-19),(145,-15),(142,-11),(141,-17),(139,-17),(135,-15),(137,-12),(132,-11),(129,-15),(126,-14),(122,-18)],
    &[(145,-41),(148,-41),(147,-44)], &[(173,-34),(175,-37),(178,-38),(176,-41),(174,-39)], &[(173,-41),(174,-42),(171,-46),(168,-47),(166,-46)],
    // Antarctica
    &[(-180,-78),(-150,-77),(-135,-74),(-100,-73),(-75,-73),(-68,-68),(-58,-63),(-60,-68),(-62,-75),(-40,-78),(-20,-74),(0,-70),(30,-69),(50,-67),(80,-68),(90,-66),(110,-66),(135,-66),(160,-70),(168,-73),(165,-78),(180,-78),(180,-90),(-180,-90)],
];

/// The Caspian Sea.
#[rustfmt::skip]
const LAKE: &[(i16, i8)] = &[(47,45),(52,47),(53,45),(51,44),(53,40),(54,37),(50,37),(49,40)];

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
    let whole = |line: &[(i16, i8)]| -> Vec<(f64, f64)> {
        let points = line.iter();
        points.map(|p| (f64::from(p.0), f64::from(p.1))).collect()
    };
    let land: Vec<Vec<(f64, f64)>> = LAND.iter().map(|line| whole(line)).collect();
    svg.raw(format!(
        "<path d=\"{}\" fill=\"{LAND_FILL}\" stroke=\"{LAND_EDGE}\" stroke-width=\"0.8\" stroke-linejoin=\"round\"/>",
        view.outlines(&land, true)
    ));
    svg.raw(format!(
        "<path d=\"{}\" fill=\"{SEA}\" stroke=\"{LAND_EDGE}\" stroke-width=\"0.8\"/>",
        view.outlines(&[whole(LAKE)], true)
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
    fn a_view_holds_what_it_was_made_for() {
        let view = View::around(&[(179.0, 0.0), (-179.0, 4.0)], 960.0).unwrap();
        for (lon, lat) in [(179.0, 0.0), (-179.0, 4.0)] {
            let (x, y) = view.at(view.inside(lon), lat);
            assert!((0.0..960.0).contains(&x) && (0.0..480.0).contains(&y));
        }
        assert_eq!(View::around(&[(-120.0, 0.0), (60.0, 0.0)], 960.0), None);
    }
}
