//! Tables of what flows or links did: a row each, or, where there are many, the sum, the
//! least, the median, the mean and the most of each group.

use crate::groups::Group;
use bentpipe_report::table::{Column, Table};
use bentpipe_study::stats;

/// What a row says of several items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statistic {
    /// The item itself, or the sum of several, where that means something.
    Sum,
    /// The sum, and of what does not add up the mean.
    SumOrMean,
    Least,
    Median,
    Mean,
    Most,
}

/// The rows of a group, with their labels.
const ROWS: [(&str, Statistic); 5] = [
    ("  sum", Statistic::Sum),
    ("  least", Statistic::Least),
    ("  median", Statistic::Median),
    ("  mean", Statistic::Mean),
    ("  most", Statistic::Most),
];

/// Groups of at least so many have these rows; of smaller ones the sum is enough.
const SPREAD_FROM: usize = 5;

/// More groups than these have a row each.
const FULL_GROUPS: usize = 6;

/// What rows of small groups, and of many, say.
const MEANS: &str = "In a row of a sum, times, shares and queues are means.";

impl Statistic {
    fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        let all = values.iter().copied();
        match self {
            Statistic::Sum => Some(all.sum()),
            Statistic::Least => all.reduce(f64::min),
            Statistic::Median => stats::median(values),
            Statistic::SumOrMean | Statistic::Mean => Some(all.sum::<f64>() / values.len() as f64),
            Statistic::Most => all.reduce(f64::max),
        }
    }
}

/// Numbers of an item; some may be unknown.
type Parts = Vec<Option<f64>>;

/// What prints such numbers, added up or one by one.
type Print<'a> = Box<dyn Fn(&[Option<f64>]) -> String + 'a>;

enum Value<'a, T> {
    /// A text, shown where all members have the same.
    Text(Box<dyn Fn(&T) -> String + 'a>),
    Numbers {
        parts: Box<dyn Fn(&T) -> Parts + 'a>,
        print: Print<'a>,
        /// Whether several can be added up.
        adds_up: bool,
    },
}

/// The columns of a table of items.
pub(crate) struct Measures<'a, T> {
    columns: Vec<(Column, Value<'a, T>)>,
}

/// A table, and what there is to say of the rows that it does not have.
pub(crate) struct Folded {
    pub(crate) table: Table,
    pub(crate) note: Option<String>,
}

impl<'a, T> Measures<'a, T> {
    pub(crate) fn new() -> Self {
        Measures {
            columns: Vec::new(),
        }
    }

    /// A column of texts.
    pub(crate) fn text(mut self, column: Column, text: impl Fn(&T) -> String + 'a) -> Self {
        self.columns.push((column, Value::Text(Box::new(text))));
        self
    }

    /// A column of numbers that several items do not add up to, such as times.
    pub(crate) fn number(
        self,
        column: Column,
        value: impl Fn(&T) -> Option<f64> + 'a,
        print: impl Fn(f64) -> String + 'a,
    ) -> Self {
        let print = move |x: &[Option<f64>]| x[0].map_or_else(|| "-".to_owned(), &print);
        self.parts(column, move |item| vec![value(item)], print, false)
    }

    /// A column of numbers that can be added up.
    pub(crate) fn amount(
        self,
        column: Column,
        value: impl Fn(&T) -> f64 + 'a,
        print: impl Fn(f64) -> String + 'a,
    ) -> Self {
        let print = move |x: &[Option<f64>]| x[0].map_or_else(String::new, &print);
        self.parts(column, move |item| vec![Some(value(item))], print, true)
    }

    /// A column of counts.
    pub(crate) fn count(self, column: Column, value: impl Fn(&T) -> u64 + 'a) -> Self {
        self.amount(
            column,
            move |item| value(item) as f64,
            |x| format!("{x:.0}"),
        )
    }

