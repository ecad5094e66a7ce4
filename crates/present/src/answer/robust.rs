//! Whether the advice holds beside the question: a table, a sentence and records.

use super::json::RowName;
use crate::output::Output;
use bentpipe::compare::{
    Answer, Certainty, Gain, HARM_LIMIT, Neighbour, Robustness, Sensitivity, Turn,
};
use bentpipe_outcome::record;
use bentpipe_report::table::{Column, Table};
use std::io;

/// Prints the table and what it rests on.
pub(super) fn print(answer: &Answer, robust: &Robustness, out: &mut Output) -> io::Result<()> {
    out.paragraph(0, &headline(answer, robust))?;
    out.line("")?;
    out.table(&table(answer, robust))?;
    out.line("")?;
    out.paragraph(0, &words(answer, robust))
}

/// Whether the advice holds for half and twice of each quantity, in a sentence.
pub(super) fn headline(answer: &Answer, robust: &Robustness) -> String {
    let near = |of: &Sensitivity| [of.half.clone(), of.twice.clone()];
    let near: Vec<(&str, Neighbour)> = robust
        .dimensions
        .iter()
        .flat_map(|of| {
            near(of)
                .into_iter()
                .flatten()
                .map(|n| (of.dimension.name(), n))
        })
        .collect();
    let place = |(name, n): &(&str, Neighbour)| format!("{name} {}", n.value);
    let that = |holds: Option<bool>| {
        let found = near.iter().filter(|(_, n)| n.holds == holds);
        found.map(place).collect::<Vec<_>>()
    };
    let (turned, open) = (that(Some(false)), that(None));
    let is_open = answer.verdict.certainty == Certainty::Open;
    let advice = if is_open {
        "What leads here"
    } else {
        "This advice"
    };
    match (turned.is_empty(), open.is_empty(), near.is_empty()) {
        (_, _, true) => "No neighbouring question could be run.".to_owned(),
        (true, true, _) => format!("{advice} holds for half and twice of each of these:"),
        (true, false, _) => format!(
            "No other advice is shown for half or twice of each of these; it is open with {}:",
            open.join(", ")
        ),
        (false, _, _) => format!("{advice} turns with {}:", turned.join(", ")),
    }
}

/// A row for each quantity.
pub(super) fn table(answer: &Answer, robust: &Robustness) -> Table {
    let columns = [
        "",
        "half",
        "as asked",
        "twice",
        "turns below",
        "turns above",
    ];
    let mut table = Table::new(columns.map(Column::text));
    let near = |neighbour: &Option<Neighbour>| {
        let found = neighbour.as_ref();
        found.map_or_else(
            || "-".to_owned(),
            |n| format!("{}: {}", n.value, advice(answer, n)),
        )
    };
    for of in &robust.dimensions {
        table.row([
            of.dimension.name().to_owned(),
            near(&of.half),
            of.asked.clone(),
            near(&of.twice),
            turn(answer, of, &of.below),
            turn(answer, of, &of.above),
        ]);
    }
    table
}

/// The name of a row, with its proxy where there are several.
fn name(answer: &Answer, row: usize) -> String {
    let row = &answer.rows[row];
    match answer.peps().len() {
        0 | 1 => row.name.clone(),
        _ => format!("{} ({})", row.name, row.pep.name()),
    }
}

/// The advice at one value.
fn advice(answer: &Answer, neighbour: &Neighbour) -> String {
    let pick = neighbour.pick.map(|row| name(answer, row));
    match (neighbour.holds, pick) {
        (Some(true), _) => "holds".to_owned(),
        (_, None) => "nothing ends".to_owned(),
        (Some(false), Some(pick)) => pick,
        (None, Some(pick)) => format!("{}, {pick} leads", neighbour.certainty.name()),
    }
}

/// Where it turns in one direction.
fn turn(answer: &Answer, of: &Sensitivity, turn: &Turn) -> String {
    let asked = |held: &Option<Neighbour>| {
        held.as_ref()
            .map_or_else(|| of.asked.clone(), |held| held.value.clone())
    };
    match turn {
        Turn::Unknown => "-".to_owned(),
        Turn::Never(farthest) => format!("not by {}", farthest.value),
        Turn::Open(held) => format!("open from {}", asked(held)),
        Turn::Between(held, turned) => {
            let to = turned
                .pick
                .map_or_else(|| "nothing ends".to_owned(), |row| name(answer, row));
            format!("{}: {to}", span(&asked(held), &turned.value))
        }
    }
}

