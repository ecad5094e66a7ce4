//! A connection of a run over time, as tcptrace and xplot draw it: sequence numbers sent,
//! sent again, selectively acknowledged and lost, between what is acknowledged and the edge
//! of the receive window; below, the RTT and the queue.

use bentpipe::recording::{PacketTrace, Step, StepKind};
use bentpipe_report::plot::{Annotation, Axis, Chart, Legend, Panel, Series};
use bentpipe_units::Time;
use std::collections::BTreeMap;

/// Columns and rows that marks are merged by: finer than the pixels of a figure.
const COLUMNS: f64 = 2000.0;
const ROWS: f64 = 500.0;

/// Rows that a stroke is high at least, so that single segments of a long run are seen.
const STROKE: f64 = 5.0;

/// Pixels that the figure is high.
const HEIGHT: f64 = 860.0;

/// Timeouts that are drawn as lines; of more, only these.
const TIMEOUTS: usize = 20;

/// Bytes of a megabyte.
const MEGABYTE: f64 = 1e6;

/// The figure of a connection.
#[must_use]
pub fn chart(trace: &PacketTrace) -> Chart {
    let steps = &trace.packets.steps;
    let first = steps.first().map_or(0.0, |step| step.at.as_secs());
    let last = steps.last().map_or(1.0, |step| step.at.as_secs());
    let from = if trace.between[0] > Time::ZERO {
        first
    } else {
        0.0
    };
    let time = || Axis::linear("Time (s)").range(from, last.max(from + 1e-6));
    let mut chart = Chart::new(format!("{}: {}", trace.scenario, trace.flow))
        .subtitle(format!(
            "{}, seed {}: sequence numbers, RTT and queue against time",
            trace.transport, trace.seed
        ))
        .note(note(trace))
        .width(1000.0)
        .height(HEIGHT)
        .legend(Legend::Below)
        .panel(sequences(steps, time()));
    let rtt = trace.sender.iter().filter(|sample| !sample.rtt.is_zero());
    let rtt: Vec<(f64, f64)> = rtt
        .map(|sample| (sample.at.as_secs(), sample.rtt.as_secs() * 1e3))
        .collect();
    if !rtt.is_empty() {
        let panel = Panel::xy(time(), Axis::linear("RTT (ms)").zero(true));
        chart = chart.panel(panel.series(Series::step("RTT", rtt)));
    }
    if !trace.queue.is_empty() {
        let label = "Queue (packets)";
        let queue = trace.queue.iter().map(|(at, n)| (at.as_secs(), *n as f64));
        let held = trace.queue.last().map(|(_, n)| (last, *n as f64));
        let queue = queue.chain(held);
        let panel = Panel::xy(time(), Axis::linear(label).zero(true));
        chart = chart.panel(panel.series(Series::step("packets before the link", queue)));
    }
    chart
}

fn note(trace: &PacketTrace) -> String {
    let queue = match trace.link.is_empty() {
        true => String::new(),
        false => format!(
            " The queue is that before link `{}`, the slowest on the way, with packets of all flows.",
            trace.link
        ),
    };
    format!(
        "A stroke is the bytes of a segment when it is sent; lost: where the path lost it, which \
         its sender does not see.{queue}"
    )
}

