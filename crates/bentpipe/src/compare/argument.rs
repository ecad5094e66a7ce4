//! What options take: the kinds of values, and how each is read.

use super::background::Background;
use super::candidate::Hosts;
use super::fade::{Coding, Decibels, Fade};
use super::jitter::Jitter;
use super::loss::Loss;
use super::mix::Mix;
use super::pep::Pep;
use super::queue::Queue;
use super::traffic::Traffic;
use bentpipe_link::{DVB_S2, ModCod};
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::slice;

/// What kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Kind {
    /// Bits per second, as `10 Mbit/s`.
    Rate,
    /// A time, as `600 ms`.
    Time,
    /// Bytes, as `10 MB`.
    Size,
    /// A whole number.
    Count,
    /// A number, such as degrees.
    Number,
    /// What a channel loses, as `0.1%` or `5% in bursts of 8 packets`.
    Loss,
    /// A queue, as `1 BDP` or `codel`.
    Length,
    /// Other traffic, as `20%` or `2 Mbit/s in bursts`.
    Load,
    /// A city, or degrees north and east.
    Place,
    /// A transport, and what is changed around it.
    Transport,
    /// Satellites: a name, or a file of their elements.
    Orbit,
    /// A file.
    File,
    /// One of its choices.
    Choice,
    /// Yes or no; named alone it is yes.
    Flag,
    /// A text of another kind.
    Text,
}

impl Kind {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Rate => "rate",
            Kind::Time => "time",
            Kind::Size => "size",
            Kind::Count => "count",
            Kind::Number => "number",
            Kind::Loss => "loss",
            Kind::Length => "length",
            Kind::Load => "load",
            Kind::Place => "place",
            Kind::Transport => "transport",
            Kind::Orbit => "orbit",
            Kind::File => "file",
            Kind::Choice => "choice",
            Kind::Flag => "flag",
            Kind::Text => "text",
        }
    }

    /// The type of one value in Python.
    #[must_use]
    pub const fn python(self) -> &'static str {
        match self {
            Kind::Count => "int",
            Kind::Number => "float | str",
            Kind::Flag => "bool",
            Kind::Place => "str | tuple[float, float]",
            Kind::Orbit | Kind::File => "str | os.PathLike[str]",
            Kind::Rate
            | Kind::Time
            | Kind::Size
            | Kind::Loss
            | Kind::Length
            | Kind::Load
            | Kind::Transport
            | Kind::Choice
            | Kind::Text => "str",
        }
    }
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As it is typed.
    pub value: String,
    /// What it is; may be empty.
    pub about: String,
}

impl Choice {
    /// The choice `value`, which is `about`.
    pub(super) fn new(value: &str, about: &str) -> Choice {
        Choice {
            value: value.to_owned(),
            about: about.to_owned(),
        }
    }
}

/// A value that an option takes.
pub(super) trait Argument: Sized {
    /// Its kind.
    const KIND: Kind;
    /// What help calls it.
    const METAVAR: &'static str;

    /// The value that a text stands for.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn read(text: &OsStr) -> Result<Self, String>;

    /// The values to choose from. Others may be typed unless the kind is
    /// [`Kind::Choice`].
    fn choices() -> Vec<Choice> {
        Vec::new()
    }

    /// True if a list leaves it out.
    fn is_blank(&self) -> bool {
        false
    }
}

/// A text of Unicode.
fn text(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| "it is not UTF-8".to_owned())
}

/// Values that are read as everywhere.
macro_rules! arguments {
    ($($type:ty: $kind:ident $metavar:literal;)*) => {$(
        impl Argument for $type {
            const KIND: Kind = Kind::$kind;
            const METAVAR: &'static str = $metavar;

            fn read(given: &OsStr) -> Result<$type, String> {
                text(given)?.parse::<$type>().map_err(|e| e.to_string())
            }
        }
    )*};
}

arguments! {
    Rate: Rate "RATE";
    Duration: Time "TIME";
    Bytes: Size "SIZE";
    f64: Number "N";
    Loss: Loss "LOSS";
    Queue: Length "QUEUE";
    Background: Load "LOAD";
    Site: Place "PLACE";
    Fade: Text "FADE";
    Jitter: Text "JITTER";
    Decibels: Text "DB";
}

/// Whole numbers.
macro_rules! counts {
    ($($type:ty;)*) => {$(
        impl Argument for $type {
            const KIND: Kind = Kind::Count;
            const METAVAR: &'static str = "N";

            fn read(given: &OsStr) -> Result<$type, String> {
                let number = text(given)?.trim().parse::<$type>();
                let expected = || format!("expected a whole number from 0 to {}", <$type>::MAX);
                number.map_err(|_| expected())
            }
        }
    )*};
}

counts! {
    u32;
    u64;
}