    /// A column whose cells are made of several numbers.
    pub(crate) fn parts(
        mut self,
        column: Column,
        parts: impl Fn(&T) -> Parts + 'a,
        print: impl Fn(&[Option<f64>]) -> String + 'a,
        adds_up: bool,
    ) -> Self {
        let value = Value::Numbers {
            parts: Box::new(parts),
            print: Box::new(print),
            adds_up,
        };
        self.columns.push((column, value));
        self
    }

    /// A row for each of `items`, or, where that would be more than `rows`, for each of
    /// their `groups`. `what` they are called: `flow`, whose plural has an `s`. With
    /// `totals`, the sums of few are below their rows.
    pub(crate) fn table(
        &self,
        what: &str,
        items: &[(&str, &T)],
        groups: &[Group],
        rows: usize,
        totals: bool,
    ) -> Folded {
        let columns = self.columns.iter().map(|(column, _)| column.clone());
        let mut table = Table::new([Column::text(what)].into_iter().chain(columns));
        let all: Vec<&T> = items.iter().map(|(_, item)| *item).collect();
        if items.len() <= rows {
            for (name, item) in items {
                table.row(self.row((*name).to_owned(), &[item], Statistic::Sum));
            }
            if totals && items.len() >= SPREAD_FROM {
                for row in self.totals(&all, groups) {
                    table.total(row);
                }
            }
            return Folded { table, note: None };
        }
        let full = groups.len() <= FULL_GROUPS;
        for group in groups.iter().take(rows) {
            for row in self.group(&all, group, full) {
                table.row(row);
            }
        }
        if groups.len() > 1 && totals {
            table.total(self.row("sum of all".to_owned(), &all, Statistic::Sum));
        }
        let beyond = match groups.len().saturating_sub(rows) {
            0 => String::new(),
            n => format!(", of which {n} are not shown"),
        };
        let short = |group: &Group| group.members.len() > 1 && !is_full(group, full);
        let means = match groups.iter().any(short) {
            true => format!(" {MEANS}"),
            false => String::new(),
        };
        let note = format!(
            "{} {what}s are folded into {} {}{beyond}; --all prints each.{means}",
            items.len(),
            groups.len(),
            if groups.len() == 1 { "group" } else { "groups" },
        );
        Folded {
            table,
            note: Some(note),
        }
    }

    /// The rows of a group: that of a single item; its sum; or, where it is `full`, its name,
    /// its sum and its spread.
    fn group(&self, all: &[&T], group: &Group, full: bool) -> Vec<Vec<String>> {
        let members: Vec<&T> = group.members.iter().map(|i| all[*i]).collect();
        if members.len() == 1 {
            return vec![self.row(group.label.clone(), &members, Statistic::Sum)];
        }
        if !is_full(group, full) {
            let label = format!("sum of {}", group.label);
            return vec![self.row(label, &members, Statistic::SumOrMean)];
        }
        let mut rows = vec![vec![group.label.clone()]];
        rows.extend(self.spread(&members));
        rows
    }

    /// The sum and the spread of several items; the sum and one of them where all are alike.
    fn spread(&self, members: &[&T]) -> Vec<Vec<String>> {
        let row =
            |(label, statistic): &(&str, _)| self.row((*label).to_owned(), members, *statistic);
        let mut rows: Vec<Vec<String>> = ROWS.iter().map(row).collect();
        if rows[1][1..] == rows[4][1..] {
            rows.truncate(2);
            "  each".clone_into(&mut rows[1][0]);
        }
        // Where nothing can be added up, there is no sum.
        rows.retain(|row| row[1..].iter().any(|cell| !cell.is_empty()));
        rows
    }

