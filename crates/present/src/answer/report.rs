//! `compare --report`: the answer as one page to hand on, which works offline,
//! on a phone and on paper. Its words are those that `compare` prints.

use super::{day, print};
use crate::output::{percent, seconds};
use bentpipe::compare::{
    Activity, Answer, Build, Cell, DEFAULT, GIVEN_UP, Row, RunResult, Traffic, UPLOAD,
};
use bentpipe_report::html::Page;
use bentpipe_report::intervals::{Bar, Intervals, Weight};
use bentpipe_report::table::{self, Column, Table, Tone};
use bentpipe_report::text::shell_word;

/// Rows behind each proxy that are drawn, beside those that the verdict names.
const DRAWN: usize = 12;

/// The same where several proxies are compared.
const DRAWN_OF_SEVERAL: usize = 3;

/// The page; `command` repeats the comparison.
pub fn page(answer: &Answer, build: Build, command: &str) -> Page {
    let sentences = answer.sentences();
    let (headline, rest) = match sentences.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("", &[][..]),
    };
    let mut page = Page::new(headline).without_contents();
    for line in print::question(answer) {
        page = page.paragraph(&line);
    }
    page = verdict(page, rest);
    page = times(page, answer);
    if let Some(day) = answer.day() {
        let chart = day::chart(answer, &day).to_svg();
        page = page
            .heading("By the time of the beginning")
            .figure(&chart, "");
    }
    page = experience(page, answer)
        .heading("What it costs others")
        .table(&others(answer))
        .paragraph(&format!(
            "Lost: time that a user of {} loses where others have the setting. Wait: what 95% of \
             the packets of others do not exceed at the link. Sent again: packets that take \
             capacity twice.",
            answer.beside.as_deref().unwrap_or(DEFAULT)
        ));
    page = switch_on(page, answer, build);
    if let Some(robust) = &answer.robustness {
        page = page
            .heading("Does the advice hold beside the question?")
            .paragraph(&super::robust::headline(answer, robust))
            .table(&super::robust::table(answer, robust))
            .paragraph(&super::robust::words(answer, robust));
    }
    page = page
        .heading("All that was compared")
        .table(&print::rows(answer, false))
        .paragraph(&print::words(answer));
    assumed(page, answer, command)
}

/// The sentences under the headline, set apart.
fn verdict(page: Page, rest: &[String]) -> Page {
    let page = page.markup("<div class=\"verdict\">");
    rest.iter()
        .fold(page, |page, sentence| page.paragraph(sentence))
        .markup("</div>")
}

/// Bars with intervals: one set for each size and activity.
fn times(page: Page, answer: &Answer) -> Page {
    let mut page = page.heading("How long it takes");
    let activities = answer.traffic.activities();
    for (size, bytes) in answer.sizes.iter().enumerate() {
        for activity in &activities {
            if answer.sizes.len() > 1 || activities.len() > 1 {
                page = page.subheading(&match activity {
                    Activity::Video => "What a viewer waits for a video".to_owned(),
                    Activity::Web if answer.traffic == Traffic::Web => {
                        format!("A page of about {bytes}")
                    }
                    Activity::Web => "A page".to_owned(),
                    Activity::Upload => format!("An upload of {UPLOAD}"),
                    Activity::Call => "A call".to_owned(),
                    Activity::Download => format!("A download of {bytes}"),
                });
            }
            page = page.markup(&bars(answer, size, *activity).to_markup());
        }
    }
    let mut note =
        "Seconds, the mean over the runs; the line in a bar and ± are its 95% interval: \
                    the verdict compares runs with the same losses, which tells more."
            .to_owned();
    if bound(answer, 0).is_some() {
        note += " Dashed: at the full rate of the link, which no transport exceeds.";
    }
    page.paragraph(&note)
}

fn bars(answer: &Answer, size: usize, activity: Activity) -> Intervals {
    let mut bars = Intervals::new();
    for i in drawn(answer) {
        let row = &answer.rows[i];
        let time = row.cells[size].time_of(activity);
        let (value, ci) = (time.as_ref().map(|t| t.mean), time.and_then(|t| t.ci95));
        bars = bars.bar(Bar {
            name: name(answer, row),
            tag: tag(answer, i),
            value,
            interval: value
                .zip(ci)
                .map(|(mean, ci)| [(mean - ci).max(0.0), mean + ci]),
            text: match (value, ci) {
                (None, _) => print::no_time(&row.cells[size]),
                (Some(mean), None) => seconds(mean),
                (Some(mean), Some(ci)) => with_interval(mean, ci),
            },
            weight: weight(answer, i),
        });
    }
    match bound(answer, size) {
        Some(bound) => bars.bound(bound),
        None => bars,
    }
}