fn sequences(steps: &[Step], time: Axis) -> Panel {
    let (from, to) = (time.min.unwrap_or(0.0), time.max.unwrap_or(1.0));
    let top = steps
        .iter()
        .map(|step| step.sequence + u64::from(step.bytes))
        .max();
    let bottom = steps
        .iter()
        .filter(|step| step.bytes > 0)
        .map(|step| step.sequence)
        .min();
    let grid = Grid {
        column: (to - from).max(1e-9) / COLUMNS,
        row: ((top.unwrap_or(1) - bottom.unwrap_or(0)) as f64 / MEGABYTE).max(1e-9) / ROWS,
    };
    let of = |kind: StepKind| {
        let found = steps.iter().filter(move |step| step.kind == kind);
        found.map(|step| {
            let bytes = step.sequence as f64 / MEGABYTE;
            let end = bytes + f64::from(step.bytes) / MEGABYTE;
            (step.at.as_secs(), bytes, end)
        })
    };
    let lost = steps
        .iter()
        .filter(|step| matches!(step.kind, StepKind::Lost(_)));
    let lost = lost.map(|step| (step.at.as_secs(), step.sequence as f64 / MEGABYTE));
    let bytes = [bottom, top].map(|byte| byte.unwrap_or(0));
    let axis = Axis::linear("Sequence number (MB)").zero(bytes[0] == 0);
    let mut panel = Panel::xy(time, axis);
    let series = [
        Series::step("acknowledged", acknowledged(steps)).slot(2),
        Series::step("edge of the receive window", edge(steps, bytes)).slot(7),
        Series::line("sent", grid.strokes(of(StepKind::Sent))).slot(0),
        Series::line(
            "selectively acknowledged",
            grid.strokes(selective(steps).into_iter()),
        )
        .slot(4),
        Series::line("sent again", grid.strokes(of(StepKind::Resent))).slot(1),
        Series::points("lost", grid.points(lost)).slot(3),
    ];
    for series in series {
        if !series.points.is_empty() {
            panel = panel.series(series);
        }
    }
    let timeouts = steps.iter().filter(|step| step.kind == StepKind::Timeout);
    for (i, step) in timeouts.take(TIMEOUTS).enumerate() {
        let label = if i == 0 { "timeout" } else { "" };
        panel = panel.annotate(Annotation::vertical(step.at.as_secs(), label));
    }
    panel
}

/// What the sender knows to have arrived in order.
fn acknowledged(steps: &[Step]) -> Vec<(f64, f64)> {
    let found = steps
        .iter()
        .filter(|step| step.kind == StepKind::Acknowledged);
    found
        .map(|step| (step.at.as_secs(), step.acknowledgement as f64 / MEGABYTE))
        .collect()
}

/// The last byte that the receiver takes, while that is near what was sent: far beyond, it
/// would press everything else flat.
fn edge(steps: &[Step], [bottom, top]: [u64; 2]) -> Vec<(f64, f64)> {
    let limit = (top as f64 + 0.2 * top.saturating_sub(bottom) as f64) / MEGABYTE;
    let acknowledged = [StepKind::Acknowledged, StepKind::Repeated];
    let found = steps
        .iter()
        .filter(|step| acknowledged.contains(&step.kind) && step.window > 0);
    found
        .map(|step| {
            let edge = (step.acknowledgement + step.window) as f64 / MEGABYTE;
            let shown = if edge <= limit { edge } else { f64::NAN };
            (step.at.as_secs(), shown)
        })
        .collect()
}

/// Ranges as they are reported for the first time, at the time when the sender hears of
/// them.
fn selective(steps: &[Step]) -> Vec<(f64, f64, f64)> {
    let mut known = Ranges::default();
    let mut found = Vec::new();
    let acknowledged = [StepKind::Acknowledged, StepKind::Repeated];
    for step in steps
        .iter()
        .filter(|step| acknowledged.contains(&step.kind))
    {
        known.forget_below(step.acknowledgement);
        let beyond = step
            .sack
            .iter()
            .filter(|(_, to)| *to > step.acknowledgement);
        for (from, to) in beyond {
            let news = known.add(*from, *to).into_iter();
            found.extend(news.map(|(from, to)| {
                let [from, to] = [from, to].map(|byte| byte as f64 / MEGABYTE);
                (step.at.as_secs(), from, to)
            }));
        }
    }
    found
}

/// Ranges of bytes that do not overlap.
#[derive(Default)]
struct Ranges {
    /// Their ends by their beginnings.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Leaves out what ends before `byte`.
    fn forget_below(&mut self, byte: u64) {
        while let Some(first) = self.ends.first_entry().filter(|first| *first.get() <= byte) {
            first.remove();
        }
    }

