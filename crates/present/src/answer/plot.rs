//! `--plot`: a bar for each setting, which is what a slide needs.

use bentpipe::compare::{Activity, Answer, Hosts, Pep, Row, Traffic};
use bentpipe_report::plot::{Axis, BarSeries, Chart, Panel};
use bentpipe_report::text::seconds;
use bentpipe_study::stats::Summary;
use bentpipe_units::Bytes;

/// Bars of one panel, and of each where there are several proxies.
const BARS: (usize, usize) = (10, 6);

/// What takes longer than so many times the recommended setting is named in the
/// note: its bar would press the others together.
const LONGEST: f64 = 4.0;

/// What gives the times of a row.
type Times = Box<dyn Fn(&Row) -> Option<Summary>>;

/// A column of the figure: what its times are of.
struct Column {
    label: String,
    of: Times,
}

/// The bars of a setting, by what can be done with it. The places in the palette
/// are green, dark grey, light blue and nearly white.
const CLASSES: [(&str, usize); 4] = [
    ("recommended", 2),
    ("default of Linux", 14),
    ("can be switched on", 5),
    ("cannot be switched on", 22),
];

pub(crate) fn chart(answer: &Answer) -> Chart {
    let columns = columns(answer);
    let peps = answer.peps();
    let most = if peps.len() > 1 { BARS.1 } else { BARS.0 };
    let mut left_out = Vec::new();
    let mut chart = Chart::new(answer.headline())
        .subtitle(what(answer, &answer.sizes))
        .columns(columns.len())
        .width(if columns.len() > 1 { 1000.0 } else { 760.0 })
        .spread_label(if answer.most_runs() > 1 {
            "95% interval"
        } else {
            ""
        });
    let drawn: Vec<(Pep, Vec<&Row>)> = peps
        .iter()
        .map(|pep| (*pep, chosen(answer, *pep, most, &mut left_out)))
        .collect();
    // The legend has the classes of all panels in their order.
    let all = drawn.iter().flat_map(|(_, rows)| rows);
    let mut classes: Vec<usize> = all.map(|row| class(answer, row)).collect();
    classes.sort_unstable();
    classes.dedup();
    for (pep, rows) in &drawn {
        for (i, column) in columns.iter().enumerate() {
            let title = match (peps.len() > 1, i) {
                (true, 0) => heading(*pep),
                _ => "",
            };
            chart = chart.panel(panel(answer, rows, column, &classes).title(title));
        }
    }
    chart.note(note(answer, &left_out))
}

fn heading(pep: Pep) -> &'static str {
    match pep {
        Pep::None => "No proxy",
        Pep::Split => "Split-connection proxy at the gateway",
        Pep::Snoop => "Snoop at the gateway",
        Pep::Gateway => "A proxy on each side of the satellite",
    }
}

/// The sizes, or what the users of mixed traffic wait for.
fn columns(answer: &Answer) -> Vec<Column> {
    if answer.traffic.is_mixed() {
        let last = answer.sizes.len().saturating_sub(1);
        let activities = answer.traffic.activities().into_iter();
        return activities
            .map(|activity| Column {
                label: label(activity, None),
                of: Box::new(move |row| row.cells.get(last)?.time_of(activity)),
            })
            .collect();
    }
    let activities = answer.traffic.activities();
    let activity = activities.first().copied().unwrap_or(Activity::Download);
    let several = answer.sizes.len() > 1;
    answer
        .sizes
        .iter()
        .enumerate()
        .map(|(i, size)| Column {
            label: label(activity, several.then(|| size.to_string())),
            of: Box::new(move |row| row.cells.get(i)?.time()),
        })
        .collect()
}

fn label(activity: Activity, size: Option<String>) -> String {
    let what = match activity {
        Activity::Video => "Wait for a video".to_owned(),
        Activity::Upload => "Time of an upload".to_owned(),
        Activity::Download | Activity::Web | Activity::Call => {
            format!("Time of a {}", activity.unit())
        }
    };
    match size {
        Some(size) => format!("{what}, {size} (s)"),
        None => format!("{what} (s)"),
    }
}

fn same(a: &Row, b: &Row) -> bool {
    a.pep == b.pep && a.name == b.name
}

fn is_unrun(row: &Row) -> bool {
    row.cells.iter().all(|cell| cell.runs.is_empty())
}

/// The time that rows are ordered by.
fn time(row: &Row) -> Option<f64> {
    Some(row.cells.last()?.time()?.mean)
}