/// Seconds that no download can beat: known of a user who has the link alone.
fn bound(answer: &Answer, size: usize) -> Option<f64> {
    let alone = answer.users == 1 && answer.beside.is_none() && answer.background.is_none();
    let ideal = answer.ideal.get(size).filter(|_| alone)?;
    (*ideal <= GIVEN_UP).then(|| ideal.as_secs())
}

/// A mean in seconds and half of its interval, with as many digits.
fn with_interval(mean: f64, ci: f64) -> String {
    let digits = match mean {
        x if x < 1.0 => 3,
        x if x < 10.0 => 2,
        _ => 1,
    };
    format!("{mean:.digits$} s ± {ci:.digits$}")
}

/// The rows that pictures and short tables show: the fastest behind each proxy,
/// and what the verdict is about.
fn drawn(answer: &Answer) -> Vec<usize> {
    let most = match answer.peps().len() {
        1 => DRAWN,
        _ => DRAWN_OF_SEVERAL,
    };
    let mut seen = Vec::new();
    let named = |i: usize| Some(i) == answer.verdict.pick || i == answer.verdict.baseline;
    let mut shown = Vec::new();
    for i in answer.order() {
        let pep = answer.rows[i].pep;
        let before = seen.iter().filter(|p| **p == pep).count();
        seen.push(pep);
        if before < most || named(i) {
            shown.push(i);
        }
    }
    shown
}

/// Of those, the ones that matter for a decision: what is there, what is
/// recommended, and what else could be had and is fast.
fn chosen(answer: &Answer) -> Vec<usize> {
    let most = if answer.peps().len() > 1 { 2 } else { 4 };
    let mut seen = Vec::new();
    let mut keep = |i: &usize| {
        let row = &answer.rows[*i];
        if Some(*i) == answer.verdict.pick || *i == answer.verdict.baseline {
            return true;
        }
        let before = seen.iter().filter(|pep| **pep == row.pep).count();
        seen.push(row.pep);
        row.is_deployable() && before < most
    };
    drawn(answer).into_iter().filter(|i| keep(i)).collect()
}

/// The name of a row, with its proxy where there are several.
fn name(answer: &Answer, row: &Row) -> String {
    match answer.peps().len() {
        0 | 1 => row.name.clone(),
        _ => format!("{}: {}", row.pep.name(), row.name),
    }
}

fn tag(answer: &Answer, row: usize) -> String {
    let pick = Some(row) == answer.verdict.pick;
    match (pick, row == answer.verdict.baseline) {
        (true, true) => "today, keep",
        (true, false) => "recommended",
        (false, true) => "today",
        (false, false) => "",
    }
    .to_owned()
}

fn weight(answer: &Answer, row: usize) -> Weight {
    if Some(row) == answer.verdict.pick {
        Weight::Strong
    } else if row == answer.verdict.baseline {
        Weight::Reference
    } else if answer.rows[row].is_deployable() {
        Weight::Plain
    } else {
        Weight::Faint
    }
}

/// A table of the chosen rows with these columns beside the name.
fn table(
    answer: &Answer,
    columns: Vec<Column>,
    cells: impl Fn(usize, &Row) -> Vec<String>,
) -> Table {
    let first = Column::text("transport");
    let mut table = Table::new([first].into_iter().chain(columns));
    for i in chosen(answer) {
        let row = &answer.rows[i];
        let tone = match Some(i) == answer.verdict.pick {
            true => Tone::Strong,
            false => Tone::Plain,
        };
        let name = match tag(answer, i).as_str() {
            "" => name(answer, row),
            tag => format!("{} ({tag})", name(answer, row)),
        };
        let texts = [name].into_iter().chain(cells(i, row));
        table.row(texts.map(|text| table::Cell::new(text).tone(tone)));
    }
    table
}

/// What the user in the middle and the slowest tenth of the users see.
fn experience(page: Page, answer: &Answer) -> Page {
    let mut page = page.heading("What each user sees");
    let activities = answer.traffic.activities();
    for activity in &activities {
        if activities.len() > 1 {
            page = page.subheading(match activity {
                Activity::Video => "Waiting for a video",
                Activity::Web => "A page",
                Activity::Download => "A download",
                Activity::Upload => "An upload",
                Activity::Call => "A call",
            });
        }
        page = page.table(&users(answer, *activity));
    }
    page.paragraph(match (answer.users, answer.most_runs()) {
        (1, 1) => "One run, where nothing is random.",
        (1, _) => {
            "The run in the middle, and the mean of the slowest tenth of the runs: equal downloads \
             differ by which of their packets are lost."
        }
        _ => {
            "The user in the middle and the slowest tenth of the users of a run, each the mean \
             over the runs."
        }
    })
}