    /// Adds a range; the parts of it that are new.
    fn add(&mut self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let (mut start, mut end) = (from, to);
        let mut new = Vec::new();
        let mut next = from;
        // Those that overlap or touch it, in ascending order.
        let mut touching: Vec<(u64, u64)> = Vec::new();
        for (begins, ends) in self.ends.range(..=to).rev() {
            if *ends < from {
                break;
            }
            touching.push((*begins, *ends));
        }
        for (begins, ends) in touching.into_iter().rev() {
            if begins > next {
                new.push((next, begins.min(to)));
            }
            next = next.max(ends);
            (start, end) = (start.min(begins), end.max(ends));
            self.ends.remove(&begins);
        }
        if next < to {
            new.push((next, to));
        }
        self.ends.insert(start, end);
        new
    }
}

/// A grid by which marks are merged.
struct Grid {
    column: f64,
    row: f64,
}

impl Grid {
    /// Vertical strokes as one line with gaps; those in one column that touch are one.
    fn strokes(&self, all: impl Iterator<Item = (f64, f64, f64)>) -> Vec<(f64, f64)> {
        let mut line = Vec::new();
        let mut now: Option<(f64, f64, f64)> = None;
        let mut draw = |(x, from, to): (f64, f64, f64)| {
            let short = (STROKE * self.row - (to - from)).max(0.0) / 2.0;
            line.extend([(x, (from - short).max(0.0)), (x, to + short), (x, f64::NAN)]);
        };
        for (x, from, to) in all {
            match &mut now {
                Some((at, low, high))
                    if x - *at < self.column
                        && from <= *high + self.row
                        && to >= *low - self.row =>
                {
                    *low = low.min(from);
                    *high = high.max(to);
                }
                before => {
                    if let Some(stroke) = before.replace((x, from, to)) {
                        draw(stroke);
                    }
                }
            }
        }
        if let Some(stroke) = now {
            draw(stroke);
        }
        line
    }

    /// Points, of which one stays in each cell.
    fn points(&self, all: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (x, y) in all {
            let is_new = points.last().is_none_or(|(before, level)| {
                x - before >= self.column * 2.0 || (y - level).abs() >= self.row * 2.0
            });
            if is_new {
                points.push((x, y));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_of_a_range_is_told() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.add(10, 20), [(10, 20)]);
        assert_eq!(ranges.add(10, 30), [(20, 30)]);
        assert_eq!(ranges.add(50, 60), [(50, 60)]);
        assert_eq!(ranges.add(5, 70), [(5, 10), (30, 50), (60, 70)]);
        assert_eq!(ranges.add(5, 70), []);
        assert_eq!(ranges.ends.len(), 1);
        ranges.forget_below(70);
        assert!(ranges.ends.is_empty());
        assert_eq!(ranges.add(70, 80), [(70, 80)]);
    }

    #[test]
    fn a_short_stroke_is_long_enough_to_be_seen() {
        let grid = Grid {
            column: 1.0,
            row: 1.0,
        };
        let line = grid.strokes([(3.0, 10.0, 11.0)].into_iter());
        assert_eq!(line[..2], [(3.0, 8.0), (3.0, 13.0)]);
    }

    #[test]
    fn strokes_that_touch_are_one_and_others_stay_apart() {
        let grid = Grid {
            column: 1.0,
            row: 0.2,
        };
        let all = [
            (0.0, 0.0, 1.0),
            (0.1, 1.0, 2.0),
            (0.2, 9.0, 10.0),
            (5.0, 2.0, 3.0),
        ];
        let line = grid.strokes(all.into_iter());
        let ends: Vec<(f64, f64)> = line.iter().copied().filter(|p| p.1.is_finite()).collect();
        assert_eq!(
            ends,
            [
                (0.0, 0.0),
                (0.0, 2.0),
                (0.2, 9.0),
                (0.2, 10.0),
                (5.0, 2.0),
                (5.0, 3.0)
            ]
        );
        assert_eq!(line.len(), 9);
    }
}
