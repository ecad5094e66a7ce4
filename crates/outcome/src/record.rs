//! Records: the parts of an outcome, each declared once.
//!
//! [`record!`] turns a declaration into a struct, its columns in CSV and
//! Parquet, its keys in JSON, the reader of both, and the metrics that studies
//! can name. A line of a declaration is
//!
//! ```text
//! /// Data packets sent again.
//! counter retransmissions: u64 => sum retransmissions;
//! ```
//!
//! that is, the documentation of the field, the column and the metric, a kind,
//! the field and its type, and then, where they are needed:
//!
//! - `as "delivered_bytes"`: the name of the column, which ends with the unit,
//!   where it is not that of the field;
//! - `= 0`: the value in results of older versions, which lack the column;
//! - `=> sum delivered / alias`: the metric of studies and how it takes several
//!   flows or links together.
//!
//! | kind | |
//! |---|---|
//! | `label` | what the record is about: a name, a time, a setting |
//! | `counter` | a count that is noted at every checkpoint as well |
//! | `gauge` | what is measured at the end of a run |
//! | `flow`, `link` | an index; the column holds the name of that flow or link |
//! | `part` | another record, or none of it, with its own columns |
//! | `hidden` | a field without a column |
//! | `derived` | a column without a field, `= \|run, record\| ...` |
//!
//! `counters FlowCounts` after the name of the struct collects its counters in
//! a struct of their own, which is a record as well and can be subtracted
//! (`since`) and added (`add`).

use crate::fields::Fields;
use crate::run::Run;
use crate::unit::Unit;
use crate::value::{Kind, Value};

/// How the numbers of several flows or links become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// Their mean.
    Mean,
    /// Sum of the values.
    Sum,
    /// Largest of the values.
    Max,
    /// Smallest of the values.
    Min,
}

impl Aggregation {
    /// Every form, with its name.
    pub const ALL: [(&'static str, Aggregation); 4] = [
        ("mean", Aggregation::Mean),
        ("sum", Aggregation::Sum),
        ("max", Aggregation::Max),
        ("min", Aggregation::Min),
    ];
}

/// A metric that a record declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name of the metric in studies.
    pub name: &'static str,
    /// Another name; empty otherwise.
    pub alias: &'static str,
    /// The dimension of its values.
    pub unit: Unit,
    /// How several are taken together; `None` where it is of one alone.
    pub together: Option<Aggregation>,
    /// One-line description.
    pub about: String,
}

/// A column as its record declares it.
#[derive(Clone, Debug)]
pub struct Declared {
    pub(crate) column: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: String,
    pub(crate) metric: Option<Metric>,
}

/// A part of an outcome.
pub trait Part: Sized {
    /// Visits the columns in their order.
    fn each_column(visit: &mut dyn FnMut(Declared));

    /// Visits the names and values of the columns in their order.
    fn each_value(&self, run: &Run<'_>, put: &mut dyn FnMut(&'static str, Value));

    /// Reads it back.
    ///
    /// # Errors
    /// If a column is missing or is not of its kind.
    fn read(row: &Fields<'_>) -> Result<Self, String>;

    /// The value of the metric of that name, in its base unit; `None` if there
    /// is no such metric or nothing was measured.
    fn metric(&self, name: &str) -> Option<f64>;

    /// The metrics that it declares, in their order.
    #[must_use]
    fn metrics() -> Vec<Metric> {
        let mut all = Vec::new();
        Self::each_column(&mut |declared| all.extend(declared.metric));
        all
    }
}

impl<T: Part> Part for Option<T> {
    fn each_column(visit: &mut dyn FnMut(Declared)) {
        T::each_column(visit);
    }

