//! Records of a document: what was computed, declared once.
//!
//! `record! { struct CellRecord of Cell { ... } }` declares the struct, how each field
//! is computed from a `Cell`, its key in JSON, and its column in a table:
//!
//! ```
//! bentpipe_outcome::record! {
//!     /// A rectangle.
//!     #[derive(Clone, Debug, PartialEq)]
//!     pub struct Rectangle of [f64; 2] {
//!         /// Its width.
//!         gauge width: f64 as "width_m" = |sides| sides[0];
//!         /// Whether it is a square.
//!         label square: bool = |sides| sides[0] == sides[1];
//!     }
//! }
//! use bentpipe_outcome::Document;
//!
//! let found = Rectangle::of(&[2.0, 3.0]);
//! let text = serde_json::to_string(&found)?;
//! assert_eq!(text, r#"{"width_m":2.0,"square":false}"#);
//! assert_eq!(Rectangle::columns()[0].about, "its width");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! A line is the documentation, a kind, the field and its type, and then, where they
//! are needed:
//!
//! - `as "width_m"`: key and column, which end with the unit, where they are not the
//!   name of the field;
//! - `[share "gain_share", ci95 "gain_ci95_share" "half of its interval"]`: the fields
//!   of a `part` that are columns; the first has the documentation of the line;
//! - `= |context| ...`: how the field is computed. In a record with `document` in the
//!   place of `of CONTEXT` no line has it.
//!
//! | kind | |
//! |---|---|
//! | `label`, `gauge`, `counter` | a key, and a column if a cell can hold it |
//! | `key` | a key without a column |
//! | `column` | a column without a key |
//! | `optional` | a key that is left out where there is no value |
//! | `part` | another record or null, with columns of its own |

use crate::columns::Column;
use crate::value::{Kind, Value};

#[doc(hidden)]
pub use serde::ser::{Serialize, SerializeMap, Serializer};

/// What JSON has for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// What a cell of a table can hold as well.
    Cell(Kind),
    /// A value or null.
    Optional(Box<Shape>),
    /// A list.
    List(Box<Shape>),
    /// A list, or the number of its elements: [`Rows`].
    Rows(Box<Shape>),
    /// An object with any keys.
    Map(Box<Shape>),
    /// An object with these keys, and the name of its record.
    Record(&'static str, Vec<Key>),
}

/// A key of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What it says, in one line.
    pub about: String,
    /// What it holds.
    pub shape: Shape,
    /// It may be left out.
    pub optional: bool,
}

/// A type that the fields of a record of a document can have.
pub trait Datum: Serialize {
    /// What a cell of a table holds of it; `None` if no cell can.
    const KIND: Option<Kind> = None;

    /// What JSON has for it.
    #[must_use]
    fn shape() -> Shape;

    /// The cell of a table; missing for what no cell can hold.
    fn cell(&self) -> Value {
        Value::Missing
    }
}

/// A record of a document.
pub trait Document: Datum {
    /// Its keys in JSON, in their order.
    #[must_use]
    fn keys() -> Vec<Key>;

    /// Its columns in a table, in their order.
    #[must_use]
    fn columns() -> Vec<Column>;

    /// The cells of those columns.
    fn cells(&self) -> Vec<Value>;
}

macro_rules! scalars {
    ($($type:ty, $kind:ident, $cell:expr;)*) => {$(
        impl Datum for $type {
            const KIND: Option<Kind> = Some(Kind::$kind);

            fn shape() -> Shape {
                Shape::Cell(Kind::$kind)
            }

            fn cell(&self) -> Value {
                let cell: fn(&$type) -> Value = $cell;
                cell(self)
            }
        }
    )*};
}

scalars! {
    bool, Flag, |x| Value::Flag(*x);
    u32, Integer, |x| Value::Integer(u64::from(*x));
    u64, Integer, |x| Value::Integer(*x);
    usize, Integer, |x| Value::Integer(*x as u64);
    f64, Number, |x| Some(*x).filter(|x| x.is_finite()).into();
    String, Text, |x| x.as_str().into();
    &'static str, Text, |x| (*x).into();
}

impl<T: Datum> Datum for Option<T> {
    const KIND: Option<Kind> = T::KIND;

    fn shape() -> Shape {
        Shape::Optional(Box::new(T::shape()))
    }

    fn cell(&self) -> Value {
        self.as_ref().map_or(Value::Missing, Datum::cell)
    }
}

impl<T: Datum> Datum for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
}

/// Values by names: an object in JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named<T>(pub Vec<(&'static str, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<T: Datum> Datum for Named<T> {
    fn shape() -> Shape {
        Shape::Map(Box::new(T::shape()))
    }
}

/// Rows of a document, or how many there are: thousands of runs are not sent to who
/// only counts them. In a table it is the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows<T> {
    /// All of them: a list in JSON.
    Listed(Vec<T>),
    /// So many: a number in JSON.
    Counted(usize),
}

