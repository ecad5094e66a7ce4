//! The answer as text: the verdict, the table, and what the numbers rest on.

use crate::output::{Output, digits3, percent, seconds};
use bentpipe::compare::{
    Activity, Answer, Build, CALL_DEADLINE, Cell, Certainty, DEFAULT, Hosts, LinkProfile,
    ProfileKind, Queue, QueueDiscipline, Row, Traffic, UPLOAD,
};
use bentpipe_report::table::{self, Column, Table, Tone};
use bentpipe_units::Duration;
use std::io;

/// Prints everything; the rest only with `details`.
pub fn all(answer: &Answer, build: Build, details: bool, out: &mut Output) -> io::Result<()> {
    for line in question(answer) {
        out.paragraph(0, &line)?;
    }
    out.line("")?;
    verdict(answer, build, out)?;
    out.line("")?;
    out.table(&rows(answer, details))?;
    out.line("")?;
    if let Some(day) = answer.day() {
        super::day::print(answer, &day, out)?;
        out.line("")?;
    }
    if let Some(robust) = &answer.robustness {
        super::robust::print(answer, robust, out)?;
        out.line("")?;
    }
    let more = if details { "" } else { " More with --details." };
    out.paragraph(0, &format!("{}{more}", words(answer)))?;
    if details {
        out.line("")?;
        legend(answer, out)?;
        out.line("")?;
        basis(answer, out)?;
    }
    Ok(())
}

/// What was asked, so that the answer can be read alone.
pub fn question(answer: &Answer) -> Vec<String> {
    let users = match answer.users {
        1 => "One user".to_owned(),
        n => format!("{n} users"),
    };
    question_of(answer, &(users + &behind(answer)))
}

/// Behind how many terminals users are, if there are several: ` behind 8 terminals`.
#[must_use]
pub fn behind(answer: &Answer) -> String {
    match answer.terminals {
        0 | 1 => String::new(),
        n => format!(" behind {n} terminals"),
    }
}

/// The same of users that `users` names.
pub fn question_of(answer: &Answer, users: &str) -> Vec<String> {
    let path = &answer.path;
    let sizes: Vec<String> = answer.sizes.iter().map(ToString::to_string).collect();
    let sizes = sizes.join(", ");
    let what = match answer.traffic {
        Traffic::Web => format!("with pages of about {sizes}"),
        Traffic::Video => format!("with video at {}", answer.bitrate),
        Traffic::Mixed => format!(
            "in turn downloading {sizes}, browsing, watching video at {}",
            answer.bitrate
        ),
        Traffic::Mix(mix) => {
            let part = |(activity, percent): (Activity, u32)| {
                let what = match activity {
                    Activity::Download => format!("downloading {sizes}"),
                    Activity::Web => "browsing".to_owned(),
                    Activity::Video => format!("watching video at {}", answer.bitrate),
                    Activity::Upload => format!("uploading {UPLOAD}"),
                    Activity::Call => "in a call".to_owned(),
                };
                format!("{percent}% {what}")
            };
            mix.parts().map(part).collect::<Vec<_>>().join(", ")
        }
        Traffic::Download => format!("downloading {sizes}"),
    };
    let mean = match path.profile.as_ref().is_some_and(|c| c.rtt[0] < c.rtt[2]) {
        true => " on average",
        false => "",
    };
    let loss = loss(answer);
    let rate = rate(answer);
    let colon = if matches!(answer.traffic, Traffic::Mix(_)) {
        ":"
    } else {
        ""
    };
    let mut text = format!(
        "{users}{colon} {what} over {rate}, RTT {}{mean}, loss {loss}, queue {}",
        path.rtt,
        queues(answer)
    );
    if let Some(current) = &answer.current {
        text += &format!("; the sender of the capture runs {current}");
    }
    if let Some(beside) = &answer.beside {
        text += &format!("; half of them run {beside}");
    }
    if let Some(background) = answer.background {
        text += &format!("; other traffic of {background}");
    }
    if answer.users > 1 {
        text += &format!("; starts spread over {}", about(answer.stagger));
    }
    if answer.terminals > 1 {
        text += &format!("; {} back from each terminal", path.return_rate);
    }
    if let Some(jitter) = &path.jitter {
        text += &format!("; the delay varies each way, {jitter}");
    }
    if let Some(rtt) = path.server_rtt {
        text += &format!("; server and gateway {rtt} apart");
    }
    let mut lines = vec![text];
    if let Some(course) = &path.profile {
        lines.extend(of_course(course));
    }
    lines
}