/// The fastest settings behind a proxy, the recommended one and the default of Linux among
/// them, so that each panel has what proxies differ by; those that take too long for the figure are named in `left_out`.
fn chosen<'a>(
    answer: &'a Answer,
    pep: Pep,
    most: usize,
    left_out: &mut Vec<String>,
) -> Vec<&'a Row> {
    let kept = |row: &Row| {
        let is_default = row.candidate == answer.baseline().candidate;
        answer.recommended().is_some_and(|pick| same(pick, row)) || is_default
    };
    let longest = answer
        .recommended()
        .and_then(time)
        .map_or(f64::INFINITY, |pick| LONGEST * pick);
    let all: Vec<&Row> = answer
        .order()
        .into_iter()
        .map(|i| &answer.rows[i])
        .filter(|row| row.pep == pep)
        .collect();
    let wanted = all.iter().filter(|row| kept(row)).count();
    let mut room = most.saturating_sub(wanted);
    let mut rows = Vec::new();
    for row in all {
        let fits = kept(row) || (room > 0 && time(row).is_some_and(|t| t <= longest));
        if fits {
            room = if kept(row) { room } else { room - 1 };
            rows.push(row);
            continue;
        }
        let why = if is_unrun(row) {
            "not run"
        } else {
            "did not end"
        };
        let took = time(row).map_or_else(|| why.to_owned(), seconds);
        left_out.push(if pep == Pep::None {
            format!("{} ({took})", row.name)
        } else {
            format!("{} with {} ({took})", row.name, pep.name())
        });
    }
    rows
}

/// The class of a row, an index into [`CLASSES`].
fn class(answer: &Answer, row: &Row) -> usize {
    if answer.recommended().is_some_and(|pick| same(pick, row)) {
        0
    } else if same(answer.baseline(), row) {
        1
    } else if row.is_deployable() {
        2
    } else {
        3
    }
}

fn panel(answer: &Answer, rows: &[&Row], column: &Column, classes: &[usize]) -> Panel {
    let names = rows.iter().map(|row| row.name.clone());
    let panel = Panel::rows(Axis::linear(&column.label), names).overlaid();
    classes.iter().fold(panel, |panel, i| {
        let (name, slot) = CLASSES[*i];
        let own = |row: &&Row| class(answer, row) == *i;
        let found = |row: &&Row| (column.of)(row).filter(|_| own(row));
        let times: Vec<Option<Summary>> = rows.iter().map(found).collect();
        let values = times
            .iter()
            .map(|t| t.as_ref().map_or(f64::NAN, |t| t.mean));
        let limits = times.iter().map(|t| match t {
            Some(Summary {
                mean,
                ci95: Some(half),
                ..
            }) => ((mean - half).max(0.0), mean + half),
            _ => (f64::NAN, f64::NAN),
        });
        let labels = rows.iter().zip(&times).map(|(row, time)| match time {
            Some(time) => seconds(time.mean),
            None if own(row) && is_unrun(row) => "not run".to_owned(),
            None if own(row) => "did not end".to_owned(),
            None => String::new(),
        });
        let bars = BarSeries::new(name, values).slot(slot).labels(labels);
        panel.bar_series(if times.iter().flatten().any(|t| t.ci95.is_some()) {
            bars.whiskers(limits)
        } else {
            bars
        })
    })
}

/// What was compared, in a line.
pub(super) fn what(answer: &Answer, sizes: &[Bytes]) -> String {
    let path = &answer.path;
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let mut text = match answer.traffic {
        Traffic::Web => "Pages".to_owned(),
        Traffic::Video => "Videos".to_owned(),
        Traffic::Mixed => "Downloads, pages and videos".to_owned(),
        Traffic::Mix(mix) => format!("A mix of {mix}"),
        Traffic::Download => format!("Downloads of {}", sizes.join(", ")),
    };
    text += &format!(
        " over {}, round trip {}, loss {}",
        super::print::rate(answer),
        path.rtt,
        super::print::loss(answer)
    );
    if answer.users > 1 {
        text += &format!("; {} users{}", answer.users, super::print::behind(answer));
    }
    if let Some(beside) = &answer.beside {
        text += &format!(", half of them with {beside}");
    }
    text
}

fn note(answer: &Answer, left_out: &[String]) -> String {
    let runs = answer.most_runs();
    let hosts = match answer.hosts {
        Hosts::Linux => "Linux",
        Hosts::Rfc => "RFC",
    };
    let mut text = if runs > 1 {
        format!(
            "Means of {runs} runs with seeds from {} on, {hosts} hosts",
            answer.seed,
        )
    } else {
        format!("One run, {hosts} hosts")
    };
    if !left_out.is_empty() {
        const NAMED: usize = 6;
        let shown = &left_out[..left_out.len().min(NAMED)];
        text += &format!("; not drawn: {}", shown.join(", "));
        if left_out.len() > NAMED {
            text += &format!(" and {} more", left_out.len() - NAMED);
        }
    }
    text + "."
}
