//! What a file says as a value of the model, and back.

use crate::diagnostic::Reported;
use crate::reading::{Field, OptionalField};
use crate::tree::{Item, Table, Value};
use crate::{Place, value::Scalar};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

/// A form in which files have the model's `M`. `C` is what its meaning depends on, such
/// as the link of a queue.
///
/// [`table!`](crate::table) and [`kinds!`](crate::kinds) implement it where the
/// declaration says what the keys make: both ways come from the same tokens, so that a
/// field of the model without a key does not compile, nor a key without a field.
pub trait Form<M, C: ?Sized = ()>: Sized {
    /// The value of the model.
    ///
    /// # Errors
    /// When it was wrong, or does not fit `at`.
    fn settle(&self, at: &C) -> Result<M, Reported>;

    /// The value as a file has it, exactly.
    fn written(model: &M) -> Value;
}

/// The value of a key that is always there.
///
/// # Errors
/// When it was wrong.
pub fn settle<T: Form<M, C>, M, C: ?Sized>(field: &Field<T>, at: &C) -> Result<M, Reported> {
    let field = field.as_ref().map_err(|reported| *reported)?;
    field.value.settle(at)
}

/// The value of a key that may be left out.
///
/// # Errors
/// When it was wrong.
pub fn settle_or_none<T: Form<M, C>, M, C: ?Sized>(
    field: &OptionalField<T>,
    at: &C,
) -> Result<Option<M>, Reported> {
    let field = field.as_ref().map_err(|reported| *reported)?;
    field
        .as_ref()
        .map(|field| field.value.settle(at))
        .transpose()
}

/// The value of a key that may be left out, and whose value is the model's.
///
/// # Errors
/// When it was wrong.
pub fn plain<T: Clone>(field: &OptionalField<T>) -> Result<Option<T>, Reported> {
    let field = field.as_ref().map_err(|reported| *reported)?;
    Ok(field.as_ref().map(|field| field.value.clone()))
}

/// The word that stands for a value.
pub fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> Value {
    let found = words.iter().find(|(_, known)| known == value);
    found.map_or("", |(word, _)| word).into()
}

macro_rules! forms {
    ($($type:ty => |$value:ident| $written:expr;)*) => {
        $(impl<C: ?Sized> Form<$type, C> for $type {
            fn settle(&self, _: &C) -> Result<$type, Reported> {
                Ok(self.clone())
            }

            fn written($value: &$type) -> Value {
                $written
            }
        })*
    };
}

forms! {
    String => |text| text.as_str().into();
    bool => |flag| (*flag).into();
    u32 => |number| (*number).into();
    u64 => |number| (*number).into();
    f64 => |number| (*number).into();
    Duration => |time| exact(*time, |time| format!("{} ns", time.as_nanos()));
    Rate => |rate| exact(*rate, |rate| format!("{} bit/s", rate.bps()));
    Bytes => |size| exact(*size, |size| format!("{} B", size.get()));
    Ratio => |ratio| ratio.get().into();
}

/// A share that the model has as a number.
impl<C: ?Sized> Form<f64, C> for Ratio {
    fn settle(&self, _: &C) -> Result<f64, Reported> {
        Ok(self.get())
    }

    fn written(model: &f64) -> Value {
        (*model).into()
    }
}

impl<T: Form<M, C>, M, C: ?Sized> Form<Vec<M>, C> for Vec<T> {
    fn settle(&self, at: &C) -> Result<Vec<M>, Reported> {
        self.iter().map(|one| one.settle(at)).collect()
    }

    fn written(model: &Vec<M>) -> Value {
        Value::list(model.iter().map(T::written))
    }
}

/// A quantity as people write it, where that says all of it.
fn exact<T: Display + FromStr + PartialEq + Scalar>(
    value: T,
    in_full: impl FnOnce(&T) -> String,
) -> Value {
    let shown = value.to_string();
    Value::Text(match shown.parse::<T>() {
        Ok(read) if read == value => shown,
        _ => in_full(&value),
    })
}

impl Value {
    /// An array that stands in no file.
    pub fn list(values: impl IntoIterator<Item = Value>) -> Value {
        let place = Place::Whole;
        let items = values.into_iter().map(|value| Item { value, place });
        Value::List(Arc::new(items.collect()))
    }
}

