//! How an algorithm declares its parameters.
//!
//! [`parameters!`] declares a struct of settings: each field is a parameter with
//! its default, unit, range and meaning. The struct is what the algorithm is
//! built from, so a parameter that is declared and not read, or read and not
//! declared, does not compile. [`words!`] declares an enum of which a scenario
//! writes one word.

use super::{BuildError, DefaultValue, Parameter, ParameterValue, Range, Reader};
use bentpipe_units::Duration;
use core::marker::PhantomData;

/// A parameter that a scenario's value is read from as a `T`.
pub(crate) struct Declared<T> {
    parameter: Parameter,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Declared<T> {
    const fn new(default: DefaultValue, unit: &'static str, range: Range) -> Declared<T> {
        let parameter = Parameter {
            name: "",
            default,
            unit,
            range,
            meaning: "",
        };
        Declared {
            parameter,
            read_as: PhantomData,
        }
    }

    /// This parameter with its name and meaning.
    pub(crate) const fn named(self, name: &'static str, meaning: &'static str) -> Declared<T> {
        let parameter = Parameter {
            name,
            meaning,
            ..self.parameter
        };
        Declared {
            parameter,
            read_as: PhantomData,
        }
    }

    pub(crate) const fn parameter(&self) -> Parameter {
        self.parameter
    }
}

/// A type that a field of [`parameters!`] may have.
pub(crate) trait Value: Sized {
    /// `value`, which is in the form of the parameter's range.
    fn take(value: &ParameterValue) -> Option<Self>;
}

/// A type that a number is read as.
pub(crate) trait Number: Value {}

impl Number for f64 {}
impl Number for u32 {}
impl Number for u64 {}

/// An enum of which a scenario writes one word; declared by [`words!`].
pub(crate) trait Word: Copy + 'static {
    /// Each word and what it stands for; the first is the default.
    const WORDS: &'static [&'static str];
    const VALUES: &'static [Self];
}

macro_rules! values {
    ($($type:ty: $pattern:pat => $value:expr;)*) => {
        $(impl Value for $type {
            fn take(value: &ParameterValue) -> Option<$type> {
                match value {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        })*
    };
}

values! {
    f64: ParameterValue::Number(x) => *x;
    u32: ParameterValue::Number(x) => *x as u32;
    u64: ParameterValue::Number(x) => *x as u64;
    bool: ParameterValue::Flag(flag) => *flag;
    Duration: ParameterValue::Duration(time) => *time;
    Vec<f64>: ParameterValue::Numbers(list) => list.clone();
}

impl<W: Word> Value for W {
    fn take(value: &ParameterValue) -> Option<W> {
        let ParameterValue::Text(text) = value else {
            return None;
        };
        let at = W::WORDS.iter().position(|word| word == text)?;
        W::VALUES.get(at).copied()
    }
}

/// A number from `min` to `max`.
pub(crate) const fn number<T: Number>(
    default: f64,
    unit: &'static str,
    (min, max): (f64, f64),
) -> Declared<T> {
    Declared::new(
        DefaultValue::Number(default),
        unit,
        Range::Number { min, max },
    )
}

/// A list of numbers, each from `min` to `max`.
pub(crate) const fn numbers(
    default: &'static [f64],
    unit: &'static str,
    (min, max): (f64, f64),
) -> Declared<Vec<f64>> {
    Declared::new(
        DefaultValue::Numbers(default),
        unit,
        Range::Numbers { min, max },
    )
}

pub(crate) const fn flag(default: bool) -> Declared<bool> {
    Declared::new(DefaultValue::Flag(default), "", Range::Flag)
}

/// A time from `min` to `max`.
pub(crate) const fn time(
    default: Duration,
    (min, max): (Duration, Duration),
) -> Declared<Duration> {
    Declared::new(
        DefaultValue::Duration(default),
        "time",
        Range::Duration { min, max },
    )
}

/// A word of `W`; the first is the default.
pub(crate) const fn word<W: Word>() -> Declared<W> {
    word_of(W::WORDS)
}

/// A word of `W`, of which these may be written; the first is the default.
pub(crate) const fn word_of<W: Word>(words: &'static [&'static str]) -> Declared<W> {
    Declared::new(DefaultValue::Text(words[0]), "", Range::OneOf(words))
}

/// Parameters that are declared and read together: a struct of
/// [`parameters!`], or several in a tuple.
pub(crate) trait ParameterSet: Sized {
    /// Adds the parameters to `list`, except names that it already has.
    fn declare(list: &mut Vec<Parameter>);

    /// The given values, or the defaults.
    fn read(reader: &Reader<'_>) -> Result<Self, BuildError>;
}

/// Adds a parameter unless its name is there already.
pub(crate) fn add(list: &mut Vec<Parameter>, parameter: Parameter) {
    if list.iter().all(|have| have.name != parameter.name) {
        list.push(parameter);
    }
}

/// The parameters of `P`, for the life of the program.
pub(crate) fn listed<P: ParameterSet>() -> &'static [Parameter] {
    let mut list = Vec::new();
    P::declare(&mut list);
    list.leak()
}

macro_rules! tuples {
    ($(($($set:ident)*))*) => {
        $(impl<$($set: ParameterSet),*> ParameterSet for ($($set,)*) {
            fn declare(_list: &mut Vec<Parameter>) {
                $($set::declare(_list);)*
            }

            fn read(_reader: &Reader<'_>) -> Result<Self, BuildError> {
                Ok(($($set::read(_reader)?,)*))
            }
        })*
    };
}

tuples! { () (A B) (A B C) }

/// Declares a struct of settings whose fields are parameters of the same names:
/// `field: type = number(default, unit, range), "meaning";`.
macro_rules! parameters {
    ($(#[$attribute:meta])* $vis:vis struct $Name:ident {
        $($field:ident: $type:ty = $declared:expr, $meaning:literal;)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Name {
            $(#[doc = $meaning] $vis $field: $type,)*
        }

        impl $crate::parameter::ParameterSet for $Name {
            fn declare(list: &mut Vec<$crate::Parameter>) {
                $({
                    let declared: $crate::parameter::Declared<$type> = $declared;
                    let named = declared.named(stringify!($field), $meaning);
                    $crate::parameter::add(list, named.parameter());
                })*
            }

            fn read(
                reader: &$crate::parameter::Reader<'_>,
            ) -> Result<$Name, $crate::BuildError> {
                $(
                    let declared: $crate::parameter::Declared<$type> = $declared;
                    let $field = reader.get(&declared.named(stringify!($field), $meaning))?;
                )*
                Ok($Name { $($field),* })
            }
        }
    };
}
pub(crate) use parameters;

/// Declares an enum of which a scenario writes one word; the first is the
/// default.
macro_rules! words {
    ($(#[$attribute:meta])* $vis:vis enum $Name:ident {
        $(#[$first_doc:meta])* $First:ident = $first_word:literal,
        $($(#[$doc:meta])* $Value:ident = $word:literal,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis enum $Name {
            $(#[$first_doc])*
            #[default]
            $First,
            $($(#[$doc])* $Value,)*
        }

        impl $crate::parameter::Word for $Name {
            const WORDS: &'static [&'static str] = &[$first_word $(, $word)*];
            const VALUES: &'static [$Name] = &[$Name::$First $(, $Name::$Value)*];
        }
    };
}
pub(crate) use words;
