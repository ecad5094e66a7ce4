//! Options, declared once.
//!
//! [`options!`] makes a struct with a field for each option, and a description of
//! each ([`OptionSpec`]). The command line, the reader of texts ([`read`]), the
//! keywords of Python and the fields of the explorer's page are derived from it.

use super::argument::{Argument, Choice, Field, Kind};
use super::problem::{Problem, QuestionError};
use std::ffi::OsStr;

/// The part of a form that an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Group {
    /// The link.
    Link,
    /// Its users and what else is on it.
    Users,
    /// What is compared, and how.
    Comparison,
}

impl Group {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Group::Link => "link",
            Group::Users => "users",
            Group::Comparison => "comparison",
        }
    }
}

/// What is known of an option of `Q`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct OptionSpec<Q: 'static> {
    /// As it is typed on the command line: `return-rate`.
    pub name: &'static str,
    /// What it is, without the default. Other options stand in it as `--rtt`.
    pub help: &'static str,
    /// The value without the option, as it is typed; `None` if that depends on others.
    pub default: Option<&'static str>,
    /// What holds without the option, in words, where there is something to say.
    pub otherwise: Option<&'static str>,
    /// What help calls a value: `RATE`.
    pub metavar: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// True if it takes several values, with commas between them.
    pub several: bool,
    /// Smallest and largest whole number.
    pub range: Option<(i64, i64)>,
    /// The part of a form that it belongs to.
    pub group: Group,
    /// Where a slider begins and ends, in bit/s, seconds, bytes, shares or numbers.
    pub slider: Option<(f64, f64)>,
    /// Options that must be set with it.
    pub needs: &'static [&'static str],
    /// Options that cannot be set with it.
    pub excludes: &'static [&'static str],
    /// The values to choose from.
    pub choices: fn() -> Vec<Choice>,
    /// Sets it to a text. The first text of several values replaces the default.
    pub(super) set: fn(&OptionSpec<Q>, &mut Q, &OsStr, bool) -> Result<(), String>,
}

impl<Q: Default> OptionSpec<Q> {
    /// Whether the option takes this text.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn check(&self, text: &OsStr) -> Result<(), String> {
        (self.set)(self, &mut Q::default(), text, true)
    }

    /// The help with what holds without the option at its end.
    #[must_use]
    pub fn full_help(&self) -> String {
        match self.default.or(self.otherwise) {
            Some(text) => format!("{} [default: {text}]", self.help),
            None => self.help.to_owned(),
        }
    }
}

/// A struct made by [`options!`].
pub(super) trait Options: Default + 'static {
    /// Its options, in the order of the declaration.
    const OPTIONS: &'static [OptionSpec<Self>];

    /// Refuses options that exclude or lack each other, and numbers out of range.
    ///
    /// # Errors
    /// The first option that is wrong.
    fn check(&self) -> Result<(), QuestionError>;
}

/// Reads options, each a name and a text. One that takes several values may come several
/// times, or have commas between them.
///
/// # Errors
/// The first option that is unknown, cannot be read, or does not go with the others.
pub(super) fn read<Q: Options>(
    given: &[(impl AsRef<str>, impl AsRef<OsStr>)],
) -> Result<Q, QuestionError> {
    let mut question = Q::default();
    let mut seen: Vec<&str> = Vec::new();
    for (name, text) in given {
        let (name, text) = (name.as_ref(), text.as_ref());
        let Some(option) = Q::OPTIONS.iter().find(|option| option.name == name) else {
            let names = Q::OPTIONS.iter().map(|option| option.name);
            return Err(QuestionError {
                option: None,
                problem: Problem::Unknown {
                    name: name.to_owned(),
                    nearest: bentpipe_units::nearest(name, names),
                },
            });
        };
        let is_first = !seen.contains(&option.name);
        if !is_first && !option.several {
            return Err(QuestionError::setting(option.name, "cannot be given twice"));
        }
        seen.push(option.name);
        // A name of a file that is not UTF-8 is taken whole.
        let parts: Vec<&OsStr> = match text.to_str() {
            Some(text) if option.several => text.split(',').map(OsStr::new).collect(),
            _ => vec![text],
        };
        for (number, part) in parts.into_iter().enumerate() {
            let set = (option.set)(option, &mut question, part, is_first && number == 0);
            set.map_err(|why| QuestionError {
                option: Some(option.name),
                problem: Problem::Value {
                    text: part.to_string_lossy().into_owned(),
                    why,
                },
            })?;
        }
    }
    question.check()?;
    Ok(question)
}

/// Puts the value of a text into the field of an option.
pub(super) fn put<Q, F: Field>(
    option: &OptionSpec<Q>,
    field: &mut F,
    text: &OsStr,
    is_first: bool,
) -> Result<(), String> {
    if let (Some((min, max)), Some(text)) = (option.range, text.to_str()) {
        let number: i64 = text
            .parse()
            .map_err(|e: std::num::ParseIntError| e.to_string())?;
        if !(min..=max).contains(&number) {
            return Err(format!("{number} is not in {min}..={max}"));
        }
    }
    let value = F::Value::read(text)?;
    if is_first {
        field.clear();
    }
    field.put(value);
    Ok(())
}