impl Table {
    /// Adds a key that stands in no file.
    pub fn put(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.push(key.into(), value.into());
    }

    /// Adds a key with a value of the model, in the form `T`.
    pub fn put_as<T: Form<M>, M>(&mut self, key: &str, model: &M) {
        self.put(key, T::written(model));
    }

    /// Adds the keys of a table.
    pub fn put_all(&mut self, keys: &Value) {
        let Value::Table(table) = keys else { return };
        for entry in table.iter() {
            self.put(&*entry.key, entry.item.value.clone());
        }
    }

    /// Adds a key to the table of that name, which is made if it is not there.
    pub fn put_in(&mut self, table: &str, key: &str, value: impl Into<Value>) {
        let inner = match self.get(table).map(|entry| &entry.item.value) {
            Some(Value::Table(inner)) => Some(inner.clone()),
            _ => None,
        };
        let mut inner = inner.unwrap_or_default();
        inner.put(key, value);
        self.remove(table);
        self.put(table, Value::Table(inner));
    }
}

/// Binds the names of keys to values of the model.
#[doc(hidden)]
#[macro_export]
macro_rules! settle_key {
    ($at:ident, $context:ty, $key:ident [$type:ty] [] or) => {
        let $key = $crate::form::settle_or_none::<$type, _, $context>($key, $at)?;
    };
    ($at:ident, $context:ty, $key:ident [$type:ty] [] $presence:ident) => {
        let $key = $crate::form::settle::<$type, _, $context>($key, $at)?;
    };
    ($at:ident, $context:ty, $key:ident [$type:ty] [$($words:tt)+] or) => {
        let $key = $crate::form::plain($key)?;
    };
    ($at:ident, $context:ty, $key:ident [$type:ty] [$($words:tt)+] $presence:ident) => {
        let $key = $key.as_ref().map_err(|reported| *reported)?.value.clone();
    };
}

/// Binds the names of keys to values of the model, where those left out are bound already.
#[doc(hidden)]
#[macro_export]
macro_rules! settle_key_over {
    ($table:ident, $at:ident, $context:ty, $key:ident [$type:ty] [] or) => {
        let written = $crate::form::settle_or_none::<$type, _, $context>(&$table.$key, $at)?;
        let $key = written.unwrap_or($key);
    };
    ($table:ident, $at:ident, $context:ty, $key:ident [$type:ty] [$($words:tt)+] or) => {
        let $key = $crate::form::plain(&$table.$key)?.unwrap_or($key);
    };
}

