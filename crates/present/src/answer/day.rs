//! `--over`: the link and the times of downloads by the time at which they begin.

use crate::output::{Output, digits3};
use bentpipe::compare::{Answer, Day, DayRow, Hour, ProfileKind, Traffic};
use bentpipe_report::plot::{Axis, Chart, Panel, Series};
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_units::Duration;
use std::io;

/// Marks of a row of bars, at most.
const MARKS: usize = 24;

/// Curves in a panel, at most.
const CURVES: usize = 4;

/// From the lowest mark to the highest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The table: what each setting's users see over the day, and when.
pub(super) fn print(answer: &Answer, day: &Day, out: &mut Output) -> io::Result<()> {
    let Some(course) = &answer.path.profile else {
        return Ok(());
    };
    let span = answer.over.unwrap_or(course.span).min(course.span);
    let apart = span / day.hours.len().max(1) as u64;
    let unit = answer.unit();
    out.line(format!(
        "By the time of its start, one {unit} every {}:",
        clock(apart)
    ))?;
    let mut table = Table::new([
        Column::text("over the time"),
        Column::number("median"),
        Column::number("worst tenth"),
        Column::text(format!("from 0 to {}", clock(span))).optional(1),
        Column::number("lowest").optional(2),
        Column::number("highest").optional(2),
    ]);
    for (name, values, worst) in link_lines(course.kind, &day.hours) {
        table.row(line(&name, &values, worst, None).into_iter().map(Cell::new));
    }
    // One scale, so that the rows can be compared; that of the rows that matter,
    // which the slowest would press together.
    let of = chosen(answer, day).into_iter();
    let all = of.flat_map(|row| row.times_s.iter().flatten());
    let ends = all.fold((f64::INFINITY, 0.0_f64), |(l, h), t| (l.min(*t), h.max(*t)));
    for row in &day.rows {
        let of = &answer.rows[row.row];
        let pick = answer.verdict.pick == Some(row.row);
        let name = format!("{} [s]{}", of.name, if pick { " <--" } else { "" });
        let text = |x: Option<f64>| x.map_or_else(|| "no end".to_owned(), digits3);
        let (low, high) = extremes(&row.times_s);
        let tone = if pick { Tone::Strong } else { Tone::Plain };
        let cells = [
            name,
            text(row.median_s),
            text(row.worst_tenth_s),
            bars(&row.times_s, Some(ends)),
            text(low),
            text(high),
        ];
        table.row(cells.into_iter().map(|cell| Cell::new(cell).tone(tone)));
    }
    out.table(&table)?;
    out.paragraph(
        0,
        &format!(
            "worst tenth: the mean of the slowest tenth of the {unit}s, or of the worst tenth of \
             the time. The bars of all transports are on one scale, from {} s (▁) to {} s or \
             more (█); × is one that did not end.",
            digits3(ends.0),
            digits3(ends.1)
        ),
    )
}

/// Which end of a quantity is bad.
#[derive(Clone, Copy)]
enum Worst {
    Least,
    Most,
}

/// What of the link changes: names, values and which are the worst.
fn link_lines(kind: ProfileKind, hours: &[Hour]) -> Vec<(String, Vec<Option<f64>>, Worst)> {
    let of = |value: fn(&Hour) -> f64| hours.iter().map(|h| Some(value(h))).collect::<Vec<_>>();
    let up = |value: fn(&Hour) -> f64| {
        let seen = hours
            .iter()
            .map(|h| (h.availability > 0.0).then(|| value(h)));
        seen.collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    let rate = of(|h| h.rate.bps_f64() / 1e6);
    if differ(&rate) {
        lines.push(("link rate [Mbit/s]".to_owned(), rate, Worst::Least));
    }
    let rtt = up(|h| h.rtt.as_secs() * 1e3);
    if differ(&rtt) {
        lines.push(("link RTT [ms]".to_owned(), rtt, Worst::Most));
    }
    if kind == ProfileKind::Orbit {
        lines.push((
            "path changes".to_owned(),
            of(|h| h.changes as f64),
            Worst::Most,
        ));
        let without = of(|h| 100.0 * (1.0 - h.availability));
        if differ(&without) {
            lines.push(("without path [%]".to_owned(), without, Worst::Most));
        }
    }
    lines
}

fn differ(values: &[Option<f64>]) -> bool {
    let (low, high) = extremes(values);
    low.zip(high).is_some_and(|(low, high)| high > low)
}

fn extremes(values: &[Option<f64>]) -> (Option<f64>, Option<f64>) {
    let known = || values.iter().flatten().copied();
    let least = known().min_by(f64::total_cmp);
    (least, known().max_by(f64::total_cmp))
}

/// The cells of a line of the link.
fn line(name: &str, values: &[Option<f64>], worst: Worst, ends: Option<(f64, f64)>) -> [String; 6] {
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    if matches!(worst, Worst::Least) {
        sorted.reverse();
    }
    let count = sorted.len();
    let text = |x: Option<f64>| x.map_or_else(String::new, digits3);
    let tail = count - count.div_ceil(10);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (low, high) = extremes(values);
    [
        name.to_owned(),
        text((count > 0).then(|| f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]))),
        text((count > 0).then(|| mean(&sorted[tail..]))),
        bars(values, ends),
        text(low),
        text(high),
    ]
}

