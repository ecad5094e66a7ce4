//! What is wrong with a scenario, in words for the person who wrote it.

use crate::document::Files;
use crate::render;
use crate::source::{Origin, Place};
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

/// More errors than this are counted, not kept: the first ones are what the
/// reader needs.
const KEPT: usize = 50;

/// One thing that is wrong: what, where, what was expected, and what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    message: String,
    label: String,
    help: Vec<String>,
    place: Place,
    /// A second place that explains the first, with what it shows.
    related: Option<(Place, String)>,
    /// Line and column from 1, and bytes, where the place is in the file.
    position: Option<(usize, usize, Range<usize>)>,
    /// Path and value, where the place is an axis.
    axis: Option<(String, String)>,
}

impl Diagnostic {
    /// An error at a place of the file or at an axis.
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
            place,
            related: None,
            position: None,
            axis: None,
        }
    }

    /// Says at the place itself what was expected there.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds a line of help.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// Adds `did you mean ...?`, where there is a name near enough.
    pub(crate) fn suggest(self, nearest: Option<&str>) -> Diagnostic {
        match nearest {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Shows a second place.
    pub(crate) fn related(mut self, place: Place, label: impl Into<String>) -> Diagnostic {
        self.related = Some((place, label.into()));
        self
    }

    /// What is wrong, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was expected at the place; may be empty.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.label
    }

    /// What to do about it, such as ``did you mean `satellite`?``.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.help
    }

    /// Line in the file, from 1; `None` where the error is not in the file.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.position.as_ref().map(|p| p.0)
    }

    /// Column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.position.as_ref().map(|p| p.1)
    }

    /// Bytes of the file that the error is about.
    #[must_use]
    pub fn span(&self) -> Option<Range<usize>> {
        self.position.as_ref().map(|p| p.2.clone())
    }

    /// Path and value of the axis that caused the error, where one did.
    #[must_use]
    pub fn axis(&self) -> Option<(&str, &str)> {
        self.axis
            .as_ref()
            .map(|(path, value)| (path.as_str(), value.as_str()))
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn second_place(&self) -> Option<(Place, &str)> {
        self.related
            .as_ref()
            .map(|(place, label)| (*place, label.as_str()))
    }

    /// Looks the place up in the texts, so that the error can be read without
    /// them.
    fn locate(&mut self, origin: &Origin) {
        match self.place {
            Place::File { start, end } => {
                let span = origin.source.clamp(start as usize..end as usize);
                let (line, column) = origin.source.line_column(span.start);
                self.position = Some((line, column, span));
            }
            Place::Axis { index, .. } => {
                if let Some(axis) = origin.axes.get(index as usize) {
                    self.axis = Some((axis.path.clone(), axis.value.clone()));
                }
            }
            Place::Whole => {}
        }
    }
}

/// Everything that is wrong with a scenario, in the order of the file.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The errors, at least one.
    pub errors: Vec<Diagnostic>,
    /// How many more there are that were not kept.
    pub more: usize,
    pub(crate) origin: Origin,
}

impl Diagnostics {
    /// Name of the file that the errors are in.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.origin.source.name
    }

    /// The errors as text that points at each line, in colour if wanted.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        render::render(self, color)
    }
}

impl fmt::Display for Diagnostics {
    /// One line per error, without the source: `file:line:column: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(self.file_name())?;
            if let (Some(line), Some(column)) = (error.line(), error.column()) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
            if let Some((path, value)) = error.axis() {
                write!(f, "axis value {} of {path}: ", render::axis_value(value))?;
            }
            f.write_str(error.message())?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Proof that an error was reported: whoever gets one need not report again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported(());

/// Where a pass over the document puts its errors, so that it can go on.
#[derive(Debug)]
pub(crate) struct Errors {
    origin: Origin,
    /// Texts of the files that the document names.
    pub(crate) files: Files,
    found: RefCell<(Vec<Diagnostic>, usize)>,
}

impl Errors {
    pub(crate) fn new(origin: Origin, files: Files) -> Errors {
        Errors {
            origin,
            files,
            found: RefCell::new((Vec::new(), 0)),
        }
    }

    /// Keeps an error.
    pub(crate) fn report(&self, mut error: Diagnostic) -> Reported {
        let (kept, more) = &mut *self.found.borrow_mut();
        // Both directions of a link may have the same queue, and it the same
        // mistake.
        if kept
            .iter()
            .any(|k| k.place == error.place && k.message == error.message)
        {
            return Reported(());
        }
        if kept.len() < KEPT {
            error.locate(&self.origin);
            kept.push(error);
        } else {
            *more += 1;
        }
        Reported(())
    }

    /// For whoever finds only now that there were errors.
    pub(crate) fn already(&self) -> Reported {
        debug_assert!(!self.is_empty(), "nothing was reported");
        Reported(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.borrow().0.is_empty()
    }

    /// The value, unless there were errors.
    pub(crate) fn finish<T>(self, value: Result<T, Reported>) -> Result<T, Diagnostics> {
        let (mut errors, more) = self.found.into_inner();
        match value {
            Ok(value) if errors.is_empty() => Ok(value),
            _ => {
                errors.sort_by_key(|e| e.place.rank());
                Err(Diagnostics {
                    errors,
                    more,
                    origin: self.origin,
                })
            }
        }
    }
}

/// A single error about a text.
pub(crate) fn single(origin: &Origin, error: Diagnostic) -> Diagnostics {
    let mut error = error;
    error.locate(origin);
    Diagnostics {
        errors: vec![error],
        more: 0,
        origin: origin.clone(),
    }
}