/// From one value to another; a unit that both have stands once.
fn span(from: &str, to: &str) -> String {
    let unit = from.find(' ').map_or("", |at| &from[at..]);
    let from = match to.ends_with(unit) {
        true => &from[..from.len() - unit.len()],
        false => from,
    };
    format!("{from} to {to}")
}

/// What the table means.
pub(super) fn words(answer: &Answer, robust: &Robustness) -> String {
    let rows = robust.rows.iter().map(|row| name(answer, *row));
    let rows: Vec<String> = rows.collect();
    format!(
        "holds: the advice is shown to be the same, by the rule of the verdict (others may lose at \
         most {:.0}%). leads: the runs do not tell. turns: it holds up to the first value, and \
         another is shown at the second. Only {} were run for this.",
        100.0 * HARM_LIMIT,
        rows.join(", ")
    )
}

record! {
    /// Whether the advice holds beside the question.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct RobustRecord of (&Answer, &Robustness) {
        /// It in a sentence.
        label text: String = |at| headline(at.0, at.1);
        /// The rows that were run for it.
        key rows: Vec<RowName> = |at| {
            at.1.rows.iter().map(|row| RowName::of(&(at.0, *row))).collect()
        };
        /// One for each quantity.
        key dimensions: Vec<SensitivityRecord> = |at| {
            let dimensions = at.1.dimensions.iter();
            dimensions.map(|of| SensitivityRecord::of(&(at.0, of))).collect()
        };
    }
}

record! {
    /// How the advice depends on one quantity.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct SensitivityRecord of (&Answer, &Sensitivity) {
        /// `loss`, `queue` or `users`.
        label dimension: &'static str = |at| at.1.dimension.name();
        /// The value that was asked.
        label asked: String = |at| at.1.asked.clone();
        /// For half of it.
        part half: NeighbourRecord = |at| neighbour(at.0, at.1.half.as_ref());
        /// For twice of it.
        part twice: NeighbourRecord = |at| neighbour(at.0, at.1.twice.as_ref());
        /// Towards smaller values.
        key below: TurnRecord = |at| turn_record(at.0, at.1, &at.1.below);
        /// Towards larger values.
        key above: TurnRecord = |at| turn_record(at.0, at.1, &at.1.above);
    }
}

fn turn_record(answer: &Answer, of: &Sensitivity, of_turn: &Turn) -> TurnRecord {
    TurnRecord::of(&(answer, of_turn, turn(answer, of, of_turn)))
}

fn neighbour(answer: &Answer, of: Option<&Neighbour>) -> Option<NeighbourRecord> {
    of.map(|of| NeighbourRecord::of(&(answer, of)))
}

record! {
    /// The advice for a neighbouring question.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct NeighbourRecord of (&Answer, &Neighbour) {
        /// The value as it is typed.
        label value: String = |at| at.1.value.clone();
        /// That value over the one that was asked; where nothing is lost, over 0.001%.
        gauge factor: f64 = |at| at.1.factor;
        /// The row that is recommended there, or leads; null if nothing ended.
        part pick: RowName = |at| at.1.pick.map(|row| RowName::of(&(at.0, row)));
        /// What that gains over the baseline.
        part gain: Gain = |at| at.1.gain;
        /// How sure it is: `exact`, `clear`, `borderline` or `open`.
        label certainty: &'static str = |at| at.1.certainty.name();
        /// True if the advice is shown to be the same, false if another is shown, null if the
        /// runs do not tell.
        label holds: Option<bool> = |at| at.1.holds;
        /// The advice in a word or two.
        label text: String = |at| advice(at.0, at.1);
    }
}

record! {
    /// Where the advice turns in one direction.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct TurnRecord of (&Answer, &Turn, String) {
        /// `never`, `between`, `open` or `unknown`.
        label kind: &'static str = |at| match at.1 {
            Turn::Never(_) => "never",
            Turn::Between(..) => "between",
            Turn::Open(_) => "open",
            Turn::Unknown => "unknown",
        };
        /// The last value at which it is shown to hold; null for the one that was asked.
        part holds: NeighbourRecord = |at| match at.1 {
            Turn::Never(held) => neighbour(at.0, Some(held)),
            Turn::Between(held, _) | Turn::Open(held) => neighbour(at.0, held.as_ref()),
            Turn::Unknown => None,
        };
        /// Where it turns, in words.
        label text: String = |at| at.2.clone();
        /// The first value at which another is shown.
        part turned: NeighbourRecord = |at| match at.1 {
            Turn::Between(_, turned) => neighbour(at.0, Some(turned)),
            Turn::Never(_) | Turn::Open(_) | Turn::Unknown => None,
        };
    }
}