    /// The rows below those of the items: of groups, and of all.
    fn totals(&self, all: &[&T], groups: &[Group]) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        if groups.len() > 1 {
            let several = groups.iter().filter(|group| group.members.len() > 1);
            rows.extend(several.flat_map(|group| self.group(all, group, true)));
        }
        let spread = rows.is_empty() || groups.iter().all(|g| g.members.len() < SPREAD_FROM);
        let label = format!("all {}", all.len());
        if !spread {
            rows.push(self.row(format!("sum of {label}"), all, Statistic::Sum));
            return rows;
        }
        rows.push(vec![label]);
        rows.extend(self.spread(all));
        rows
    }

    fn row(&self, label: String, members: &[&T], statistic: Statistic) -> Vec<String> {
        let cells = self.columns.iter().map(|(_, value)| match value {
            Value::Text(text) => match (statistic, members.split_first()) {
                (Statistic::Sum | Statistic::SumOrMean, Some((first, rest))) => {
                    let first = text(first);
                    let same = rest.iter().all(|item| text(item) == first);
                    if same { first } else { String::new() }
                }
                _ => String::new(),
            },
            Value::Numbers { adds_up, .. }
                if statistic == Statistic::Sum && members.len() > 1 && !adds_up =>
            {
                String::new()
            }
            Value::Numbers {
                parts,
                print,
                adds_up,
            } => {
                let all: Vec<Parts> = members.iter().map(|item| parts(item)).collect();
                let count = all.first().map_or(0, Vec::len);
                let sums = statistic == Statistic::SumOrMean && *adds_up;
                let statistic = if sums { Statistic::Sum } else { statistic };
                let known = |i: usize| -> Vec<f64> { all.iter().filter_map(|p| p[i]).collect() };
                let of_all: Parts = (0..count).map(|i| statistic.of(&known(i))).collect();
                print(&of_all)
            }
        });
        [label].into_iter().chain(cells).collect()
    }
}

/// Whether a group has the rows of its spread, where not too many groups have them.
fn is_full(group: &Group, full: bool) -> bool {
    full && group.members.len() >= SPREAD_FROM
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups;

    fn folded(n: usize, rows: usize) -> Folded {
        let names: Vec<String> = (1..=n).map(|i| format!("d[{i}]")).collect();
        let values: Vec<(f64, Option<f64>)> = (1..=n)
            .map(|i| (i as f64, (i % 2 == 0).then_some(10.0 * i as f64)))
            .collect();
        let mut items: Vec<(&str, &(f64, Option<f64>))> =
            names.iter().map(String::as_str).zip(&values).collect();
        let other = (1000.0, None);
        items.push(("other", &other));
        let measures = Measures::new()
            .amount(
                Column::number("MB"),
                |x: &(f64, Option<f64>)| x.0,
                |x| x.to_string(),
            )
            .number(Column::number("time"), |x| x.1, |x| x.to_string());
        let groups = groups::of_names(items.iter().map(|(name, _)| *name));
        measures.table("flow", &items, &groups, rows, true)
    }

    #[test]
    fn many_items_are_folded_into_their_groups() {
        let many = folded(30, 20);
        insta::assert_snapshot!(many.table.to_text(false), @r"
        flow          MB  time
        ──────────  ────  ────
        d[1-30]
          sum        465
          least        1    20
          median    15.5   160
          mean      15.5   160
          most        30   300
        other       1000     -
        ──────────  ────  ────
        sum of all  1465
        ");
        let note = many.note.unwrap();
        assert_eq!(
            note,
            "31 flows are folded into 2 groups; --all prints each."
        );
    }

    #[test]
    fn few_items_have_a_row_each_and_totals() {
        let few = folded(6, 20);
        insta::assert_snapshot!(few.table.to_text(false), @r"
        flow            MB  time
        ────────────  ────  ────
        d[1]             1     -
        d[2]             2    20
        d[3]             3     -
        d[4]             4    40
        d[5]             5     -
        d[6]             6    60
        other         1000     -
        ────────────  ────  ────
        d[1-6]
          sum           21
          least          1    20
          median       3.5    40
          mean         3.5    40
          most           6    60
        sum of all 7  1021
        ");
        assert!(few.note.is_none());
        assert_eq!(folded(30, usize::MAX).table.len(), 31);
        assert_eq!(folded(3, 20).table.to_text(false).lines().count(), 6);
    }
}