/// Values as a row of bars, between `ends` or their own extremes; several in a
/// mark are their mean.
fn bars(values: &[Option<f64>], ends: Option<(f64, f64)>) -> String {
    let (low, high) = match (ends, extremes(values)) {
        (Some(ends), _) => ends,
        (None, (Some(low), Some(high))) => (low, high),
        _ => return String::new(),
    };
    let marks = values.len().clamp(1, MARKS);
    let mark = |i: usize| {
        let (from, to) = (i * values.len() / marks, (i + 1) * values.len() / marks);
        let part: Option<Vec<f64>> = values[from..to].iter().copied().collect();
        let Some(part) = part.filter(|part| !part.is_empty()) else {
            return '×';
        };
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let share = if high > low {
            (mean - low) / (high - low)
        } else {
            0.0
        };
        let top = (LEVELS.len() - 1) as f64;
        LEVELS[(share.clamp(0.0, 1.0) * top).round() as usize]
    };
    (0..marks).map(mark).collect()
}

/// `24 h`, `30 min`, `90 s`.
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        s if s >= 3600.0 && (s / 3600.0).fract() < 1e-9 => format!("{:.0} h", s / 3600.0),
        s if s >= 120.0 && (s / 60.0).fract() < 1e-9 => format!("{:.0} min", s / 60.0),
        s if s >= 120.0 => format!("{} min", digits3(s / 60.0)),
        s if s.fract() < 1e-9 => format!("{s:.0} s"),
        s => format!("{} s", digits3(s)),
    }
}

/// The picture: rate, round trip, changes of path and times in panels above each
/// other, against the time of the beginning.
pub(crate) fn chart(answer: &Answer, day: &Day) -> Chart {
    let mut chart = Chart::new(title(answer)).width(960.0);
    let Some(course) = &answer.path.profile else {
        return chart;
    };
    chart = chart.subtitle(course.text.clone());
    let clock = Clock::of(course.span);
    let drawn = chosen(answer, day);
    let rate = rates(answer, day, &drawn, clock);
    chart = chart.panel(rate);
    for (name, values, _) in link_lines(course.kind, &day.hours) {
        if name.contains("rate") {
            continue;
        }
        // Counted between beginnings.
        let (label, scale) = match name.as_str() {
            "path changes" => {
                let hours = course.span.as_secs() / 3600.0;
                (
                    "path changes an hour".to_owned(),
                    day.hours.len() as f64 / hours,
                )
            }
            _ => (name.clone(), 1.0),
        };
        let points = steps(&day.hours, &values, clock);
        let points = points.into_iter().map(|(x, y)| (x, y * scale));
        let axis = Axis::linear(label).zero(!name.contains("RTT"));
        chart = chart.panel(Panel::xy(clock.axis(), axis).series(Series::step("link", points)));
    }
    let unit = answer.unit();
    let all = drawn.iter().flat_map(|row| row.times_s.iter().flatten());
    let ends = all.fold((f64::INFINITY, 0.0_f64), |(l, h), t| (l.min(*t), h.max(*t)));
    // What hardly changes is looked at from near.
    let axis = Axis::linear(format!("Time of a {unit} (s)")).zero(ends.1 > 1.5 * ends.0);
    let mut times = Panel::xy(clock.axis(), axis);
    for (slot, row) in drawn.iter().enumerate() {
        let name = answer.rows[row.row].name.clone();
        let points = day.hours.iter().zip(&row.times_s);
        let points = points.map(|(h, t)| (clock.x(h), t.unwrap_or(f64::NAN)));
        // The first colour is the link's.
        times = times.series(Series::line(name, points).slot(slot + 1));
    }
    let mut note = format!(
        "a {unit} from each beginning on, seeds from {} on",
        answer.seed
    );
    if drawn.len() < day.rows.len() {
        note += &format!("; {} of {} transports", drawn.len(), day.rows.len());
    }
    chart.panel(times).note(note)
}