/// A time with the three digits of it that count: `5 s` of 5.004420573 s.
pub(super) fn about(time: Duration) -> Duration {
    let ns = time.as_nanos();
    let rest = 10_u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Duration::from_nanos(ns.saturating_add(rest / 2) / rest * rest)
}

/// The queue of today, and those that it is compared with.
pub(super) fn queues(answer: &Answer) -> String {
    let names: Vec<String> = answer.queues.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [] => answer.path.queue.to_string(),
        [only] => only.clone(),
        [today, others @ ..] => format!("{today}, compared with {}", others.join(", ")),
    }
}

/// The rate of the link; of a trace its mean, as people write it.
pub(super) fn rate(answer: &Answer) -> String {
    let rate = answer.path.rate;
    match answer.path.profile.as_ref().map(|course| course.kind) {
        Some(ProfileKind::Trace) => format!("{:.1} Mbit/s on average", rate.bps_f64() / 1e6),
        Some(ProfileKind::Orbit | ProfileKind::Fade) | None => rate.to_string(),
    }
}

/// What the channel loses, or that the trace says it.
pub(super) fn loss(answer: &Answer) -> String {
    match &answer.path.profile {
        Some(course) if course.has_losses => "as in the trace".to_owned(),
        _ => answer.path.loss.to_string(),
    }
}

/// How the link changes with time.
pub(super) fn of_course(course: &LinkProfile) -> Vec<String> {
    let [least, _, most] = course.rtt.map(|rtt| digits3(rtt.as_secs() * 1e3));
    let mut text = format!("Over {}", course.text);
    if least != most {
        text += &format!(", RTT {least} to {most} ms");
    }
    if course.starts_differ() {
        let span = super::day::clock(course.span);
        text += &format!("; runs begin at different times within {span}");
    }
    let mut lines = vec![format!("{text}.")];
    lines.extend(course.notes.iter().cloned());
    lines
}

pub(super) fn verdict(answer: &Answer, build: Build, out: &mut Output) -> io::Result<()> {
    let sentences = answer.sentences();
    if let Some((headline, rest)) = sentences.split_first() {
        out.strong(headline)?;
        out.paragraph(0, &rest.join(" "))?;
    }
    let switch = answer.switch_on(build);
    if !switch.text.is_empty() {
        out.paragraph(0, &switch.text)?;
    }
    for command in &switch.commands {
        out.command(4, command)?;
    }
    let Some(pick) = answer.recommended() else {
        return Ok(());
    };
    let queue = answer.switch_on_queue(pick);
    if !queue.text.is_empty() {
        out.paragraph(0, &queue.text)?;
    }
    for command in &queue.commands {
        out.command(4, command)?;
    }
    Ok(())
}

/// The text of a cell, by the number of the row and the row.
type CellText<'a> = Box<dyn Fn(usize, &Row) -> String + 'a>;

/// A column of the table: what it says of a row.
struct Field<'a> {
    column: Column,
    text: CellText<'a>,
}

fn field<'a>(column: Column, text: impl Fn(usize, &Row) -> String + 'a) -> Field<'a> {
    Field {
        column,
        text: Box::new(text),
    }
}

pub(super) fn rows(answer: &Answer, details: bool) -> Table {
    table_of(answer, details, " <--")
}

