//! A script, as it was read: events in their order, each with its place in the file.

use crate::assertion::Code;
use bentpipe_units::Duration;
use std::ops::Range;

/// A script.
#[derive(Clone, Debug)]
pub struct Script {
    /// Name of the file, for messages.
    pub name: String,
    /// The lines `--name=value` at its beginning.
    pub options: Vec<ScriptOption>,
    /// What happens, in the order of the file.
    pub events: Vec<Event>,
    source: String,
    /// The byte at which each line begins.
    lines: Vec<usize>,
}

impl Script {
    pub(crate) fn new(
        name: &str,
        source: &str,
        options: Vec<ScriptOption>,
        events: Vec<Event>,
    ) -> Script {
        let breaks = source
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n');
        Script {
            name: name.to_owned(),
            options,
            events,
            source: source.to_owned(),
            lines: std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect(),
        }
    }

    /// The line, from 1, of a byte offset.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The rest of the line from a byte offset on.
    #[must_use]
    pub fn rest_of_line(&self, at: usize) -> &str {
        let text = self.source.get(at..).unwrap_or("");
        let line = text.lines().next().unwrap_or("");
        line.split("}%").next().unwrap_or(line).trim()
    }
}

/// A line `--name=value`.
#[derive(Clone, Debug)]
pub struct ScriptOption {
    /// Name without dashes.
    pub name: String,
    /// Value; empty where there is none.
    pub value: String,
    /// Bytes of the file.
    pub span: Range<usize>,
}

/// When something happens. Times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// With the event before it, or, for packets, whenever it comes.
    Any,
    /// So long after the start.
    At(u64),
    /// So long after the event before.
    After(u64),
    /// In a range after the start.
    Between(u64, u64),
    /// In a range after the event before.
    AfterBetween(u64, u64),
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it happens.
    pub when: When,
    /// What happens.
    pub action: Action,
    /// Bytes of the file.
    pub span: Range<usize>,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum Action {
    /// `<`: a packet arrives.
    Arrives(Segment),
    /// `>`: a packet is expected to leave.
    Leaves(Segment),
    /// A system call.
    Call(Call),
    /// Commands of a shell, in backticks.
    Command(String),
    /// `%{ }%`: code over the state of the connection.
    Code(Code),
    /// Something of the language that has no counterpart here: its name.
    Foreign(&'static str),
}

/// Bits of [`Segment::flags`], in the order of a TCP header.
pub mod flag {
    /// No more data.
    pub const FIN: u16 = 1;
    /// Synchronises sequence numbers.
    pub const SYN: u16 = 2;
    /// The connection does not exist.
    pub const RST: u16 = 4;
    /// The end of what an application wrote.
    pub const PSH: u16 = 8;
    /// The acknowledgement number counts.
    pub const ACK: u16 = 16;
    /// Urgent data.
    pub const URG: u16 = 32;
    /// Echo of a congestion mark.
    pub const ECE: u16 = 64;
    /// The window was reduced.
    pub const CWR: u16 = 128;
    /// Accurate ECN.
    pub const AE: u16 = 256;
    /// Every flag with the letter that scripts have for it.
    pub const LETTERS: [(char, u16); 9] = [
        ('F', FIN),
        ('S', SYN),
        ('R', RST),
        ('P', PSH),
        ('.', ACK),
        ('U', URG),
        ('E', ECE),
        ('W', CWR),
        ('A', AE),
    ];
}

/// The ECN field of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// Not capable.
    #[serde(rename = "noecn")]
    Not,
    /// Capable, as Linux marks it.
    Ect0,
    /// Capable, the other codepoint.
    Ect1,
    /// Either of the two.
    Ect01,
    /// Congestion was experienced.
    Ce,
}

impl Ecn {
    /// Names in scripts.
    pub const NAMES: [(&'static str, Ecn); 5] = [
        ("noecn", Ecn::Not),
        ("ect0", Ecn::Ect0),
        ("ect1", Ecn::Ect1),
        ("ect01", Ecn::Ect01),
        ("ce", Ecn::Ce),
    ];

    /// True if a packet with `other` is what this expects.
    #[must_use]
    pub fn takes(self, other: Ecn) -> bool {
        self == other || (self == Ecn::Ect01 && matches!(other, Ecn::Ect0 | Ecn::Ect1))
    }
}

/// A TCP segment in the numbers of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Bits of [`flag`].
    pub flags: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// Acknowledgement number.
    pub acknowledgement: Option<u32>,
    /// The window field, unscaled.
    pub window: Option<u16>,
    /// ECN field of the IP header; nothing where it does not matter.
    pub ecn: Option<Ecn>,
    /// TCP options; nothing for `<...>`, whatever they are.
    pub options: Option<Vec<TcpOption>>,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// Padding.
    Nop,
    /// The end of the list.
    Eol,
    /// Maximum segment size, bytes.
    Mss(u16),
    /// Window scale, a shift.
    WindowScale(u8),
    /// Selective acknowledgements are permitted.
    SackPermitted,
    /// Selective acknowledgements: first byte, and one past the last.
    Sack(Vec<(u32, u32)>),
    /// Timestamps: value and echo.
    Timestamp(u32, u32),
    /// One that has no counterpart here: its name.
    Foreign(&'static str),
}

/// A system call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Name.
    pub name: String,
    /// Arguments.
    pub arguments: Vec<Expression>,
    /// The value that it is to return.
    pub returns: Expression,
    /// The name of the error that it is to fail with.
    pub error: Option<String>,
    /// For a call that blocks, when it is to return, in microseconds after the start or, with
    /// [`When::After`], after the event before.
    pub until: Option<u64>,
}

/// An argument of a system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// `...`: whatever suits.
    Any,
    /// A number.
    Integer(i64),
    /// A name, such as `SOCK_STREAM`.
    Name(String),
    /// A text in quotes.
    Text(String),
    /// Flags that are set together.
    Or(Vec<Expression>),
    /// `[a, b]`.
    List(Vec<Expression>),
    /// `{a=b, c}`.
    Struct(Vec<Expression>),
    /// `name=value` in a struct.
    Field(Box<Expression>, Box<Expression>),
    /// `name(a, b)`.
    Apply(String, Vec<Expression>),
}

impl Expression {
    /// The number, if it is one.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Expression::Integer(number) => Some(*number),
            Expression::List(items) if items.len() == 1 => items[0].integer(),
            _ => None,
        }
    }

    /// The name, if it is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Expression::Name(name) => Some(name),
            _ => None,
        }
    }

    /// True if `name` is it or among the flags that are set.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        match self {
            Expression::Name(own) => own == name,
            Expression::Or(all) => all.iter().any(|one| one.has(name)),
            _ => false,
        }
    }
}

/// Microseconds as a duration.
pub(crate) fn micros(us: u64) -> Duration {
    Duration::from_micros(us.min(u64::MAX / 4_000))
}
