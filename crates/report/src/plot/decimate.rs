//! Long lines, reduced to what a picture can show.

use super::series::{Series, Spread};

/// Cuts a line at its gaps, and reduces each run of points that falls into one
/// pixel column to its first, lowest, highest and last point, in their order.
///
/// The picture is the same as with all points to within half a pixel, and no
/// extreme is lost. Everything left of `left` counts as one column, and so does
/// everything right of `right`, so that a zoomed chart stays small
/// and its line still leaves the panel in the right direction. `points` have their x in
/// columns; `None` is a gap.
pub fn decimate(
    points: impl IntoIterator<Item = Option<(f64, f64)>>,
    left: f64,
    right: f64,
) -> Vec<Vec<(f64, f64)>> {
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut column = Column::default();
    for point in points {
        let Some(point) = point else {
            column.flush(&mut line);
            finish(&mut line, &mut lines);
            continue;
        };
        let place = (point.0 - left)
            .floor()
            .clamp(-1.0, (right - left).max(0.0) + 1.0);
        if column.points > 0 && place != column.place {
            column.flush(&mut line);
        }
        column.add(place, point);
    }
    column.flush(&mut line);
    finish(&mut line, &mut lines);
    lines
}

fn finish(line: &mut Vec<(f64, f64)>, lines: &mut Vec<Vec<(f64, f64)>>) {
    if !line.is_empty() {
        lines.push(std::mem::take(line));
    }
}

#[derive(Default)]
struct Column {
    place: f64,
    points: usize,
    first: (f64, f64),
    last: (f64, f64),
    /// With the number of the point in the column, to keep the order.
    low: (usize, (f64, f64)),
    high: (usize, (f64, f64)),
}

impl Column {
    fn add(&mut self, place: f64, point: (f64, f64)) {
        if self.points == 0 {
            self.place = place;
            self.first = point;
            self.low = (0, point);
            self.high = (0, point);
        }
        if point.1 < self.low.1.1 {
            self.low = (self.points, point);
        }
        if point.1 > self.high.1.1 {
            self.high = (self.points, point);
        }
        self.last = point;
        self.points += 1;
    }

    fn flush(&mut self, line: &mut Vec<(f64, f64)>) {
        if self.points == 0 {
            return;
        }
        push(line, self.first);
        let (a, b) = if self.low.0 <= self.high.0 {
            (self.low.1, self.high.1)
        } else {
            (self.high.1, self.low.1)
        };
        push(line, a);
        push(line, b);
        push(line, self.last);
        self.points = 0;
    }
}

/// Appends a point, dropping repeats and the middle of level stretches.
fn push(line: &mut Vec<(f64, f64)>, point: (f64, f64)) {
    if line.last() == Some(&point) {
        return;
    }
    if let [.., (x0, y0), (x1, y1)] = line[..]
        && y0 == y1
        && y1 == point.1
        && (x1 - x0) * (point.0 - x1) >= 0.0
    {
        line.pop();
    }
    line.push(point);
}

/// Points of a series from which on it may have more of them than a picture has
/// columns.
const MANY: usize = 6_000;
/// Parts of such a series, of which most must go up and down.
const PARTS: usize = 400;
/// How much of the range of the series a part must cover to count as going up and
/// down.
const SWING: f64 = 0.03;

/// Whether a series goes up and down so quickly that its line would be a solid
/// block: then the range in each column is shown, and a line through the means.
pub(super) fn is_dense(series: &Series) -> bool {
    let points = &series.points;
    if points.len() < MANY || !series.kind.has_line() || series.spread != Spread::None {
        return false;
    }
    let reach = |points: &[(f64, f64)]| {
        let finite = points.iter().map(|p| p.1).filter(|y| y.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
            (low.min(y), high.max(y))
        })
    };
    let (low, high) = reach(points);
    let swings = |part: &&[(f64, f64)]| {
        let (least, most) = reach(part);
        // A part that only rises or only falls is a slope, which a line shows.
        let ends = part.first().zip(part.last());
        let slope = ends.map_or(0.0, |(a, b)| (b.1 - a.1).abs());
        most - least > SWING * (high - low) && most - least > 1.5 * slope
    };
    let parts = points.chunks(points.len().div_ceil(PARTS));
    2 * parts.filter(swings).count() > PARTS
}

/// Statistics of a line in each pixel column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranges {
    /// The lowest point of each column, cut at gaps.
    pub(super) low: Vec<Vec<(f64, f64)>>,
    /// The highest point of each column, cut at gaps.
    pub(super) high: Vec<Vec<(f64, f64)>>,
    /// The mean of each column, cut at gaps.
    pub(super) mean: Vec<Vec<(f64, f64)>>,
}

