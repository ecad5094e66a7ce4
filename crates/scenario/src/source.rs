//! The text of a scenario and places in it.

use std::ops::Range;
use std::sync::Arc;

/// A file as it was given: its name, for messages, and its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A value that was set from outside, such as one point of a study's axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// The dotted path that it sets.
    pub(crate) path: String,
    /// The value as TOML.
    pub(crate) value: String,
}

/// Which part of an axis a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The last key of the path.
    Key,
    /// The value.
    Value,
}

/// Where a key or value comes from. Cheap to copy: every item has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Bytes of the file.
    File { start: u32, end: u32 },
    /// The axis with this index.
    Axis { index: u32, part: Part },
    /// The file as a whole.
    Whole,
}

impl Place {
    /// The place of a byte range of the file.
    pub(crate) fn file(span: Range<usize>) -> Place {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place::File {
            start: clamp(span.start),
            end: clamp(span.end),
        }
    }

    /// For sorting messages: file order, then axes, then the file as a whole.
    pub(crate) fn rank(self) -> (u8, u32) {
        match self {
            Place::File { start, .. } => (0, start),
            Place::Axis { index, .. } => (1, index),
            Place::Whole => (2, 0),
        }
    }
}

impl Source {
    /// Line and column, both from 1, of a byte offset; columns are characters.
    pub(crate) fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// The range moved to character boundaries inside the text.
    pub(crate) fn clamp(&self, span: Range<usize>) -> Range<usize> {
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

impl Axis {
    /// The axis as a line of TOML, and the byte range of a part of it.
    pub(crate) fn line(&self, part: Part) -> (String, Range<usize>) {
        let line = format!("{} = {}", self.path, self.value);
        let span = match part {
            Part::Key => crate::path::last_key(&self.path)..self.path.len(),
            Part::Value => self.path.len() + 3..line.len(),
        };
        (line, span)
    }
}

/// The texts that places refer to.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Arc<Source>,
    pub(crate) axes: Arc<Vec<Axis>>,
}