/// Adds a key with a value of the model to a table.
#[doc(hidden)]
#[macro_export]
macro_rules! write_key {
    ($table:ident, $context:ty, $key:ident [$type:ty] [] or) => {
        if let Some(value) = Into::<Option<&_>>::into($key) {
            let value = <$type as $crate::Form<_, $context>>::written(value);
            $table.put(stringify!($key), value);
        }
    };
    ($table:ident, $context:ty, $key:ident [$type:ty] [] $presence:ident) => {
        let value = <$type as $crate::Form<_, $context>>::written($key);
        $table.put(stringify!($key), value);
    };
    ($table:ident, $context:ty, $key:ident [$type:ty] [$($words:tt)+] or) => {
        if let Some(value) = Into::<Option<&$type>>::into($key) {
            $table.put(stringify!($key), $crate::write_word!(value, $($words)+));
        }
    };
    ($table:ident, $context:ty, $key:ident [$type:ty] [$($words:tt)+] $presence:ident) => {
        $table.put(stringify!($key), $crate::write_word!($key, $($words)+));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! write_word {
    ($value:ident, all $words:expr) => {
        $crate::form::word_of(&$words, $value)
    };
    ($value:ident, $($word:literal => $known:expr),* $(,)?) => {
        $crate::form::word_of(&[$(($word, $known)),*], $value)
    };
}

/// The ways to and from the model of a table that says what its keys make.
#[doc(hidden)]
#[macro_export]
macro_rules! table_form {
    ($name:ident [] $($rest:tt)*) => {};
    (
        $name:ident [$context:ty; $model:ident $fields:tt over $at:ident $base:expr] []
        $($key:ident [$type:ty] [$($words:tt)*] $presence:ident;)*
    ) => {
        impl $crate::Form<$model, $context> for $name {
            fn settle(&self, $at: &$context) -> Result<$model, $crate::Reported> {
                let $model $fields = $base;
                $($crate::settle_key_over!(
                    self, $at, $context, $key [$type] [$($words)*] $presence
                );)*
                Ok($model $fields)
            }

            $crate::table_written!(
                [$context; $model $fields] [] $($key [$type] [$($words)*] $presence;)*
            );
        }

        impl $name {
            /// Takes what it does not say from another.
            pub(crate) fn inherit(&mut self, other: &$name) {
                $(if let Ok(None) = self.$key {
                    self.$key.clone_from(&other.$key);
                })*
            }
        }
    };
    (
        $name:ident [$context:ty; $model:ident $fields:tt]
        [$($shared:ident: $shared_type:ty),*]
        $($key:ident [$type:ty] [$($words:tt)*] $presence:ident;)*
    ) => {
        impl $crate::Form<$model, $context> for $name {
            fn settle(&self, at: &$context) -> Result<$model, $crate::Reported> {
                let _ = at;
                let $name { context: _, $($shared,)* $($key,)* } = self;
                $(let $shared = $crate::Form::<_, $context>::settle($shared, at)?;)*
                $($crate::settle_key!(at, $context, $key [$type] [$($words)*] $presence);)*
                Ok($model $fields)
            }

            $crate::table_written!(
                [$context; $model $fields] [$($shared: $shared_type),*]
                $($key [$type] [$($words)*] $presence;)*
            );
        }
    };
}

/// The way back of a table.
#[doc(hidden)]
#[macro_export]
macro_rules! table_written {
    (
        [$context:ty; $model:ident $fields:tt]
        [$($shared:ident: $shared_type:ty),*]
        $($key:ident [$type:ty] [$($words:tt)*] $presence:ident;)*
    ) => {
        fn written(model: &$model) -> $crate::Value {
            let $model $fields = model;
            #[allow(unused_mut, reason = "a table may have no keys")]
            let mut table = $crate::Table::default();
            $(table.put_all(&<$shared_type as $crate::Form<_, $context>>::written($shared));)*
            $($crate::write_key!(table, $context, $key [$type] [$($words)*] $presence);)*
            $crate::Value::Table(table)
        }
    };
}

/// The ways to and from the model of tables with a kind.
#[doc(hidden)]
#[macro_export]
macro_rules! kinds_form {
    ($name:ident [] $($rest:tt)*) => {};
    ($name:ident [$model:ty] $($rest:tt)*) => {
        $crate::kinds_form!(@[C: ?Sized] $name [$model, at: C] $($rest)*);
    };
    ($name:ident [$model:ty, $at:ident: $context:ty] $($rest:tt)*) => {
        $crate::kinds_form!(@[] $name [$model, $at: $context] $($rest)*);
    };
    (
        @[$($generic:tt)*] $name:ident [$model:ty, $at:ident: $context:ty]
        $(
            $variant:ident $word:literal [$($shared:ident: $shared_type:ty),*]
            [$($key:ident [$type:ty] [$($words:tt)*] $presence:ident;)*]
            [$made:tt $($pattern:tt)?]
        )*
    ) => {
        impl<$($generic)*> $crate::Form<$model, $context> for $name {
            fn settle(&self, $at: &$context) -> Result<$model, $crate::Reported> {
                let _ = $at;
                match self {
                    $($name::$variant { context: _, $($shared,)* $($key,)* } => {
                        $(let $shared = $crate::Form::<_, $context>::settle($shared, $at)?;)*
                        $($crate::settle_key!($at, $context, $key [$type] [$($words)*] $presence);)*
                        Ok($made)
                    })*
                }
            }

            fn written(model: &$model) -> $crate::Value {
                let mut table = $crate::Table::default();
                match model {
                    $($crate::made!($made $($pattern)?) => {
                        table.put("kind", $word);
                        $(table.put_all(&<$shared_type as $crate::Form<_, $context>>::written($shared));)*
                        $($crate::write_key!(table, $context, $key [$type] [$($words)*] $presence);)*
                    })*
                }
                $crate::Value::Table(table)
            }
        }
    };
}

/// What the keys make, as a pattern.
#[doc(hidden)]
#[macro_export]
macro_rules! made {
    ({ $($made:tt)* }) => {
        $($made)*
    };
    ($made:tt { $($pattern:tt)* }) => {
        $($pattern)*
    };
}