fn users(answer: &Answer, activity: Activity) -> Table {
    let rates = answer.users > 1 && answer.traffic.activities().len() == 1;
    let video = activity == Activity::Video;
    let heading = |(text, shown): (&str, bool)| shown.then(|| Column::number(text));
    let columns = [
        ("middle", true),
        ("slowest tenth", true),
        ("middle [Mbit/s]", rates),
        ("slowest tenth [Mbit/s]", rates),
        ("stalls a video", video),
    ];
    let columns = columns.into_iter().filter_map(heading).collect();
    table(answer, columns, |_, row| {
        let cell = last(row);
        let time = |x: Option<f64>| x.map_or_else(|| print::no_time(cell), seconds);
        let [middle, slow] =
            middle_and_slowest_of(cell, activity).map_or([None; 2], |x| x.map(Some));
        let mut texts = vec![time(middle), time(slow)];
        if rates {
            let rates = cell.rates();
            let rate = |x: Option<f64>| x.map_or_else(String::new, |x| print::decimal(x / 1e6));
            texts.push(rate(rates.map(|r| r.median_bps)));
            texts.push(rate(rates.map(|r| r.worst_tenth_bps)));
        }
        if video {
            let stalls = cell.users_mean(|u| u.startup_s.map(|_| u.stalls as f64));
            texts.push(stalls.map_or_else(String::new, print::decimal));
        }
        texts
    })
}

/// The largest size: it shows most of what a setting does.
fn last(row: &Row) -> &Cell {
    &row.cells[row.cells.len() - 1]
}

/// Time of the user in the middle, and of the slowest tenth: of several users
/// within a run, else of the runs. `None` if one did not end.
fn middle_and_slowest_of(cell: &Cell, activity: Activity) -> Option<[f64; 2]> {
    let of_run = |run: &RunResult| -> Option<Vec<f64>> {
        let own = run.own.iter().filter(|user| user.activity == activity);
        own.map(|user| user.time_s).collect()
    };
    let runs: Option<Vec<Vec<f64>>> = cell.runs.iter().map(of_run).collect();
    let runs = runs?;
    let groups = match runs.iter().all(|run| run.len() == 1) {
        true => vec![runs.concat()],
        false => runs,
    };
    let each: Option<Vec<[f64; 2]>> = groups.into_iter().map(middle_and_slowest).collect();
    let each = each?;
    let mean = |i: usize| each.iter().map(|x| x[i]).sum::<f64>() / each.len() as f64;
    (!each.is_empty()).then(|| [mean(0), mean(1)])
}

/// The median, and the mean of the largest tenth, of at least one.
fn middle_and_slowest(mut times: Vec<f64>) -> Option<[f64; 2]> {
    times.sort_by(f64::total_cmp);
    let n = times.len();
    let middle = f64::midpoint(*times.get(n.checked_sub(1)? / 2)?, *times.get(n / 2)?);
    let slowest = &times[n - n.div_ceil(10)..];
    Some([middle, slowest.iter().sum::<f64>() / slowest.len() as f64])
}

/// What others lose, how long they wait, what is sent twice.
fn others(answer: &Answer) -> Table {
    let columns = vec![
        Column::number("lost"),
        Column::number("±95%"),
        Column::number("wait"),
        Column::number("sent again"),
    ];
    let harms = answer.harms();
    table(answer, columns, |i, row| {
        let cell = last(row);
        let harm = harms[i].filter(|_| i != answer.verdict.baseline);
        let (lost, ci) = match harm {
            Some(harm) => (
                format!("{:+.0}%", 100.0 * harm.share).replace("-0%", "0%"),
                harm.ci95
                    .map_or_else(String::new, |ci| format!("{:.0}", 100.0 * ci)),
            ),
            None if i == answer.verdict.baseline => ("as today".to_owned(), String::new()),
            None => ("not measured".to_owned(), String::new()),
        };
        vec![
            lost,
            ci,
            seconds(cell.p95_queueing_delay_s()),
            percent(cell.resent_share()),
        ]
    })
}

fn switch_on(page: Page, answer: &Answer, build: Build) -> Page {
    let queue = answer.recommended().map(|row| answer.switch_on_queue(row));
    let parts = [answer.switch_on(build), queue.unwrap_or_default()];
    let mut parts = parts
        .iter()
        .filter(|part| !part.text.is_empty() || !part.commands.is_empty())
        .peekable();
    if parts.peek().is_none() {
        return page;
    }
    parts.fold(page.heading("What to switch on"), |page, part| {
        let page = page.paragraph(&part.text);
        match part.commands.is_empty() {
            true => page,
            false => page.preformatted(&part.commands.join("\n")),
        }
    })
}

