//! No table of the papers with a bar passes uninformative numbers.

use super::*;
use crate::paper::papers;
use crate::stats;
use std::collections::BTreeMap;
use std::path::Path;

/// The published numbers of a table by row and column.
type Numbers = BTreeMap<(String, String), f64>;

fn numbers(spec: &TableSpec, home: &Study, reference: &Reference) -> Numbers {
    let (rows, columns) = labels(spec, home);
    let mut numbers = Numbers::new();
    for row in &rows {
        for column in &columns {
            if let Some(published) = reference.get(row, column) {
                numbers.insert((row.clone(), column.clone()), published.value);
            }
        }
    }
    numbers
}

/// Replaces every number by one for its group.
fn grouped(numbers: &Numbers, group: fn(&str, &str) -> String, one: fn(&[f64]) -> f64) -> Numbers {
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for ((row, column), x) in numbers {
        groups.entry(group(row, column)).or_default().push(*x);
    }
    let of = |(row, column): &(String, String)| one(&groups[&group(row, column)]);
    numbers.keys().map(|at| (at.clone(), of(at))).collect()
}

/// Uninformative tables: a zero, and constants, means and medians of the table, its rows and its
/// columns.
fn empty_of_meaning(numbers: &Numbers) -> Vec<(String, Numbers)> {
    type Group = fn(&str, &str) -> String;
    let groups: [(&str, Group); 3] = [
        ("table", |_, _| String::new()),
        ("row", |row, _| row.to_owned()),
        ("column", |_, column| column.to_owned()),
    ];
    let mut fakes = vec![(
        "zero".to_owned(),
        grouped(numbers, |_, _| String::new(), |_| 0.0),
    )];
    for (name, group) in groups {
        let values = numbers.keys().map(|(row, column)| group(row, column));
        let several = values.collect::<std::collections::BTreeSet<_>>().len() < numbers.len();
        if several {
            fakes.push((
                format!("mean of the {name}"),
                grouped(numbers, group, stats::mean),
            ));
            let median = |xs: &[f64]| stats::median(xs).unwrap_or(0.0);
            fakes.push((
                format!("median of the {name}"),
                grouped(numbers, group, median),
            ));
        }
    }
    fakes
}

/// A bar and the cells that it is about.
struct Group<'a> {
    spec: &'a TableSpec,
    /// Its column; `None` for the table as a whole.
    column: Option<String>,
}

impl Group<'_> {
    /// Every bar of a table that is to be met.
    fn all(spec: &TableSpec) -> Vec<Group<'_>> {
        let bar = spec.bar.as_ref().unwrap();
        let whole = (bar.limits != Limits::default()).then_some(None);
        let columns = bar.per_column.keys().map(|column| Some(column.clone()));
        let group = |column| Group { spec, column };
        whole.into_iter().chain(columns).map(group).collect()
    }

    fn holds(&self, column: &str) -> bool {
        match &self.column {
            None => self.spec.bar.as_ref().unwrap().counts(column),
            Some(name) => column == name || column.split(COLUMN_JOIN).any(|part| part == name),
        }
    }

    /// Whether these numbers meet the bar.
    fn met(&self, home: &Study, reference: &Reference, ours: &Numbers) -> bool {
        let table = judged(self.spec, home, Some(reference), false, &|place| {
            let at = (place.row.clone(), place.column.clone());
            Shown {
                value: Ok((ours.get(&at).copied().unwrap_or(0.0), None, 1)),
                samples: Vec::new(),
                unit: String::new(),
            }
        });
        let summary = table.errors.iter().find(|e| e.column == self.column);
        let worse = |cell: &TableCell| cell.verdict == CellVerdict::Worse && !cell.known;
        let mut cells = table.cells.iter().flatten();
        let misses = summary.is_some_and(|s| s.verdict == CellVerdict::Worse || s.changed)
            || cells.any(|cell| self.holds(&cell.column) && worse(cell));
        !misses
    }
}

#[test]
fn no_bar_of_the_papers_passes_a_constant_or_a_zero() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let mut passed = Vec::new();
    let mut tables = 0;
    for (slug, paper) in papers(&folder).unwrap() {
        let paper = paper.unwrap();
        for loaded in paper.studies.iter() {
            for spec in loaded.study.tables.iter().filter(|t| t.bar.is_some()) {
                let from = spec.from.as_deref().unwrap_or(&loaded.study.name);
                let home = &paper.studies.get(from).unwrap().study;
                let reference = &loaded.references[&spec.slug];
                let published = numbers(spec, home, reference);
                tables += 1;
                for group in Group::all(spec) {
                    let mut published = published.clone();
                    published.retain(|(_, column), _| group.holds(column));
                    assert!(published.len() >= 2, "{slug} {}", spec.slug);
                    let mut fakes = empty_of_meaning(&published);
                    fakes.retain(|(_, fake)| group.met(home, reference, fake));
                    let column = group.column.as_deref().unwrap_or("");
                    for (name, _) in fakes {
                        passed.push(format!("{slug} {} `{column}`: {name}", spec.slug));
                    }
                }
            }
        }
    }
    assert!(tables > 10, "{tables}");
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}