/// The table with `mark` behind the transport that is recommended.
pub fn table_of(answer: &Answer, details: bool, mark: &'static str) -> Table {
    let mut fields = Vec::new();
    let pick = answer.verdict.pick;
    if answer.peps().len() > 1 {
        fields.push(field(Column::text("proxy"), |_, row| {
            row.pep.name().to_owned()
        }));
    }
    if answer.queues.len() > 1 {
        fields.push(field(Column::text("queue"), |_, row| {
            answer.queue(row).to_string()
        }));
    }
    fields.push(field(Column::text("transport"), move |i, row| {
        let mark = if Some(i) == pick { mark } else { "" };
        format!("{}{mark}", answer.transport(row))
    }));
    fields.extend(times(answer));
    let (gains, harms) = answer.effects();
    let beside_baseline = move |i: usize, share: Option<f64>| match i == answer.verdict.baseline {
        true => String::new(),
        false => share.map_or_else(|| UNKNOWN.to_owned(), signed),
    };
    fields.push(field(Column::number("gain"), move |i, _| {
        beside_baseline(i, gains[i].map(|gain| gain.share))
    }));
    fields.push(field(Column::number("others"), move |i, _| {
        beside_baseline(i, harms[i].map(|harm| harm.share))
    }));
    fields.extend(of_users(answer));
    fields.push(field(Column::number("wait [ms]").optional(1), |_, row| {
        format!("{:.0}", 1e3 * last(row).p95_queueing_delay_s())
    }));
    fields.push(field(Column::number("resent").optional(2), |_, row| {
        percent(last(row).resent_share())
    }));
    if details {
        fields.extend(more());
    }
    let mut table = Table::new(fields.iter().map(|f| f.column.clone()));
    for i in answer.order() {
        let row = &answer.rows[i];
        let tone = match row.is_deployable() || answer.hosts == Hosts::Rfc {
            _ if Some(i) == pick => Tone::Strong,
            true => Tone::Plain,
            false => Tone::Faint,
        };
        let text = |field: &Field<'_>| match (field.text)(i, row) {
            // What never ran has no numbers.
            text if is_unrun(row) && text.starts_with(['0', '-', '+']) => UNKNOWN.to_owned(),
            text => text,
        };
        let cells = fields.iter().map(|f| table::Cell::new(text(f)).tone(tone));
        table.row(cells);
    }
    table
}

/// What a table has in the place of a number that was not measured.
const UNKNOWN: &str = "-";

fn is_unrun(row: &Row) -> bool {
    row.cells.iter().all(|cell| cell.runs.is_empty())
}

/// Why a cell has no time.
pub(super) fn no_time(cell: &Cell) -> String {
    match cell.runs.is_empty() {
        true => "not run".to_owned(),
        false => "no end".to_owned(),
    }
}

/// The largest size: it shows most of what a setting does.
fn last(row: &Row) -> &Cell {
    &row.cells[row.cells.len() - 1]
}

/// The time of each size, and of each activity where there are several.
fn times(answer: &Answer) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let activities = answer.traffic.activities();
    for (size, bytes) in answer.sizes.iter().enumerate() {
        for activity in &activities {
            let activity = *activity;
            let heading = match (answer.sizes.len() > 1, activities.len() > 1) {
                (true, _) => format!("{bytes} [s]"),
                (false, true) => format!("{} [s]", activity.unit()),
                (false, false) => "time [s]".to_owned(),
            };
            fields.push(field(Column::number(heading), move |_, row| {
                let time = row.cells[size].time_of(activity);
                time.map_or_else(|| no_time(&row.cells[size]), |t| decimal(t.mean))
            }));
        }
    }
    if activities.len() == 1 {
        fields.push(field(Column::number("slow").optional(3), |_, row| {
            last(row).slow_s().map_or_else(String::new, decimal)
        }));
    }
    fields
}

/// What several users see, and those with pages and videos.
fn of_users(answer: &Answer) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    let mean = |f: fn(&bentpipe::compare::UserResult) -> Option<f64>| {
        move |_: usize, row: &Row| last(row).users_mean(f).map_or_else(String::new, decimal)
    };
    let activities = answer.traffic.activities();
    if activities.contains(&Activity::Web) {
        if answer.page_objects() > 1 {
            fields.push(field(Column::number("drawn [s]"), mean(|u| u.render_s)));
        }
        fields.push(field(Column::number("object [s]"), mean(|u| u.object_s)));
    }
    if activities.contains(&Activity::Video) {
        fields.push(field(
            Column::number("stalls"),
            mean(|u| u.startup_s.map(|_| u.stalls as f64)),
        ));
    }
    if answer.traffic.has_calls() {
        fields.push(field(Column::number("missed"), |_, row| {
            let missed = last(row).users_mean(|user| user.call_missed_share);
            missed.map_or_else(String::new, percent)
        }));
    }
    if answer.users > 1 {
        let rates = |f: fn(&bentpipe::compare::Rates) -> f64, scale: f64| {
            move |_: usize, row: &Row| {
                let rates = last(row).rates();
                rates.map_or_else(String::new, |r| digits3(f(&r) / scale))
            }
        };
        let column = |heading| Column::number(heading).optional(4);
        fields.push(field(column("Mbit/s"), rates(|r| r.median_bps, 1e6)));
        fields.push(field(column("worst"), rates(|r| r.worst_tenth_bps, 1e6)));
        fields.push(field(column("Jain"), rates(|r| r.jain, 1.0)));
    }
    fields
}