impl<T: Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Rows::Listed(rows) => rows.serialize(to),
            Rows::Counted(count) => count.serialize(to),
        }
    }
}

impl<T: Datum> Datum for Rows<T> {
    const KIND: Option<Kind> = Some(Kind::Integer);

    fn shape() -> Shape {
        Shape::Rows(Box::new(T::shape()))
    }

    fn cell(&self) -> Value {
        match self {
            Rows::Listed(rows) => rows.len().cell(),
            Rows::Counted(count) => count.cell(),
        }
    }
}

/// The kind of a field of a part, which `get` names.
#[doc(hidden)]
#[must_use]
pub fn kind_of<P, T: Datum>(get: fn(&P) -> &T) -> Kind {
    let _ = get;
    T::KIND.unwrap_or(Kind::Text)
}

/// A key as [`record!`](crate::record!) declares it.
#[doc(hidden)]
#[must_use]
pub fn key(name: &'static str, doc: &[&str], shape: Shape, optional: bool) -> Key {
    Key {
        name,
        about: crate::record::about(doc),
        shape,
        optional,
    }
}

/// A column as [`record!`](crate::record!) declares it.
#[doc(hidden)]
#[must_use]
pub fn column(name: &'static str, kind: Kind, doc: &[&str]) -> Column {
    Column::new(name, kind, crate::record::about(doc))
}

