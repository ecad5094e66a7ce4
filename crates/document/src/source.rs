//! The text of a document and positions in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A file as it was given: its name, for messages, and its text.
#[derive(Debug)]
pub struct Source {
    /// Name of the file, for messages.
    pub name: String,
    /// Content of the file.
    pub text: String,
    /// Byte offset of each line, found when the first message needs it.
    lines: OnceLock<Vec<usize>>,
}

/// The origin of a value that is not in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SetBy {
    /// A point of a study's axis, or `set` of a study.
    #[default]
    Axis,
    /// The option `--set` of the command line.
    Option,
}

/// A value that was set from outside the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it was given.
    pub by: SetBy,
    /// The dotted path that it sets.
    pub path: String,
    /// The value as TOML.
    pub value: String,
}

/// Part of a setting to which a message refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The last key of the path.
    Key,
    /// The value.
    Value,
}

/// Where a key or value comes from. Cheap to copy: every item has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes of the file.
    File {
        /// The first byte.
        start: u32,
        /// The byte after the last.
        end: u32,
    },
    /// A setting from outside.
    Setting {
        /// Index of the item.
        index: u32,
        /// Part of the item.
        part: Part,
    },
    /// The file as a whole.
    Whole,
}

impl Place {
    /// The place of a byte range of the file.
    #[must_use]
    pub fn file(span: Range<usize>) -> Place {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place::File {
            start: clamp(span.start),
            end: clamp(span.end),
        }
    }

    /// The byte range in the file, if it is one.
    #[must_use]
    pub fn span(self) -> Option<Range<usize>> {
        match self {
            Place::File { start, end } => Some(start as usize..end as usize),
            Place::Setting { .. } | Place::Whole => None,
        }
    }

    /// For sorting messages: file order, then settings, then the file as a
    /// whole.
    #[must_use]
    pub fn rank(self) -> (u8, u32) {
        match self {
            Place::File { start, .. } => (0, start),
            Place::Setting { index, .. } => (1, index),
            Place::Whole => (2, 0),
        }
    }
}

impl Source {
    /// A file of that name.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source {
            name: name.into(),
            text: text.into(),
            lines: OnceLock::new(),
        }
    }

    fn lines(&self) -> &[usize] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0)
                .chain(breaks.map(|(i, _)| i + 1))
                .collect()
        })
    }

    /// Line and column, both from 1, of a byte offset; columns are characters.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.clamp(offset..offset).start;
        let line = self.lines().partition_point(|start| *start <= offset);
        let start = self.lines()[line - 1];
        (line, self.text[start..offset].chars().count() + 1)
    }

    /// The whole lines that a range touches: their number, from 1, and bytes.
    #[must_use]
    pub fn lines_of(&self, span: Range<usize>) -> (usize, Range<usize>) {
        let lines = self.lines();
        let first = lines.partition_point(|start| *start <= span.start);
        let last = lines.partition_point(|start| *start <= span.end);
        let end = lines.get(last).copied().unwrap_or(self.text.len());
        (first, lines[first - 1]..end)
    }

    /// The range moved to character boundaries inside the text.
    #[must_use]
    pub fn clamp(&self, span: Range<usize>) -> Range<usize> {
        let mut start = span.start.min(self.text.len());
        let mut end = span.end.clamp(start, self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }
}

impl Setting {
    /// The setting as a line of TOML, and the byte range of a part of it.
    #[must_use]
    pub fn line(&self, part: Part) -> (String, Range<usize>) {
        let line = format!("{} = {}", self.path, self.value);
        let span = match part {
            Part::Key => crate::path::last_key(&self.path)..self.path.len(),
            Part::Value => self.path.len() + 3..line.len(),
        };
        (line, span)
    }

    /// Start of a message: the value, the path and its origin.
    #[must_use]
    pub fn describe(&self) -> String {
        let value = self.value.strip_prefix('"');
        let value = value.and_then(|v| v.strip_suffix('"'));
        let value = value.unwrap_or(&self.value);
        match self.by {
            SetBy::Axis => format!("axis value `{value}` of {}", self.path),
            SetBy::Option => format!("`--set {}={value}`", self.path),
        }
    }
}

impl SetBy {
    /// Text in a message in place of a file name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            SetBy::Axis => "axis value",
            SetBy::Option => "--set",
        }
    }
}

/// The texts that places refer to.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The text of the file.
    pub source: Arc<Source>,
    /// The values set from outside.
    pub settings: Arc<Vec<Setting>>,
    /// Texts of the files that the document names, by the names that it gives
    /// them.
    pub files: Arc<BTreeMap<String, String>>,
}

impl Origin {
    /// A file in which nothing is set from outside.
    #[must_use]
    pub fn file(name: &str, text: &str) -> Origin {
        Origin {
            source: Arc::new(Source::new(name, text)),
            settings: Arc::default(),
            files: Arc::default(),
        }
    }
}

/// A text without what would move a terminal's cursor or change its colours:
/// control characters become their symbols, marks of writing direction are
/// replaced.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{7f}' => '\u{2421}',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{80}'..='\u{9f}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let source = Source::new("x", "a\nbé = 3\n\nc");
        let at = |offset| source.line_column(offset);
        assert_eq!(
            [at(0), at(1), at(2), at(5)],
            [(1, 1), (1, 2), (2, 1), (2, 3)]
        );
        assert_eq!([at(10), at(11), at(99)], [(3, 1), (4, 1), (4, 2)]);
        assert_eq!(source.lines_of(3..5), (2, 2..10));
        assert_eq!(source.lines_of(0..3), (1, 0..10));
        assert_eq!(source.lines_of(11..12), (4, 11..12));
    }

    #[test]
    fn escapes_are_neutralised() {
        assert_eq!(printable("a\u{1b}[31mred\n"), "a\u{241b}[31mred\n");
        assert_eq!(printable("x\u{202e}y\u{9b}"), "x\u{fffd}y\u{fffd}");
    }
}