/// What only `--details` shows.
fn more<'a>() -> Vec<Field<'a>> {
    let number = |heading| Column::number(heading).optional(5);
    vec![
        field(number("±95%"), |_, row| {
            let time = last(row).time();
            time.and_then(|t| t.ci95).map_or_else(String::new, decimal)
        }),
        field(number("runs"), |_, row| row.cells[0].runs.len().to_string()),
        field(number("link Mbit/s"), |_, row| {
            format!("{:.2}", last(row).goodput_bps() / 1e6)
        }),
        field(number("drops"), |_, row| {
            format!("{:.0}", last(row).mean(|run| run.queue_drops as f64))
        }),
        field(number("RTOs"), |_, row| {
            format!("{:.1}", last(row).mean(|run| run.timeouts))
        }),
        field(number("range [s]"), |_, row| match last(row).time() {
            Some(t) if t.max > t.min => format!("{}-{}", decimal(t.min), decimal(t.max)),
            _ => String::new(),
        }),
    ]
}

/// A share as a percentage with its sign; none for zero.
pub fn signed(share: f64) -> String {
    match (100.0 * share).round() {
        0.0 => "0%".to_owned(),
        percent => format!("{percent:+.0}%"),
    }
}

/// Seconds as the table shows them.
pub fn decimal(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{s:.3}"),
        s if s < 10.0 => format!("{s:.2}"),
        s => format!("{s:.1}"),
    }
}

/// What the columns mean, once.
pub fn words(answer: &Answer) -> String {
    let time = match answer.traffic {
        Traffic::Web => "a page, from the request to the last byte",
        Traffic::Video => "what a viewer waits: for the start and in stalls",
        Traffic::Mixed => "a download, a page, and what a viewer waits for the video",
        Traffic::Mix(_) => "of each activity; of a video what a viewer waits",
        Traffic::Download => "a download, from the click to the last byte",
    };
    let other = answer.beside.as_deref().unwrap_or(DEFAULT);
    let baseline = answer.baseline();
    let activities = answer.traffic.activities();
    let mut text = format!(
        "time: {time}; the mean over the runs. {}gain: time saved against {}{}. others: time that \
         a user of {other} beside it loses. wait: what packets of others wait at the link, 95th \
         percentile. resent: packets sent again.",
        match activities.len() {
            1 => "slow: one in ten takes longer. ",
            _ if activities.contains(&Activity::Video) => "stalls: of one video. ",
            _ => "",
        },
        baseline.name,
        match answer.peps().len() > 1 {
            true => format!(" with proxy {}", baseline.pep.name()),
            false => String::new(),
        } + &match answer.queues.len() {
            0 | 1 => String::new(),
            _ => format!(" with a queue of {}", answer.path.queue),
        }
    );
    let is_fair = |queue: &Queue| queue.discipline == QueueDiscipline::FqCoDel;
    if answer.queues.iter().any(is_fair) {
        text += " Before fq-codel that is what waits of all flows; a flow that sends less than its \
                 share waits less.";
    }
    if table_has_unknowns(answer) {
        let is_sure = matches!(
            answer.verdict.certainty,
            Certainty::Clear | Certainty::Exact
        );
        text += match is_sure && !answer.rows.iter().any(is_unrun) {
            true => " -: not measured: it cannot win.",
            false => " -: not measured: it cannot win, or there was no time.",
        };
    }
    if answer.page_objects() > 1 {
        text += &format!(
            " drawn: when the document of a page and the first fifth of its {} objects are there.",
            answer.page_objects()
        );
    }
    if answer.has_dns() {
        text += " Times count the look-up of a name before the connection.";
    }
    if answer.traffic.has_calls() {
        text += &format!(
            " missed: packets of calls that are lost, or late by more than {CALL_DEADLINE}."
        );
    }
    if answer.users > 1 {
        text += " Mbit/s, worst: the user in the middle and the slowest tenth. Jain: 1 if all \
                 users get the same rate.";
    }
    if answer
        .candidates
        .iter()
        .any(|c| c.setting.initial_window.is_some())
    {
        text += " IW: packets that a connection begins with, 10 by default.";
    }
    if answer.has_quic() {
        text += " QUIC: its handshake has TLS's in it; the TCP of other rows has none, and `+ TLS` \
                 gives it one.";
    }
    if answer.candidates.iter().any(|c| c.setting.tls) {
        text +=
            " TLS: the handshake of TLS 1.3 precedes the data, a round trip for each connection.";
    }
    if answer.candidates.iter().any(|c| c.setting.zero_rtt) {
        text += " 0-RTT: users have been there before.";
    }
    if answer.candidates.iter().any(|c| c.name.starts_with("bp_")) {
        text += " bp_: loaded into the kernel by bentpipe.";
    }
    text
}

