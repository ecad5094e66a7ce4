//! Answers to the same question for several numbers of users: the verdicts side by side.

use super::print::{decimal, question, signed};
use crate::output::Output;
use bentpipe::compare::{Answer, Build, Row, record};
use bentpipe_outcome::csv_text;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use serde_json::{Value, json};
use std::io;

/// The table of `bentpipe compare --csv`: a row for each transport, proxy, queue and size of
/// each answer, units in the names of the columns.
///
/// # Errors
/// None, unless a record lacks a cell.
pub fn csv(answers: &[Answer]) -> io::Result<String> {
    let (columns, rows) = record::answers_table(answers);
    csv_text(&columns, &rows)
}

/// `{"by_users": [...]}`: the document of each answer.
#[must_use]
pub fn document(answers: &[Answer], build: Build) -> Value {
    let answers = answers.iter();
    let answers = answers.map(|answer| super::document(answer, build));
    json!({ "by_users": answers.collect::<Vec<_>>() })
}

/// What is advised for which number of users, in a sentence.
#[must_use]
pub fn headline(answers: &[Answer]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for answer in answers {
        let (advice, users) = (advice(answer), answer.users.to_string());
        match groups.last_mut() {
            Some((same, counts)) if *same == advice => counts.push(users),
            _ => groups.push((advice, vec![users])),
        }
    }
    match groups.as_slice() {
        [(advice, _)] => format!("The advice is the same for each number of users: {advice}."),
        groups => {
            let parts = groups.iter().map(|(advice, counts)| {
                let users = match counts.as_slice() {
                    [one] if one == "1" => "one user".to_owned(),
                    [first, .., last] => format!("{first} to {last} users"),
                    [one] => format!("{one} users"),
                    [] => String::new(),
                };
                format!("{advice} for {users}")
            });
            let parts: Vec<String> = parts.collect();
            format!(
                "The advice changes with the number of users: {}.",
                parts.join(", ")
            )
        }
    }
}

/// What a verdict comes to, in a few words.
fn advice(answer: &Answer) -> String {
    match answer.recommended() {
        None => "none".to_owned(),
        Some(row) if answer.is_kept() => format!("keep {}", row.name),
        Some(row) if row.pep == bentpipe::compare::Pep::None => row.name.clone(),
        Some(row) => format!("{} behind {}", row.name, row.pep.name()),
    }
}

/// A row for each number of users: what is advised, how sure that is, and what it gives.
#[must_use]
pub fn table(answers: &[Answer]) -> Table {
    let activities = answers
        .first()
        .map_or(Vec::new(), |a| a.traffic.activities());
    let unit = |i: usize| match activities.len() {
        0 | 1 => "time [s]".to_owned(),
        _ => format!("{} [s]", activities[i].unit()),
    };
    let mut columns = vec![
        Column::number("users"),
        Column::text("use"),
        Column::text("verdict"),
    ];
    for i in 0..activities.len() {
        columns.push(Column::number(unit(i)));
        columns.push(Column::number("default"));
    }
    columns.extend([
        Column::number("gain"),
        Column::number("others"),
        Column::number("runs").optional(1),
    ]);
    let mut table = Table::new(columns);
    for answer in answers {
        let (base, pick) = (answer.baseline(), answer.recommended());
        let of_pick = |share: Option<f64>| match answer.is_kept() {
            true => String::new(),
            false => share.map_or_else(|| "-".to_owned(), signed),
        };
        let mut cells = vec![
            answer.users.to_string(),
            advice(answer),
            answer.verdict.certainty.name().to_owned(),
        ];
        for activity in &activities {
            let time = |row: Option<&Row>| {
                let time = row.and_then(|row| row.cells.last()?.time_of(*activity));
                time.map_or_else(|| "no end".to_owned(), |time| decimal(time.mean))
            };
            cells.push(time(pick));
            cells.push(time(Some(base)));
        }
        cells.push(of_pick(answer.verdict.gain.map(|gain| gain.share)));
        cells.push(of_pick(answer.verdict.harm.map(|harm| harm.share)));
        cells.push(answer.most_runs().to_string());
        table.row(
            cells
                .into_iter()
                .map(|text| Cell::new(text).tone(Tone::Plain)),
        );
    }
    table
}

/// Prints the verdicts side by side, then each in words, or with `details` whole.
///
/// # Errors
/// If it cannot be printed.
pub fn print(answers: &[Answer], build: Build, details: bool, out: &mut Output) -> io::Result<()> {
    out.strong(headline(answers))?;
    out.line("")?;
    out.table(&table(answers))?;
    for answer in answers {
        out.line("")?;
        if details {
            super::print(answer, build, true, out)?;
            continue;
        }
        out.paragraph(0, &question(answer).join(" "))?;
        super::print::verdict(answer, build, out)?;
    }
    if !details {
        out.line("")?;
        out.paragraph(
            0,
            "time: the mean over the runs, with what is advised; default: with what the link has \
             today; gain: time saved against it; others: time that users of the default beside it \
             lose. All transports of each number of users with --details.",
        )?;
    }
    Ok(())
}

/// What `bentpipe compare` prints for several numbers of users, in lines of `width`
/// characters.
///
/// # Errors
/// If it cannot be printed.
pub fn text(answers: &[Answer], build: Build, width: usize, details: bool) -> io::Result<String> {
    Output::text_of(width, |out| print(answers, build, details, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe::Comparison;
    use bentpipe::units::{Bytes, Rate, Ratio};

    fn answers() -> Vec<Answer> {
        let question = Comparison::new()
            .rate(Rate::from_mbps(2))
            .loss(Ratio::ZERO)
            .size(Bytes::new(60_000))
            .transports(["cubic", "cubic + IW 32"])
            .runs(2);
        [1, 4]
            .map(|users| question.clone().users(users).run().unwrap())
            .into()
    }

    #[test]
    fn verdicts_stand_side_by_side() {
        let answers = answers();
        let text = text(&answers, Build::default(), 100, false).unwrap();
        assert!(text.starts_with("The advice "), "{text}");
        let table = table(&answers);
        assert_eq!(table.texts().len(), 2);
        assert!(headline(&answers).contains("cubic + IW 32"), "{text}");
    }

    #[test]
    fn the_rows_of_all_numbers_are_one_table() {
        let answers = answers();
        let text = csv(&answers).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 2);
        assert!(
            lines[0].starts_with("users,pep,transport,queue,"),
            "{}",
            lines[0]
        );
        assert!(lines[0].contains(",time_s,") && lines[0].contains("size_bytes"));
        assert!(lines[1].starts_with("1,none,") && lines[3].starts_with("4,none,"));
    }
}