/// The range and the mean of a line in each pixel column, of points in pixels.
pub(super) fn ranges(
    points: impl IntoIterator<Item = Option<(f64, f64)>>,
    left: f64,
    right: f64,
) -> Ranges {
    let mut all = Ranges::default();
    let (mut low, mut high, mut mean) = (Vec::new(), Vec::new(), Vec::new());
    let mut column: Option<(f64, f64, f64, f64, u32)> = None;
    let mut flush = |column: &mut Option<(f64, f64, f64, f64, u32)>, end: bool| {
        if let Some((x, least, most, sum, n)) = column.take() {
            low.push((x, least));
            high.push((x, most));
            mean.push((x, sum / f64::from(n)));
        }
        if end && !low.is_empty() {
            all.low.push(std::mem::take(&mut low));
            all.high.push(std::mem::take(&mut high));
            all.mean.push(std::mem::take(&mut mean));
        }
    };
    for point in points {
        let Some((x, y)) = point else {
            flush(&mut column, true);
            continue;
        };
        if x < left || x > right {
            continue;
        }
        let x = (x.floor() + 0.5).clamp(left, right);
        if column.is_some_and(|c| c.0 != x) {
            flush(&mut column, false);
        }
        let (_, least, most, sum, n) = column.get_or_insert((x, y, y, 0.0, 0));
        *least = least.min(y);
        *most = most.max(y);
        *sum += y;
        *n += 1;
    }
    flush(&mut column, true);
    all
}

/// Thins marks so that no two are in the same cell of `grain` pixels; the first one of a cell
/// stays.
pub(super) fn thin(points: &[(f64, f64)], grain: f64) -> Vec<(f64, f64)> {
    let mut taken = std::collections::BTreeSet::new();
    points
        .iter()
        .copied()
        .filter(|(x, y)| taken.insert(((x / grain).floor() as i64, (y / grain).floor() as i64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(n: usize, width: f64) -> Vec<Option<(f64, f64)>> {
        (0..n)
            .map(|i| {
                let x = i as f64 / n as f64 * width;
                Some((x, ((i * 7919) % 1009) as f64))
            })
            .collect()
    }

    #[test]
    fn keeps_the_extremes_of_every_column() {
        let points = saw(100_000, 200.0);
        let lines = decimate(points.clone(), 0.0, 200.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() <= 4 * 200, "{} points", lines[0].len());
        for column in 0..200 {
            let inside = |p: &&(f64, f64)| p.0.floor() == f64::from(column);
            let of = |points: Vec<f64>| {
                points
                    .iter()
                    .fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(*y), h.max(*y)))
            };
            let all: Vec<_> = points
                .iter()
                .flatten()
                .filter(inside)
                .map(|p| p.1)
                .collect();
            let kept: Vec<_> = lines[0].iter().filter(inside).map(|p| p.1).collect();
            assert_eq!(of(all), of(kept), "column {column}");
        }
    }

    #[test]
    fn a_single_spike_survives() {
        let mut points: Vec<_> = (0..50_000)
            .map(|i| Some((f64::from(i) / 500.0, 1.0)))
            .collect();
        points[31_415] = Some((62.83, 99.0));
        let lines = decimate(points, 0.0, 100.0);
        assert!(lines[0].iter().any(|p| p.1 == 99.0));
        assert!(
            lines[0].len() < 10,
            "level stretches take two points: {:?}",
            lines[0]
        );
    }

    #[test]
    fn noise_is_a_range_and_a_slope_is_a_line() {
        let of = |y: fn(f64) -> f64| {
            let points = (0..20_000).map(|i| (f64::from(i), y(f64::from(i))));
            is_dense(&Series::line("s", points))
        };
        assert!(of(|x| (x * 0.7) % 10.0));
        assert!(!of(|x| x / 50.0));
        assert!(!of(|x| (x / 5_000.0) % 1.0));
        let few = (0..100).map(|i| (f64::from(i), f64::from(i % 2)));
        assert!(!is_dense(&Series::line("s", few)));
        let points = [(0.2, 4.0), (0.4, 8.0), (0.6, 0.0), (3.0, 2.0)];
        let ranges = ranges(points.map(Some), 0.0, 10.0);
        assert_eq!(ranges.low, [vec![(0.5, 0.0), (3.5, 2.0)]]);
        assert_eq!(ranges.high, [vec![(0.5, 8.0), (3.5, 2.0)]]);
        assert_eq!(ranges.mean, [vec![(0.5, 4.0), (3.5, 2.0)]]);
    }

    #[test]
    fn gaps_cut_the_line() {
        let points = [
            Some((0.0, 1.0)),
            Some((1.0, 2.0)),
            None,
            None,
            Some((5.0, 0.0)),
        ];
        let lines = decimate(points, 0.0, 10.0);
        assert_eq!(lines, [vec![(0.0, 1.0), (1.0, 2.0)], vec![(5.0, 0.0)]]);
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [(0.2, 1.0), (0.4, 3.0), (0.6, 0.0), (7.0, 2.0)];
        let lines = decimate(points.map(Some), 0.0, 10.0);
        assert_eq!(lines, [points.to_vec()]);
    }

    #[test]
    fn what_lies_outside_is_one_column() {
        let points: Vec<_> = (0..10_000)
            .map(|i| Some((f64::from(i) - 5000.0, f64::from(i))))
            .collect();
        let lines = decimate(points, 0.0, 100.0);
        assert!(lines[0].len() < 120, "{}", lines[0].len());
        assert!(
            lines[0].contains(&(-1.0, 4999.0)),
            "the point before the edge stays"
        );
    }

    #[test]
    fn marks_in_one_cell_are_one_mark() {
        assert_eq!(
            thin(&[(0.1, 0.1), (0.9, 0.9), (2.5, 0.0)], 2.0),
            [(0.1, 0.1), (2.5, 0.0)]
        );
    }
}
