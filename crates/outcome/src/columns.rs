//! The tables of results and their columns.

use crate::record::{Declared, Part};
use crate::series::SampleRow;
use crate::value::Kind;
use crate::{
    FlowLinkStats, FlowOutcome, LegOutcome, LinkOutcome, MiddleboxOutcome, Outcome, RunInfo, RunKey,
};

/// One of the tables of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// One row per run and flow.
    Runs,
    /// One row per run and link.
    Links,
    /// One row per run, flow and link on the flow's path.
    Crossings,
    /// One row per run and middlebox.
    Middleboxes,
    /// One row per run and leg of a split flow.
    Legs,
    /// One row per sample of a time series.
    Series,
}

impl TableKind {
    /// All kinds of tables, in the order of their declaration.
    pub const ALL: [TableKind; 6] = [
        TableKind::Runs,
        TableKind::Links,
        TableKind::Crossings,
        TableKind::Middleboxes,
        TableKind::Legs,
        TableKind::Series,
    ];

    /// Its name, which its files have: `runs` of `runs.csv` and `runs.parquet`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Runs => "runs",
            TableKind::Links => "links",
            TableKind::Crossings => "crossings",
            TableKind::Middleboxes => "middleboxes",
            TableKind::Legs => "legs",
            TableKind::Series => "series",
        }
    }

    /// Meaning of a row.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            TableKind::Runs => "a row per run and flow: what each flow did",
            TableKind::Links => "a row per run and link: what each link did",
            TableKind::Crossings => {
                "a row per run, flow and link on the flow's path, forth and back: what the flow did \
                 to that link. Flows that are computed, not simulated, have none"
            }
            TableKind::Middleboxes => "a row per run and middlebox; only where there are any",
            TableKind::Legs => {
                "a row per run and leg of a flow that split-connection PEPs split; only where there \
                 are any"
            }
            TableKind::Series => {
                "a row per run, flow and sample of its time series; only where series were asked for. \
                 A sample is of one kind, and the columns of the other kinds are empty"
            }
        }
    }

    /// True if the outcome has rows of it, or if it is always written.
    #[must_use]
    pub fn is_of(self, outcome: &Outcome) -> bool {
        match self {
            TableKind::Runs | TableKind::Links | TableKind::Crossings => true,
            TableKind::Middleboxes => !outcome.middleboxes.is_empty(),
            TableKind::Legs => !outcome.legs.is_empty(),
            TableKind::Series => !outcome.series.is_empty(),
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with the unit.
    pub name: String,
    /// Type of its cells.
    pub kind: Kind,
    /// The unit of its numbers; empty for texts and names.
    pub unit: &'static str,
    /// One-line description.
    pub about: String,
}

impl Column {
    /// A column; the unit follows from its name and kind.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Kind, about: impl Into<String>) -> Column {
        let name = name.into();
        Column {
            unit: unit(&name, kind),
            name,
            kind,
            about: about.into(),
        }
    }
}

/// The endings of names and their units.
const UNITS: [(&str, &str); 8] = [
    ("_ns", "ns"),
    ("_s", "s"),
    ("_bps", "bit/s"),
    ("bytes", "bytes"),
    ("packets", "packets"),
    ("_segments", "segments"),
    ("_ratio", "ratio"),
    ("_bdp", "BDP"),
];

/// Columns of whole numbers that count nothing.
const NUMBERS: [&str; 3] = ["run", "seed", "leg"];

fn unit(name: &str, kind: Kind) -> &'static str {
    let known = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    match (kind, known) {
        (Kind::Text | Kind::Flag, _) => "",
        (_, Some((_, unit))) => unit,
        (Kind::Integer, None) if NUMBERS.contains(&name) => "",
        (Kind::Integer, None) => "count",
        (Kind::Number, None) => "ratio",
    }
}

/// The columns of a table, in order, without a study's axes. They begin with `study` and `run`,
/// which name a run, and which every file has: rows of two files belong to the same run if both are
/// equal.
#[must_use]
pub fn columns(table: TableKind) -> Vec<Column> {
    let key = declared::<RunKey>();
    [key, columns_of_run(table)].concat()
}

fn columns_of_run(table: TableKind) -> Vec<Column> {
    let run = declared::<RunInfo>();
    match table {
        TableKind::Runs => [run, declared::<FlowOutcome>()].concat(),
        TableKind::Links => [run, declared::<LinkOutcome>()].concat(),
        TableKind::Crossings => [run, declared::<FlowLinkStats>()].concat(),
        TableKind::Middleboxes => [run, declared::<MiddleboxOutcome>()].concat(),
        TableKind::Legs => [run, declared::<LegOutcome>()].concat(),
        TableKind::Series => {
            let flow = declared::<FlowOutcome>();
            [&run[..2], &flow[..1], &declared::<SampleRow>()].concat()
        }
    }
}

fn declared<T: Part>() -> Vec<Column> {
    let mut columns = Vec::new();
    T::each_column(&mut |declared: Declared| {
        columns.push(Column::new(declared.column, declared.kind, declared.about));
    });
    columns
}

/// The columns of what a run is: what every table but the series begins with.
#[must_use]
pub fn run_columns() -> Vec<Column> {
    [declared::<RunKey>(), declared::<RunInfo>()].concat()
}

/// Type of the cells of a column of any table; `None` for a study's axes.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    let mut all = TableKind::ALL.into_iter().flat_map(columns);
    all.find(|column| column.name == name).map(|c| c.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_kind_in_every_table_and_occurs_once_in_each() {
        for table in TableKind::ALL {
            let columns = columns(table);
            for (i, c) in columns.iter().enumerate() {
                assert_eq!(kind_of(&c.name), Some(c.kind), "{}", c.name);
                assert!(
                    columns[..i].iter().all(|d| d.name != c.name),
                    "{} twice",
                    c.name
                );
            }
        }
    }

    #[test]
    fn a_column_says_what_the_field_is() {
        let columns = columns(TableKind::Runs);
        let about = |name: &str| {
            let column = columns.iter().find(|c| c.name == name);
            column.map(|c| c.about.as_str()).unwrap()
        };
        assert_eq!(about("retransmissions"), "data packets sent again");
        assert_eq!(
            about("jain_index"),
            "fairness of the goodputs of the run's flows: Jain's index"
        );
    }
}
