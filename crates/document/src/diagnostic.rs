//! Errors of a document, in words for its author.

use crate::render;
use crate::source::{Origin, Place, Setting, printable};
use bentpipe_units::nearest;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

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
    /// The setting, where the place is one.
    setting: Option<Setting>,
    /// The part of the language that it is about.
    topic: Option<&'static str>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: printable(&message.into()),
            label: String::new(),
            help: Vec::new(),
            place,
            related: None,
            position: None,
            setting: None,
            topic: None,
        }
    }

    /// An error at bytes of the file.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Place::file(span), message)
    }

    /// An error of the file as a whole.
    pub fn whole(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Place::Whole, message)
    }

    /// Says at the place itself what was expected there.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds a line of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// Gives other help than there is.
    #[must_use]
    pub fn help_instead(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = vec![help.into()];
        self
    }

    /// Adds `did you mean ...?`, where there is a name near enough.
    #[must_use]
    pub fn suggest(self, nearest: Option<&str>) -> Diagnostic {
        match nearest {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// As [`Diagnostic::suggest`], with the nearest of some names.
    #[must_use]
    pub fn suggest_from<'a>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Diagnostic {
        self.suggest(nearest(name, known))
    }

    /// Shows a second place.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Diagnostic {
        self.related = Some((place, label.into()));
        self
    }

    /// Sets the part of the language that it is about, if that is not known yet.
    #[must_use]
    pub fn about(mut self, topic: &'static str) -> Diagnostic {
        self.topic.get_or_insert(topic);
        self
    }

    /// The part of the language that it is about, such as `queue`.
    #[must_use]
    pub fn topic(&self) -> Option<&'static str> {
        self.topic
    }

    /// Description of the error, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Expected value at the position; may be empty.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.label
    }

    /// Remedy, such as ``did you mean `satellite`?``.
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

    /// The value set from outside that caused the error, where one did.
    #[must_use]
    pub fn setting(&self) -> Option<&Setting> {
        self.setting.as_ref()
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// A second place that explains the first, with what it shows.
    #[must_use]
    pub fn second_place(&self) -> Option<(Place, &str)> {
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
            Place::Setting { index, .. } => {
                self.setting = origin.settings.get(index as usize).cloned();
            }
            Place::Whole => {}
        }
    }
}

/// Everything that is wrong with a document, in the order of the file.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The errors, at least one.
    pub errors: Vec<Diagnostic>,
    /// How many more there are that were not kept.
    pub more: usize,
    pub(crate) origin: Origin,
}

impl Diagnostics {
    /// A single error about a text.
    #[must_use]
    pub fn single(origin: &Origin, mut error: Diagnostic) -> Diagnostics {
        error.locate(origin);
        Diagnostics {
            errors: vec![error],
            more: 0,
            origin: origin.clone(),
        }
    }

    /// The texts that places refer to.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Name of the file that the errors are in.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.origin.source.name
    }

    /// The parts of the language that the errors are about, each once, in their order.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        let mut topics = Vec::new();
        for topic in self.errors.iter().filter_map(Diagnostic::topic) {
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        topics
    }

    /// The errors as text that points at each line, in colour if wanted.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        render::render(self, color, None)
    }

    /// As above, in lines of at most `width` characters.
    #[must_use]
    pub fn render_within(&self, color: bool, width: usize) -> String {
        render::render(self, color, Some(width))
    }
}

impl fmt::Display for Diagnostics {
    /// One line per error, without the source: `file:line:column: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(&printable(self.file_name()))?;
            if let (Some(line), Some(column)) = (error.line(), error.column()) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
            if let Some(setting) = error.setting() {
                write!(f, "{}: ", printable(&setting.describe()))?;
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
pub struct Reported(());

/// Where a pass over a document puts its errors, so that it can go on. Clones
/// share what was found.
#[derive(Clone, Debug)]
pub struct Errors {
    origin: Origin,
    found: Rc<RefCell<(Vec<Diagnostic>, usize)>>,
}

impl Errors {
    /// No errors yet.
    #[must_use]
    pub fn new(origin: Origin) -> Errors {
        Errors {
            origin,
            found: Rc::default(),
        }
    }

    /// The texts that places refer to.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// True if further errors are only counted, so that the search for help
    /// is in vain.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.found.borrow().0.len() >= KEPT
    }

    /// Keeps an error, or counts it if many are kept already.
    pub fn report(&self, error: Diagnostic) -> Reported {
        let (kept, more) = &mut *self.found.borrow_mut();
        // Two parts of a document may need the same bad value.
        if kept
            .iter()
            .any(|k| k.place == error.place && k.message == error.message)
        {
            return Reported(());
        }
        if kept.len() < KEPT {
            kept.push(error);
        } else {
            *more += 1;
        }
        Reported(())
    }

    /// Keeps an error whose text is made only if it will be kept.
    pub fn report_with(&self, error: impl FnOnce() -> Diagnostic) -> Reported {
        if self.is_full() {
            self.found.borrow_mut().1 += 1;
            return Reported(());
        }
        self.report(error())
    }

    /// For whoever finds only now that there were errors.
    #[must_use]
    pub fn already(&self) -> Reported {
        debug_assert!(!self.is_empty(), "nothing was reported");
        Reported(())
    }

    /// True if nothing was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.borrow().0.is_empty()
    }

    /// Errors reported so far.
    #[must_use]
    pub fn take(&self) -> Diagnostics {
        let (mut errors, more) = self.found.take();
        errors.iter_mut().for_each(|e| e.locate(&self.origin));
        errors.sort_by_key(|e| e.place.rank());
        Diagnostics {
            errors,
            more,
            origin: self.origin.clone(),
        }
    }

    /// The value, unless there were errors.
    ///
    /// # Errors
    /// With what was reported.
    pub fn finish<T>(self, value: Result<T, Reported>) -> Result<T, Diagnostics> {
        match value {
            Ok(value) if self.is_empty() => Ok(value),
            _ => Err(self.take()),
        }
    }
}