/// True if a row but the baseline never ran beside others, or not at all.
fn table_has_unknowns(answer: &Answer) -> bool {
    let harms = answer.harms().into_iter().enumerate();
    let others = harms.filter(|(row, _)| *row != answer.verdict.baseline);
    others.into_iter().any(|(_, harm)| harm.is_none())
}

fn legend(answer: &Answer, out: &mut Output) -> io::Result<()> {
    out.line("What was compared:")?;
    let width = answer.candidates.iter().map(|c| c.name.len()).max();
    for candidate in &answer.candidates {
        let text = format!("{}: {}", candidate.availability.name(), candidate.about);
        out.entry(2, &candidate.name, width.unwrap_or(0), &text)?;
    }
    Ok(())
}

/// The values that make results incomparable if they differ.
fn basis(answer: &Answer, out: &mut Output) -> io::Result<()> {
    out.paragraph(
        0,
        "Compare these numbers only with others that share these values:",
    )?;
    for point in points(answer) {
        out.point(&point)?;
    }
    out.paragraph(
        0,
        &format!(
            "{} with seeds from {} on, {:.1} million packets in all; {} on the way back.",
            if answer.is_simulated() {
                "Simulated"
            } else {
                "Measured"
            },
            answer.seed,
            answer.packets() as f64 / 1e6,
            answer.path.return_rate,
        ),
    )
}

/// Those values, in words.
pub(super) fn points(answer: &Answer) -> Vec<String> {
    let (path, candidates) = (&answer.path, &answer.candidates);
    let transports = || candidates.iter().map(|c| &c.transport);
    let bdp = path.bdp();
    let windows = |t: &bentpipe_tcp::Transport| t.receive_buffer.as_f64() / bdp.as_f64().max(1.0);
    let mut iw: Vec<u64> = transports().map(|t| t.initial_window as u64).collect();
    iw.sort_unstable();
    iw.dedup();
    let iw: Vec<String> = iw.iter().map(u64::to_string).collect();
    let (low, high) = transports()
        .map(windows)
        .fold((f64::INFINITY, 0.0_f64), |(l, h), w| (l.min(w), h.max(w)));
    let windows = if low < high {
        format!("windows from {} to {}", digits3(low), digits3(high))
    } else {
        format!("window of {}", digits3(low))
    };
    let mut points = vec![
        format!(
            "initial windows of {} segments (MSS 1448 with timestamps)",
            iw.join(", ")
        ),
        format!(
            "receive {windows} bandwidth-delay products (one: {bdp}, {} packets); the queue holds \
             {} and is empty after {}",
            path.bdp_segments(),
            digits3(path.queue_bytes().as_f64() / bdp.as_f64().max(1.0)),
            seconds(path.full_queue_delay().as_secs()),
        ),
    ];
    if let Some(t) = candidates.first().map(|c| &c.transport) {
        points.push(format!(
            "delayed ACKs: one per {} segments, at the latest after {}; smallest RTO {}; host \
             profile `{}`",
            t.delayed_ack.count,
            t.delayed_ack.timer,
            t.minimum_rto.unwrap_or(t.profile.rules().minimum_rto),
            t.profile.name(),
        ));
    }
    points.push("times include the opening of the connection".to_owned());
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_of_starts_is_not_told_to_the_nanosecond() {
        let told = [5_004_420_573, 10_000_000_000, 1_234_567, 999_999_999, 0, 7];
        let told = told.map(|ns| about(Duration::from_nanos(ns)).to_string());
        assert_eq!(told, ["5 s", "10 s", "1.23 ms", "1 s", "0 s", "7 ns"]);
    }
}