/// A name with hyphens for underscores.
pub(super) const fn hyphenated<const N: usize>(name: &str) -> [u8; N] {
    let (mut bytes, mut i) = ([b'-'; N], 0);
    while i < N {
        if name.as_bytes()[i] != b'_' {
            bytes[i] = name.as_bytes()[i];
        }
        i += 1;
    }
    bytes
}

/// Declares a struct of options.
///
/// Each option has a help text, which is its comment, a type ([`Argument`]), and what
/// holds without it: `default "TEXT"` is a value, `or "WORDS"` says what happens, and
/// after `optional` there is nothing to say. Before these, `several` makes it a list.
/// Then come, in any number:
///
/// | attribute | says |
/// |---|---|
/// | `group(Link)` | the [`Group`] |
/// | `metavar("LON")` | what help calls a value, unless as its type does |
/// | `kind(Transport, choices)` | the [`Kind`] and choices, unless those of its type |
/// | `range(1..=9)` | the smallest and largest number |
/// | `slider(1e4..1e9)` | where a slider begins and ends |
/// | `needs(from, to)` | options that must be set with it |
/// | `needs_any(orbit, trace: "...")` | one of which must be, and what is said if not |
/// | `excludes(trace: "...")` | those that must not be, and what is said if one is |
/// | `set(Comparison)` | a builder with a field `question`, which gets a setter |
macro_rules! options {
    (
        $(#[doc = $meaning:literal])*
        $vis:vis $name:ident;
        $(
            $(#[doc = $help:literal])*
            $field:ident: $type:ty, $($presence:ident)+ $($text:literal)?
            $(, $attribute:ident ($($argument:tt)*))*;
        )*
    ) => {
        $(#[doc = $meaning])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
        $vis struct $name {
            $(
                $(#[doc = $help])*
                $vis $field: option_part!(type [$type] $($presence)+),
            )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name {
                    $($field: option_part!(initial [$type] $($presence)+ $($text)?),)*
                }
            }
        }

        impl $crate::compare::options::Options for $name {
            const OPTIONS: &'static [$crate::compare::options::OptionSpec<$name>] = &[$(
                option_spec!(
                    $crate::compare::options::OptionSpec {
                        name: option_part!(name $field),
                        help: concat!($($help),*).trim_ascii(),
                        default: option_part!(default $($presence)+ $($text)?),
                        otherwise: option_part!(otherwise $($presence)+ $($text)?),
                        metavar: <$type as $crate::compare::argument::Argument>::METAVAR,
                        kind: <$type as $crate::compare::argument::Argument>::KIND,
                        several: option_part!(several $($presence)+),
                        range: None,
                        group: $crate::compare::options::Group::Link,
                        slider: None,
                        needs: &[],
                        excludes: &[],
                        choices: <$type as $crate::compare::argument::Argument>::choices,
                        set: |option, question, text, is_first| {
                            $crate::compare::options::put(
                                option, &mut question.$field, text, is_first,
                            )
                        },
                    };
                    $($attribute ($($argument)*))*
                )
            ),*];

            fn check(&self) -> Result<(), $crate::compare::problem::QuestionError> {
                let this = self;
                $($(option_rule!(this $field $attribute ($($argument)*));)*)*
                Ok(())
            }
        }

        $(option_setter!(
            $field [$type] [$($help)*] [option_part!(unset $($presence)+ $($text)?)]
            $($attribute ($($argument)*))*
        );)*
    };
}

/// A part of the declaration of an option that its presence decides.
macro_rules! option_part {
    (type [$type:ty] several $($rest:ident)+) => { Vec<$type> };
    (type [$type:ty] default) => { $type };
    (type [$type:ty] $other:ident) => { Option<$type> };
    (initial [$type:ty] several default $text:literal) => {
        vec![$crate::compare::argument::declared::<$type>($text)]
    };
    (initial [$type:ty] default $text:literal) => {
        $crate::compare::argument::declared::<$type>($text)
    };
    (initial $($other:tt)*) => { Default::default() };
    (several several $($rest:ident)+) => { true };
    (several $other:ident) => { false };
    (default several $($rest:tt)+) => { option_part!(default $($rest)+) };
    (default default $text:literal) => { Some($text) };
    (default $($other:tt)*) => { None };
    (otherwise several $($rest:tt)+) => { option_part!(otherwise $($rest)+) };
    (otherwise or $text:literal) => { Some($text) };
    (otherwise $($other:tt)*) => { None };
    (unset several $($rest:tt)+) => { option_part!(unset $($rest)+) };
    (unset optional) => { "" };
    (unset $presence:ident $text:literal) => { concat!("Unless it is set: ", $text, ".") };
    (name $field:ident) => {{
        const NAME: [u8; stringify!($field).len()] =
            $crate::compare::options::hyphenated(stringify!($field));
        match std::str::from_utf8(&NAME) {
            Ok(name) => name,
            Err(_) => stringify!($field),
        }
    }};
}

/// The description of an option with its attributes.
macro_rules! option_spec {
    ($spec:expr;) => { $spec };
    ($spec:expr; group($group:ident) $($rest:tt)*) => {
        option_spec!(@group: $crate::compare::options::Group::$group, $spec; $($rest)*)
    };
    ($spec:expr; metavar($text:literal) $($rest:tt)*) => {
        option_spec!(@metavar: $text, $spec; $($rest)*)
    };
    ($spec:expr; kind($kind:ident, $choices:path) $($rest:tt)*) => {
        option_spec!(@kind: $crate::compare::argument::Kind::$kind,
            $crate::compare::options::OptionSpec { choices: $choices, ..$spec }; $($rest)*)
    };
    ($spec:expr; range($min:literal..=$max:expr) $($rest:tt)*) => {
        option_spec!(@range: Some(($min, $max)), $spec; $($rest)*)
    };
    ($spec:expr; slider($from:literal..$to:literal) $($rest:tt)*) => {
        option_spec!(@slider: Some(($from, $to)), $spec; $($rest)*)
    };
    ($spec:expr; needs($($other:ident),+) $($rest:tt)*) => {
        option_spec!(@needs: &[$(option_part!(name $other)),+], $spec; $($rest)*)
    };
    ($spec:expr; excludes($($other:ident: $why:literal),+) $($rest:tt)*) => {
        option_spec!(@excludes: &[$(option_part!(name $other)),+], $spec; $($rest)*)
    };
    ($spec:expr; needs_any($($ignored:tt)*) $($rest:tt)*) => { option_spec!($spec; $($rest)*) };
    ($spec:expr; set($($ignored:tt)*) $($rest:tt)*) => { option_spec!($spec; $($rest)*) };
    (@$part:ident: $value:expr, $spec:expr; $($rest:tt)*) => {
        option_spec!($crate::compare::options::OptionSpec { $part: $value, ..$spec }; $($rest)*)
    };
}

/// What an attribute asks of the other options.
macro_rules! option_rule {
    ($this:ident $field:ident range($min:literal..=$max:expr)) => {
        for value in $crate::compare::argument::Field::values(&$this.$field) {
            if !($min..=$max).contains(&i64::from(*value)) {
                let why = format!("must be from {} to {}", $min, $max);
                return Err($crate::compare::problem::QuestionError::setting(
                    option_part!(name $field), why,
                ));
            }
        }
    };
    ($this:ident $field:ident needs($($other:ident),+)) => {
        if option_rule!(is_set $this $field) {
            let missing: Vec<&'static str> = [
                $((!option_rule!(is_set $this $other)).then_some(option_part!(name $other))),+
            ].into_iter().flatten().collect();
            if let [first, others @ ..] = &missing[..] {
                let so = others.iter().map(|other| format!(", and so must --{other}"));
                let so: String = so.collect();
                let why = format!("must be set for --{}{so}", option_part!(name $field));
                return Err($crate::compare::problem::QuestionError::setting(first, why));
            }
        }
    };
    ($this:ident $field:ident needs_any($($other:ident),+: $why:literal)) => {
        if option_rule!(is_set $this $field) && !($(option_rule!(is_set $this $other))||+) {
            return Err($crate::compare::problem::QuestionError::setting(
                option_part!(name $field), $why,
            ));
        }
    };
    ($this:ident $field:ident excludes($($other:ident: $why:literal),+)) => {
        $(if option_rule!(is_set $this $field) && option_rule!(is_set $this $other) {
            return Err($crate::compare::problem::QuestionError::setting(
                option_part!(name $field), $why,
            ));
        })+
    };
    (is_set $this:ident $field:ident) => {
        !$crate::compare::argument::Field::values(&$this.$field).is_empty()
    };
    ($($other:tt)*) => {};
}

/// A setter of a builder that has the options in its field `question`.
macro_rules! option_setter {
    ($field:ident [$type:ty] [$($help:literal)*] [$unset:expr] set($builder:ident) $($r:tt)*) => {
        impl $builder {
            $(#[doc = $help])*
            #[doc = ""]
            #[doc = $unset]
            #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                $crate::compare::argument::Field::put(&mut self.question.$field, $field);
                self
            }
        }
    };
    ($field:ident $type:tt $help:tt $unset:tt) => {};
    ($field:ident $type:tt $help:tt $unset:tt $attribute:ident $argument:tt $($rest:tt)*) => {
        option_setter!($field $type $help $unset $($rest)*);
    };
}

pub(super) use {option_part, option_rule, option_setter, option_spec, options};

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