    fn each_value(&self, run: &Run<'_>, put: &mut dyn FnMut(&'static str, Value)) {
        match self {
            Some(part) => part.each_value(run, put),
            None => T::each_column(&mut |declared| put(declared.column, Value::Missing)),
        }
    }

    /// `None` where its first column is empty.
    fn read(row: &Fields<'_>) -> Result<Self, String> {
        let mut first = None;
        T::each_column(&mut |declared| {
            first.get_or_insert(declared.column);
        });
        if first.is_none_or(|column| row.is_missing(column)) {
            return Ok(None);
        }
        T::read(row).map(Some)
    }

    fn metric(&self, name: &str) -> Option<f64> {
        self.as_ref()?.metric(name)
    }
}

/// The first sentence of a documentation, as a column's is written: without a
/// capital and a full stop.
pub(crate) fn about(lines: &[&str]) -> String {
    let text = lines.iter().map(|line| line.trim());
    let text = text.collect::<Vec<_>>().join(" ");
    let text = text.split(". ").next().unwrap_or("").trim_end_matches('.');
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            let rest = &text[first.len_utf8()..];
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => text.to_owned(),
    }
}

/// Declares a record: a struct, and what files, JSON and studies know of it.
///
/// With `of CONTEXT` or `document` after its name it is a record of a
/// [document](crate::document). Without, it is a part of an outcome, which only this
/// crate declares.
#[macro_export]
macro_rules! record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident of $context:ty { $($lines:tt)* }) => {
        $crate::__document!([$(#[$meta])*] [$vis] $name [$context] { $($lines)* });
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident document { $($lines:tt)* }) => {
        $crate::__document!([$(#[$meta])*] [$vis] $name [] { $($lines)* });
    };

    // How the metrics of several flows or links are taken together.
    (@together mean) => { Some($crate::Aggregation::Mean) };
    (@together sum) => { Some($crate::Aggregation::Sum) };
    (@together max) => { Some($crate::Aggregation::Max) };
    (@together one) => { None };

    // The lines that are left go one by one into the fields, the columns and
    // the counters.
    (@lines $head:tt $fields:tt [$($columns:tt)*] $counters:tt
        $(#[doc = $doc:literal])+ derived $column:ident: $type:ty = $get:expr;
        $($rest:tt)*) => {
        $crate::record!(@lines $head $fields
            [$($columns)* { derived [$($doc)+] [stringify!($column)] $type, $get }]
            $counters $($rest)*);
    };
    (@lines $head:tt [$($fields:tt)*] [$($columns:tt)*] [$($counters:tt)*]
        $(#[doc = $doc:literal])+ counter $field:ident: $type:ty
        $(as $column:literal)? $(= $absent:expr)? $(=> $of:ident $metric:ident $(/ $alias:ident)?)?;
        $($rest:tt)*) => {
        $crate::record!(@lines $head
            [$($fields)*
                { counter $field [$($doc)+] [$($column)? stringify!($field)] $type, [$($absent)?] }]
            [$($columns)* { counter $field [$($doc)+] [$($column)? stringify!($field)] $type,
                [$($of $metric $($alias)?)?] }]
            [$($counters)*
                $(#[doc = $doc])+ counter $field: $type
                    $(as $column)? $(= $absent)? $(=> $of $metric $(/ $alias)?)?;]
            $($rest)*);
    };
    (@lines $head:tt [$($fields:tt)*] [$($columns:tt)*] $counters:tt
        $(#[doc = $doc:literal])+ $kind:ident $field:ident: $type:ty
        $(as $column:literal)? $(= $absent:expr)? $(=> $of:ident $metric:ident $(/ $alias:ident)?)?;
        $($rest:tt)*) => {
        $crate::record!(@lines $head
            [$($fields)*
                { $kind $field [$($doc)+] [$($column)? stringify!($field)] $type, [$($absent)?] }]
            [$($columns)* { $kind $field [$($doc)+] [$($column)? stringify!($field)] $type,
                [$($of $metric $($alias)?)?] }]
            $counters
            $($rest)*);
    };
    (@lines [[$($meta:tt)*] [$vis:vis] $name:ident $($counts:ident)?]
        [$({ $kind:ident $field:ident [$($doc:literal)+] $column:tt $type:ty, $absent:tt })*]
        [$($line:tt)*] $counters:tt) => {
        $($meta)*
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl $crate::record::Part for $name {
            fn each_column(visit: &mut dyn FnMut($crate::record::Declared)) {
                $($crate::record!(@column visit $line);)*
            }

            fn each_value(
                &self,
                run: &$crate::run::Run<'_>,
                put: &mut dyn FnMut(&'static str, $crate::value::Value),
            ) {
                let _ = run;
                $($crate::record!(@value self run put $line);)*
            }

            fn read(row: &$crate::fields::Fields<'_>) -> Result<Self, String> {
                Ok($name {
                    $($field: $crate::record!(@read row $kind $column $absent),)*
                })
            }

            fn metric(&self, name: &str) -> Option<f64> {
                let _ = name;
                $($crate::record!(@metric self name $line);)*
                None
            }
        }

        $crate::record!(@counters [$($counts)?] $name [$($field)*] $counters);
    };

    // The name of a column: what was given, or that of the field.
    (@name [$column:literal $($field:tt)*]) => { $column };
    (@name [$($field:tt)*]) => { $($field)* };

    // One column.
    (@column $visit:ident { hidden $($rest:tt)* }) => {};
    (@column $visit:ident { part $field:ident $doc:tt $column:tt $type:ty, [] }) => {
        <$type as $crate::record::Part>::each_column($visit);
    };
    (@column $visit:ident { derived [$($doc:literal)+] $column:tt $type:ty, $get:expr }) => {
        $crate::record!(@visit $visit <$type as $crate::cell::Cell>::kind($crate::record!(@name $column)),
            [$($doc)+] $column $type, []);
    };
    (@column $visit:ident { flow $field:ident [$($doc:literal)+] $column:tt $type:ty, [] }) => {
        $crate::record!(@visit $visit $crate::value::Kind::Text, [$($doc)+] $column $type, []);
    };
    (@column $visit:ident { link $field:ident [$($doc:literal)+] $column:tt $type:ty, [] }) => {
        $crate::record!(@visit $visit $crate::value::Kind::Text, [$($doc)+] $column $type, []);
    };
    (@column $visit:ident
        { $kind:ident $field:ident [$($doc:literal)+] $column:tt $type:ty, $metric:tt }) => {
        $crate::record!(@visit $visit <$type as $crate::cell::Cell>::kind($crate::record!(@name $column)),
            [$($doc)+] $column $type, $metric);
    };
    (@visit $visit:ident $kind:expr, [$($doc:literal)+] $column:tt $type:ty, $metric:tt) => {
        let about = $crate::record::about(&[$($doc),+]);
        $visit($crate::record::Declared {
            column: $crate::record!(@name $column),
            kind: $kind,
            metric: $crate::record!(@measured $type, $column about $metric),
            about,
        });
    };
    (@measured $type:ty, $column:tt $about:ident []) => { None };
    (@measured $type:ty, $column:tt $about:ident [$of:ident $metric:ident $($alias:ident)?]) => {
        Some($crate::record::Metric {
            name: stringify!($metric),
            alias: concat!($(stringify!($alias))?),
            unit: <$type as $crate::cell::Cell>::unit($crate::record!(@name $column)),
            together: $crate::record!(@together $of),
            about: $about.clone(),
        })
    };

    // One value.
    (@value $this:ident $run:ident $put:ident { hidden $($rest:tt)* }) => {};
    (@value $this:ident $run:ident $put:ident { part $field:ident $($rest:tt)* }) => {
        $crate::record::Part::each_value(&$this.$field, $run, $put);
    };
    (@value $this:ident $run:ident $put:ident
        { derived $doc:tt $column:tt $type:ty, $get:expr }) => {{
        let get: fn(&$crate::run::Run<'_>, &Self) -> $type = $get;
        let column = $crate::record!(@name $column);
        $put(column, $crate::cell::Cell::write(&get($run, $this), column));
    }};
    (@value $this:ident $run:ident $put:ident { flow $field:ident $doc:tt $column:tt $($rest:tt)* }) => {
        let flow = $run.flows.get($this.$field);
        let name = flow.map_or($crate::value::Value::Missing, |flow| flow.name.as_str().into());
        $put($crate::record!(@name $column), name);
    };
    (@value $this:ident $run:ident $put:ident { link $field:ident $doc:tt $column:tt $($rest:tt)* }) => {
        let link = $run.links.get($this.$field);
        let name = link.map_or($crate::value::Value::Missing, |link| link.name.as_str().into());
        $put($crate::record!(@name $column), name);
    };
    (@value $this:ident $run:ident $put:ident
        { $kind:ident $field:ident $doc:tt $column:tt $($rest:tt)* }) => {{
        let column = $crate::record!(@name $column);
        $put(column, $crate::cell::Cell::write(&$this.$field, column));
    }};

    // One field read back.
    (@read $row:ident hidden $column:tt $absent:tt) => { Default::default() };
    (@read $row:ident part $column:tt $absent:tt) => { $crate::record::Part::read($row)? };
    (@read $row:ident flow $column:tt $absent:tt) => { $row.index("flow")? };
    (@read $row:ident link $column:tt $absent:tt) => { $row.index("link")? };
    (@read $row:ident $kind:ident $column:tt []) => { $row.get($crate::record!(@name $column))? };
    (@read $row:ident $kind:ident $column:tt [$absent:expr]) => {
        match $row.is_missing($crate::record!(@name $column)) {
            true => $absent,
            false => $row.get($crate::record!(@name $column))?,
        }
    };

    // One metric.
    (@metric $this:ident $name:ident { part $field:ident $($rest:tt)* }) => {
        if let Some(value) = $crate::record::Part::metric(&$this.$field, $name) {
            return Some(value);
        }
    };
    (@metric $this:ident $name:ident { $kind:ident $field:ident $doc:tt $column:tt $type:ty,
        [$of:ident $metric:ident $($alias:ident)?] }) => {
        if $name == stringify!($metric) {
            return $crate::cell::Cell::number(&$this.$field);
        }
    };
    (@metric $this:ident $name:ident $line:tt) => {};

    // The counters as a separate struct.
    (@counters [] $name:ident $fields:tt $counters:tt) => {};
    (@counters [$counts:ident] $name:ident $fields:tt [$($counters:tt)+]) => {
        $crate::record! {
            #[doc = concat!("The counters of [`", stringify!($name), "`] by a time of the run.")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $counts { $($counters)+ }
        }
        $crate::record!(@arithmetic $counts $name $($counters)+);
    };
    (@arithmetic $counts:ident $name:ident
        $($(#[doc = $doc:literal])+ counter $field:ident: $type:ty
        $(as $column:literal)? $(= $absent:expr)? $(=> $of:ident $metric:ident $(/ $alias:ident)?)?;)+) => {
        impl $counts {
            /// The difference from `earlier`.
            #[must_use]
            pub fn since(&self, earlier: &$counts) -> $counts {
                $counts {
                    $($field: $crate::cell::Counter::less(self.$field, earlier.$field),)+
                }
            }

            /// Adds what was counted elsewhere.
            pub fn add(&mut self, other: &$counts) {
                $(self.$field = $crate::cell::Counter::plus(self.$field, other.$field);)+
            }
        }

        impl $name {
            /// The counters at the end of the run.
            #[must_use]
            pub fn counts(&self) -> $counts {
                $counts { $($field: self.$field,)+ }
            }
        }

        impl From<$counts> for $name {
            fn from(counts: $counts) -> $name {
                $name {
                    $($field: counts.$field,)+
                    ..$name::default()
                }
            }
        }
    };

    ($(#[$meta:meta])* $vis:vis struct $name:ident $(counters $counts:ident)? { $($lines:tt)* }) => {
        $crate::record!(@lines [[$(#[$meta])*] [$vis] $name $($counts)?] [] [] [] $($lines)*);
    };
}