/// What the numbers rest on.
fn assumed(page: Page, answer: &Answer, command: &str) -> Page {
    let path = &answer.path;
    let sizes: Vec<String> = answer.sizes.iter().map(ToString::to_string).collect();
    let runs = match answer.most_runs() {
        1 => "one of each".to_owned(),
        n => format!("up to {n} of each, with seeds from {} on", answer.seed),
    };
    let mut rows = vec![
        (
            "rate",
            match answer.terminals {
                1 => format!("{} to the users, {} back", path.rate, path.return_rate),
                _ => format!(
                    "{} to all users together, {} back from each terminal",
                    path.rate, path.return_rate
                ),
            },
        ),
        ("round trip", format!("{} without queueing", path.rtt)),
        ("loss", print::loss(answer)),
        ("queue", print::queues(answer)),
    ];
    if let Some(jitter) = &path.jitter {
        rows.push(("jitter", format!("{jitter}, each way")));
    }
    if let Some(rtt) = path.server_rtt {
        rows.push(("server to gateway", format!("{rtt} round trip")));
    }
    if let Some(course) = &path.profile {
        rows.push(("link over time", print::of_course(course).join(" ")));
    }
    let users = answer.users.to_string();
    rows.push(("users", users + &print::behind(answer)));
    if answer.users > 1 {
        rows.push((
            "starts",
            format!("spread over {}", print::about(answer.stagger)),
        ));
    }
    rows.push(("traffic", answer.traffic.to_string()));
    match answer.traffic {
        Traffic::Video => rows.push(("bitrate", answer.bitrate.to_string())),
        Traffic::Download | Traffic::Web | Traffic::Mixed | Traffic::Mix(_) => {
            rows.push(("size", sizes.join(", ")));
        }
    }
    if let Some(beside) = &answer.beside {
        rows.push(("others run", beside.clone()));
    }
    if let Some(background) = answer.background {
        rows.push(("other traffic", background.to_string()));
    }
    rows.push(("hosts", answer.hosts.name().to_owned()));
    rows.push(("runs", runs));
    rows.push(("program", format!("bentpipe {}", env!("CARGO_PKG_VERSION"))));
    let mut table = Table::new([Column::text(""), Column::text("")]);
    for (what, value) in rows {
        table.row([what.to_owned(), value]);
    }
    let points = print::points(answer);
    page.heading("What was assumed")
        .table(&table)
        .list(points.iter().map(String::as_str))
        .paragraph(match answer.is_simulated() {
            true => {
                "All of it is simulated. It answers for this link and this traffic; the same \
                 command with your values answers for yours. Before a change in production, \
                 measure both settings in turn."
            }
            false => {
                "Measured with the TCP of one machine over an emulated link. It answers for this \
                 link and this traffic; the same command with your values answers for yours."
            }
        })
        .paragraph("The same again:")
        .preformatted(command)
}

/// Options that say where results go, each with a file: no part of the question.
const FILES: [&str; 3] = ["--report", "--plot", "--curves"];

/// The command line as a shell takes it, without the files that it wrote: who reads
/// the page has other folders.
pub fn command(words: impl IntoIterator<Item = String>) -> String {
    let mut found = vec!["bentpipe".to_owned()];
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        let (option, has_value) = match word.split_once('=') {
            Some((option, _)) => (option, true),
            None => (word.as_str(), false),
        };
        match (FILES.contains(&option), has_value) {
            (true, true) => {}
            (true, false) => drop(words.next()),
            (false, _) => found.push(shell_word(&word)),
        }
    }
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_slowest_tenth() {
        let twenty = (1..=20).map(f64::from).collect();
        assert_eq!(middle_and_slowest(twenty), Some([10.5, 19.5]));
        assert_eq!(middle_and_slowest(vec![3.0]), Some([3.0, 3.0]));
        assert_eq!(middle_and_slowest(Vec::new()), None);
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = [
            "/x/bentpipe",
            "compare",
            "--queue",
            "1 BDP",
            "--loss=0.1%",
            "--report",
            "/home/me/page.html",
            "--plot=bars.svg",
            "it's",
        ];
        let command = command(words.map(str::to_owned));
        assert_eq!(
            command,
            r"bentpipe compare --queue '1 BDP' --loss=0.1% 'it'\''s'"
        );
    }
}