/// What [`record!`](crate::record!) is for records of documents; see the
/// [module](crate::document).
#[doc(hidden)]
#[macro_export]
macro_rules! __document {
    ([$($meta:tt)*] [$vis:vis] $name:ident $of:tt {
        $($(#[doc = $doc:literal])+ $kind:ident $field:ident: $type:ty
            $(as $key:literal)? $([$($columns:tt)*])? $(= $get:expr)?;)*
    }) => {
        $($meta)*
        $vis struct $name {
            $($(#[doc = $doc])+ $vis $field: $crate::__document!(@type $kind $type),)*
        }

        $crate::__document!(@of $of [$vis] $name $([$field $kind [$type] $($get)?])*);

        impl $crate::document::Serialize for $name {
            fn serialize<S: $crate::document::Serializer>(
                &self,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                let mut map = to.serialize_map(None)?;
                $($crate::__document!(@entry $kind map self $field [$($key)?]);)*
                $crate::document::SerializeMap::end(map)
            }
        }

        impl $crate::Datum for $name {
            fn shape() -> $crate::Shape {
                $crate::Shape::Record(stringify!($name), <$name as $crate::Document>::keys())
            }
        }

        impl $crate::Document for $name {
            #[allow(clippy::vec_init_then_push, reason = "each line of the record pushes")]
            fn keys() -> Vec<$crate::Key> {
                let mut keys = Vec::new();
                $($crate::__document!(@key $kind keys [$type] [$($doc),+] $field [$($key)?]);)*
                keys
            }

            #[allow(clippy::vec_init_then_push, reason = "each line of the record pushes")]
            fn columns() -> Vec<$crate::Column> {
                let mut columns = Vec::new();
                $($crate::__document!(@column $kind columns [$type] [$($doc),+] $field [$($key)?]
                    [$($($columns)*)?]);)*
                columns
            }

            #[allow(clippy::vec_init_then_push, reason = "each line of the record pushes")]
            fn cells(&self) -> Vec<$crate::Value> {
                let mut cells = Vec::new();
                $($crate::__document!(@cell $kind cells self [$type] $field
                    [$($($columns)*)?]);)*
                cells
            }
        }
    };

    (@type part $type:ty) => { Option<$type> };
    (@type optional $type:ty) => { Option<$type> };
    (@type $kind:ident $type:ty) => { $type };

    // How it is computed, where that is declared.
    (@of [] $($rest:tt)*) => {};
    (@of [$context:ty] [$vis:vis] $name:ident
        $([$field:ident $kind:ident [$type:ty] $get:expr])*) => {
        impl $name {
            /// What `from` comes to.
            #[must_use]
            $vis fn of(from: &$context) -> $name {
                $name {
                    $($field: {
                        let get: fn(&$context) -> $crate::__document!(@type $kind $type) = $get;
                        get(from)
                    },)*
                }
            }
        }
    };

    (@name $field:ident []) => { stringify!($field) };
    (@name $field:ident [$key:literal]) => { $key };

    // One entry of JSON.
    (@entry column $($rest:tt)*) => {};
    (@entry optional $map:ident $this:ident $field:ident $key:tt) => {
        if let Some(value) = &$this.$field {
            let name = $crate::__document!(@name $field $key);
            $crate::document::SerializeMap::serialize_entry(&mut $map, name, value)?;
        }
    };
    (@entry $kind:ident $map:ident $this:ident $field:ident $key:tt) => {
        let name = $crate::__document!(@name $field $key);
        $crate::document::SerializeMap::serialize_entry(&mut $map, name, &$this.$field)?;
    };

    // One key of the schema.
    (@key column $($rest:tt)*) => {};
    (@key part $keys:ident [$type:ty] $doc:tt $field:ident $key:tt) => {
        $crate::__document!(@key label $keys [Option<$type>] $doc $field $key);
    };
    (@key optional $keys:ident [$type:ty] $doc:tt $field:ident $key:tt) => {
        $crate::__document!(@push true $keys [$type] $doc $field $key);
    };
    (@key $kind:ident $keys:ident [$type:ty] $doc:tt $field:ident $key:tt) => {
        $crate::__document!(@push false $keys [$type] $doc $field $key);
    };
    (@push $optional:literal $keys:ident [$type:ty] $doc:tt $field:ident $key:tt) => {
        $keys.push($crate::document::key(
            $crate::__document!(@name $field $key),
            &$doc,
            <$type as $crate::Datum>::shape(),
            $optional,
        ));
    };

    // One column, or those of a part.
    (@column key $($rest:tt)*) => {};
    (@column optional $($rest:tt)*) => {};
    (@column part $columns:ident [$type:ty] $doc:tt $field:ident $key:tt []) => {};
    (@column part $columns:ident [$type:ty] $doc:tt $field:ident $key:tt
        [$first:ident $name:literal $(, $part:ident $column:literal $about:literal)* $(,)?]) => {
        let kind = $crate::document::kind_of::<$type, _>(|part| &part.$first);
        $columns.push($crate::document::column($name, kind, &$doc));
        $(
            let kind = $crate::document::kind_of::<$type, _>(|part| &part.$part);
            $columns.push($crate::document::column($column, kind, &[$about]));
        )*
    };
    (@column $kind:ident $columns:ident [$type:ty] $doc:tt $field:ident $key:tt []) => {
        if let Some(kind) = <$type as $crate::Datum>::KIND {
            let name = $crate::__document!(@name $field $key);
            $columns.push($crate::document::column(name, kind, &$doc));
        }
    };

    // Their cells.
    (@cell key $($rest:tt)*) => {};
    (@cell optional $($rest:tt)*) => {};
    (@cell part $cells:ident $this:ident [$type:ty] $field:ident
        [$($part:ident $column:literal $($about:literal)?),* $(,)?]) => {
        $($cells.push(
            $this.$field.as_ref().map_or($crate::Value::Missing, |part| {
                $crate::Datum::cell(&part.$part)
            }),
        );)*
    };
    (@cell $kind:ident $cells:ident $this:ident [$type:ty] $field:ident []) => {
        if <$type as $crate::Datum>::KIND.is_some() {
            $cells.push($crate::Datum::cell(&$this.$field));
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::record! {
        /// A share.
        #[derive(Clone, Debug, PartialEq)]
        struct Part document {
            /// The share.
            gauge share: f64;
            /// Of how many.
            counter runs: usize;
        }
    }

    crate::record! {
        /// A row of a table.
        #[derive(Clone, Debug, PartialEq)]
        struct Line of [f64] {
            /// What it is about.
            label name: &'static str = |_| "all";
            /// Whether there are any.
            column some: bool = |all| !all.is_empty();
            /// The largest. Of none there is none.
            key most: Option<f64> as "most_s" = |all| all.iter().copied().reduce(f64::max);
            /// The first.
            optional first: f64 = |all| all.first().copied();
            /// What the first is of all.
            part gain: Part as "gain" [share "gain_share", runs "gain_runs" "how many"] = |all| {
                let share = *all.first()? / all.iter().sum::<f64>();
                Some(Part { share, runs: all.len() })
            };
            /// Each.
            counter all: Rows<f64> = |all| Rows::Listed(all.to_vec());
        }
    }

    #[test]
    fn a_line_is_a_field_a_key_and_a_column() {
        let line = Line::of(&[1.0, 3.0]);
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            "{\"name\":\"all\",\"most_s\":3.0,\"first\":1.0,\
             \"gain\":{\"share\":0.25,\"runs\":2},\"all\":[1.0,3.0]}"
        );
        let columns = Line::columns();
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["name", "some", "gain_share", "gain_runs", "all"]);
        assert_eq!(columns[2].about, "what the first is of all");
        let cells = line.cells();
        assert_eq!(cells[1..3], [Value::Flag(true), Value::Number(0.25)]);
        assert_eq!(cells[4], Value::Integer(2));
    }

    #[test]
    fn what_is_missing_is_null_or_left_out() {
        let mut line = Line::of(&[]);
        line.all = Rows::Counted(7);
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            "{\"name\":\"all\",\"most_s\":null,\"gain\":null,\"all\":7}"
        );
        assert_eq!(line.cells()[2], Value::Missing);
        let keys = Line::keys();
        assert_eq!(keys[1].about, "the largest");
        assert!(keys[2].optional && !keys[1].optional);
        let Shape::Optional(gain) = &keys[3].shape else {
            panic!("{:?}", keys[3].shape);
        };
        assert!(matches!(&**gain, Shape::Record("Part", keys) if keys.len() == 2));
    }
}