/// Values that are chosen by a name.
macro_rules! choices {
    ($($type:ty, about $about:expr;)*) => {$(
        impl Argument for $type {
            const KIND: Kind = Kind::Choice;
            const METAVAR: &'static str = "KIND";

            fn read(given: &OsStr) -> Result<$type, String> {
                named(text(given)?.trim(), &<$type>::ALL)
            }

            fn choices() -> Vec<Choice> {
                let all = <$type>::ALL.iter();
                all.map(|(name, value)| Choice::new(name, $about(*value))).collect()
            }
        }
    )*};
}

choices! {
    Hosts, about |_| "";
    Pep, about Pep::describe;
    Coding, about Coding::describe;
}

impl Argument for Traffic {
    const KIND: Kind = Kind::Text;
    const METAVAR: &'static str = "KIND";

    fn read(given: &OsStr) -> Result<Traffic, String> {
        let given = text(given)?.trim();
        // Only a mix has shares.
        match given.contains(['%', ',']) {
            true => given
                .parse::<Mix>()
                .map(Traffic::Mix)
                .map_err(|e| e.to_string()),
            false => named(given, &Traffic::ALL).map_err(|e| {
                let mix = "mixed or a mix, such as `web 60%,video 30%,download 10%`";
                e.replacen("mixed", mix, 1)
            }),
        }
    }

    fn choices() -> Vec<Choice> {
        let all = Traffic::ALL.iter();
        all.map(|(name, _)| Choice::new(name, "")).collect()
    }
}

impl Argument for bool {
    const KIND: Kind = Kind::Flag;
    const METAVAR: &'static str = "yes|no";

    fn read(given: &OsStr) -> Result<bool, String> {
        named(text(given)?.trim(), &YES_OR_NO)
    }

    fn choices() -> Vec<Choice> {
        YES_OR_NO.map(|(name, _)| Choice::new(name, "")).to_vec()
    }
}

const YES_OR_NO: [(&str, bool); 2] = [("no", false), ("yes", true)];

/// The value of that name.
fn named<T: Copy>(name: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    if let Some((_, value)) = all.iter().find(|(known, _)| *known == name) {
        return Ok(*value);
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let near = bentpipe_units::nearest(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("expected {}{near}", names.join(", ")))
}

impl Argument for ModCod {
    const KIND: Kind = Kind::Choice;
    const METAVAR: &'static str = "NAME";

    fn read(given: &OsStr) -> Result<ModCod, String> {
        text(given)?.parse::<ModCod>().map_err(|e| e.to_string())
    }

    fn choices() -> Vec<Choice> {
        let about = |m: &ModCod| format!("{:.2} bit/symbol at {:.2} dB", m.efficiency, m.es_n0_db);
        DVB_S2
            .iter()
            .map(|m| Choice::new(m.name, &about(m)))
            .collect()
    }
}

impl Argument for String {
    const KIND: Kind = Kind::Text;
    const METAVAR: &'static str = "NAME";

    fn read(given: &OsStr) -> Result<String, String> {
        Ok(text(given)?.trim().to_owned())
    }

    fn is_blank(&self) -> bool {
        self.is_empty()
    }
}

impl Argument for PathBuf {
    const KIND: Kind = Kind::File;
    const METAVAR: &'static str = "FILE";

    fn read(given: &OsStr) -> Result<PathBuf, String> {
        match given.is_empty() {
            true => Err("expected the name of a file".to_owned()),
            false => Ok(PathBuf::from(given)),
        }
    }
}

/// The default that a declaration states.
pub(super) fn declared<T: Argument>(text: &str) -> T {
    match T::read(text.as_ref()) {
        Ok(value) => value,
        Err(why) => panic!("the default `{text}` of an option: {why}"),
    }
}

/// What holds the values of an option: one that need not be set, several, or one with a
/// default.
pub(super) trait Field {
    /// The type of a value.
    type Value: Argument;

    /// The values, none if it is not set.
    fn values(&self) -> &[Self::Value];

    /// Adds a value, or replaces the only one.
    fn put(&mut self, value: Self::Value);

    /// Forgets values that the next one is not added to.
    fn clear(&mut self) {}
}

impl<T: Argument> Field for Option<T> {
    type Value = T;

    fn values(&self) -> &[T] {
        self.as_slice()
    }

    fn put(&mut self, value: T) {
        *self = Some(value);
    }
}

impl<T: Argument> Field for Vec<T> {
    type Value = T;

    fn values(&self) -> &[T] {
        self
    }

    fn put(&mut self, value: T) {
        if !value.is_blank() {
            self.push(value);
        }
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }
}

impl<T: Argument> Field for T {
    type Value = T;

    fn values(&self) -> &[T] {
        slice::from_ref(self)
    }

    fn put(&mut self, value: T) {
        *self = value;
    }
}