/// The rate of the link, and that of single downloads over their times.
fn rates(answer: &Answer, day: &Day, drawn: &[&DayRow], clock: Clock) -> Panel {
    let values: Vec<Option<f64>> = day
        .hours
        .iter()
        .map(|h| Some(h.rate.bps_f64() / 1e6))
        .collect();
    let axis = Axis::linear("Rate (Mbit/s)").zero(true);
    let points = steps(&day.hours, &values, clock);
    let mut panel = Panel::xy(clock.axis(), axis).series(Series::step("link", points));
    if answer.traffic == Traffic::Download && answer.users == 1 {
        let megabits = answer.sizes.last().map_or(0.0, |size| size.as_f64() * 8e-6);
        for (slot, row) in drawn.iter().enumerate() {
            let name = answer.rows[row.row].name.clone();
            let points = day.hours.iter().zip(&row.times_s);
            let points = points.map(|(h, t)| (clock.x(h), t.map_or(f64::NAN, |t| megabits / t)));
            panel = panel.series(Series::line(name, points).slot(slot + 1));
        }
    }
    panel
}

/// The axis of times.
#[derive(Clone, Copy)]
struct Clock {
    unit: &'static str,
    /// Of a unit.
    seconds: f64,
    /// In units.
    end: f64,
}

impl Clock {
    fn of(span: Duration) -> Clock {
        let length = span.as_secs();
        let (unit, seconds) = match length {
            l if l > 3.0 * 3600.0 => ("h", 3600.0),
            l if l > 600.0 => ("min", 60.0),
            _ => ("s", 1.0),
        };
        Clock {
            unit,
            seconds,
            end: length / seconds,
        }
    }

    fn axis(self) -> Axis {
        Axis::linear(format!("Beginning ({})", self.unit)).range(0.0, self.end)
    }

    fn x(self, hour: &Hour) -> f64 {
        hour.at.as_secs() / self.seconds
    }
}

/// What is asked, in a line.
fn title(answer: &Answer) -> String {
    let rate = answer.path.rate.bps_f64() / 1e6;
    let size = answer
        .sizes
        .last()
        .map_or_else(String::new, ToString::to_string);
    format!(
        "{size} over {} Mbit/s, by the time of the beginning",
        digits3(rate)
    )
}

/// Values that hold from one beginning to the next.
fn steps(hours: &[Hour], values: &[Option<f64>], clock: Clock) -> Vec<(f64, f64)> {
    let points = hours.iter().zip(values);
    let mut points: Vec<(f64, f64)> = points
        .map(|(hour, value)| (clock.x(hour), value.unwrap_or(f64::NAN)))
        .collect();
    if let Some(last) = points.last().copied() {
        points.push((clock.end, last.1));
    }
    points
}

/// The recommended setting, the default, and the fastest of the others.
fn chosen<'a>(answer: &Answer, day: &'a Day) -> Vec<&'a DayRow> {
    let kept = [answer.verdict.pick, Some(answer.verdict.baseline)];
    let is_kept = |row: &&DayRow| kept.contains(&Some(row.row));
    let mut left = CURVES.saturating_sub(day.rows.iter().filter(is_kept).count());
    let fits = |row: &&DayRow| {
        if is_kept(row) {
            return true;
        }
        let fits = left > 0;
        left = left.saturating_sub(1);
        fits
    };
    day.rows.iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_high_and_low() {
        let values = |list: &[f64]| list.iter().map(|x| Some(*x)).collect::<Vec<_>>();
        assert_eq!(bars(&values(&[0.0, 7.0, 3.0]), None), "▁█▄");
        assert_eq!(bars(&values(&[5.0, 5.0]), None), "▁▁");
        assert_eq!(bars(&values(&[1.0]), Some((0.0, 2.0))), "▅");
        assert_eq!(bars(&[Some(1.0), None], Some((1.0, 2.0))), "▁×");
        assert_eq!(bars(&[], None), "");
        assert_eq!(
            bars(&values(&[1.0; 48]), Some((0.0, 1.0))).chars().count(),
            24
        );
    }

    #[test]
    fn times_are_written_as_on_a_clock() {
        let text = |s: u64| clock(Duration::from_secs(s));
        assert_eq!([86_400, 1_800, 90].map(text), ["24 h", "30 min", "90 s"]);
    }
}
