//! The columns of a study's axes.

use crate::Error;
use crate::columns::{Column, kind_of};
use crate::value::{Kind, Value};
use std::path::Path;

/// The dimension of the numbers of an axis: the suffix of its column of numbers.
///
/// Each quantity has one unit, whatever the study writes: `300 ms` and `1 s`
/// are 0.3 and 1 in `rtt_s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// Seconds: `_s`.
    Seconds,
    /// Bits per second: `_bps`.
    BitRate,
    /// Bytes: `_bytes`.
    Bytes,
    /// A ratio, 0.01 for `1%`: `_ratio`.
    Ratio,
    /// Packets: `_packets`.
    Packets,
    /// Segments: `_segments`.
    Segments,
    /// Bandwidth-delay products: `_bdp`.
    Bdp,
    /// A number without a unit: `_value`.
    Value,
}

impl AxisUnit {
    /// Every unit, with the ending of the column.
    pub const ALL: [(AxisUnit, &'static str, &'static str); 8] = [
        (AxisUnit::Seconds, "_s", "seconds"),
        (AxisUnit::BitRate, "_bps", "bits per second"),
        (AxisUnit::Bytes, "_bytes", "bytes"),
        (AxisUnit::Ratio, "_ratio", "a ratio, 0.01 for 1%"),
        (AxisUnit::Packets, "_packets", "packets"),
        (AxisUnit::Segments, "_segments", "segments"),
        (AxisUnit::Bdp, "_bdp", "bandwidth-delay products"),
        (AxisUnit::Value, "_value", "a number without a unit"),
    ];

    fn row(self) -> (&'static str, &'static str) {
        let found = AxisUnit::ALL.iter().find(|(unit, ..)| *unit == self);
        found.map_or(("", ""), |(_, ending, words)| (ending, words))
    }
}

/// An axis of a study as columns: the points' labels as text and, where the
/// points have numbers, another column with these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisColumn {
    /// Name of the axis.
    pub name: String,
    /// The dimension of its numbers; `None` if it has none.
    pub unit: Option<AxisUnit>,
    /// True if the folder of the file says the label, `delay=50%20ms`: then the
    /// label is no column of the file.
    pub in_path: bool,
}

impl AxisColumn {
    /// An axis without numbers.
    #[must_use]
    pub fn text(name: &str) -> AxisColumn {
        AxisColumn {
            name: name.to_owned(),
            unit: None,
            in_path: false,
        }
    }

    /// The name of the column of its labels in a table that has these columns besides those of
    /// axes.
    #[must_use]
    pub fn column(&self, columns: &[Column]) -> String {
        let known = |name: &str| kind_of(name).is_some() || columns.iter().any(|c| c.name == name);
        let [text, _] = names(self, &known);
        text.unwrap_or_default()
    }
}

/// A point of an axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AxisPoint {
    /// Its label.
    pub label: String,
    /// Its number in the unit of the axis, if it has one.
    pub number: Option<f64>,
}

impl AxisPoint {
    /// A point without a number.
    #[must_use]
    pub fn text(label: &str) -> AxisPoint {
        AxisPoint {
            label: label.to_owned(),
            number: None,
        }
    }
}

/// The names of an axis' columns: of its labels and of its numbers. An axis that has
/// the name of a column of results, such as `transport`, gets the columns
/// `axis_transport...`.
fn names(axis: &AxisColumn, known: &dyn Fn(&str) -> bool) -> [Option<String>; 2] {
    let (ending, _) = axis.unit.map_or(("", ""), AxisUnit::row);
    let names = |prefix: &str| {
        let text = format!("{prefix}{}", axis.name);
        let number = axis.unit.map(|_| format!("{text}{ending}"));
        [Some(text), number]
    };
    let both = names("");
    match both.iter().flatten().any(|n| known(n)) {
        true => names("axis_"),
        false => both,
    }
}

/// The columns of these axes.
pub(crate) fn axis_columns(
    path: &Path,
    axes: &[AxisColumn],
    known: &dyn Fn(&str) -> bool,
) -> Result<Vec<Column>, Error> {
    let mut all: Vec<Column> = Vec::new();
    for axis in axes {
        let (_, words) = axis.unit.map_or(("", ""), AxisUnit::row);
        let [text, number] = names(axis, known);
        let text = text.filter(|_| !axis.in_path);
        let text = text.map(|name| Column::new(name, Kind::Text, format!("axis {}", axis.name)));
        let number = number.map(|name| {
            let about = format!("axis {}: {words}", axis.name);
            Column::new(name, Kind::Number, about)
        });
        for column in text.into_iter().chain(number) {
            if all.iter().any(|c| c.name == column.name) {
                return Err(Error::DuplicateAxis {
                    path: path.to_path_buf(),
                    axis: axis.name.clone(),
                });
            }
            all.push(column);
        }
    }
    Ok(all)
}

/// The cells of these points, or `None` if there is not one per axis.
pub(crate) fn cells(axes: &[AxisColumn], points: &[AxisPoint]) -> Option<Vec<Value>> {
    if axes.len() != points.len() {
        return None;
    }
    let mut row = Vec::with_capacity(2 * axes.len());
    for (axis, point) in axes.iter().zip(points) {
        if !axis.in_path {
            row.push(point.label.as_str().into());
        }
        if axis.unit.is_some() {
            row.push(point.number.into());
        }
    }
    Some(row)
}

/// What a column holds that no table declares: numbers, if it has the name of
/// the column before it with the ending of a unit.
pub(crate) fn kind(before: Option<&str>, name: &str) -> Kind {
    if let Some(kind) = kind_of(name) {
        return kind;
    }
    let ending = before.and_then(|before| name.strip_prefix(before));
    match AxisUnit::ALL
        .iter()
        .any(|(_, known, _)| ending == Some(known))
    {
        true => Kind::Number,
        false => Kind::Text,
    }
}
