//! What is wrong with a study or a paper, in words for the person who wrote it.
//!
//! The looks are those of scenario errors: the line, a pointer, what was
//! expected and what to do.

use crate::expr::Fault;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Snippet};
use bentpipe_scenario::render;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// More errors than this are counted, not kept.
const KEPT: usize = 50;

/// A file as it was given: its name, for messages, and its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// One thing that is wrong: what, where, what was expected, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    message: String,
    label: String,
    help: Vec<String>,
    span: Option<Range<usize>>,
}

impl Diagnostic {
    /// An error at bytes of the file.
    pub(crate) fn at(span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
            span: Some(span),
        }
    }

    /// An error of the file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
            span: None,
        }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// Gives other help than there is.
    pub(crate) fn help_instead(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = vec![help.into()];
        self
    }

    /// Adds `did you mean ...?`, where there is a name near enough.
    pub(crate) fn suggest<'a>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Diagnostic {
        match crate::names::nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
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

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> &[String] {
        &self.help
    }

    /// Bytes of the file that the error is about.
    #[must_use]
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }
}

impl From<Fault> for Diagnostic {
    fn from(fault: Fault) -> Diagnostic {
        Diagnostic {
            message: fault.message,
            label: fault.label,
            help: fault.help,
            span: Some(fault.span),
        }
    }
}

/// Everything that is wrong with a file, in its order.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The errors, at least one.
    pub errors: Vec<Diagnostic>,
    /// How many more there are that were not kept.
    pub more: usize,
    source: Arc<Source>,
}

impl Diagnostics {
    pub(crate) fn new(source: &Arc<Source>, mut errors: Vec<Diagnostic>) -> Diagnostics {
        errors.sort_by_key(|e| e.span.as_ref().map_or(usize::MAX, |s| s.start));
        let more = errors.len().saturating_sub(KEPT);
        errors.truncate(KEPT);
        Diagnostics {
            errors,
            more,
            source: source.clone(),
        }
    }

    /// Name of the file that the errors are in.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.source.name
    }

    /// Line and column, both from 1, of an error; columns are characters.
    #[must_use]
    pub fn position(&self, error: &Diagnostic) -> Option<(usize, usize)> {
        let text = &self.source.text;
        let start = clamp(text, error.span.clone()?).start;
        let before = &text[..start];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |i| i + 1);
        Some((line, before[begin..].chars().count() + 1))
    }

    /// The errors as text that points at each line, in colour if wanted.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = render::renderer(color);
        let mut text = String::new();
        for error in &self.errors {
            text.push_str(&renderer.render(&[self.group(error)]));
            text.push_str("\n\n");
        }
        let last = render::closing_line(&self.source.name, self.errors.len(), self.more);
        text.push_str(&renderer.render(&[Group::with_title(Level::ERROR.primary_title(last))]));
        text.push('\n');
        text
    }

    fn group<'a>(&'a self, error: &'a Diagnostic) -> Group<'a> {
        let mut group = Group::with_title(Level::ERROR.primary_title(&*error.message));
        match &error.span {
            Some(span) => {
                let span =
                    render::first_line(&self.source.text, clamp(&self.source.text, span.clone()));
                let mark = AnnotationKind::Primary.span(span).label(&*error.label);
                let snippet = Snippet::source(&*self.source.text).path(&*self.source.name);
                group = group.element(snippet.annotation(mark));
            }
            None => {
                group = group.element(Origin::path(&*self.source.name));
                if !error.label.is_empty() {
                    group = group.element(Level::NOTE.message(&*error.label));
                }
            }
        }
        for help in &error.help {
            group = group.element(Level::HELP.message(&**help));
        }
        group
    }
}

impl fmt::Display for Diagnostics {
    /// One line per error, without the source: `file:line:column: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(&self.source.name)?;
            if let Some((line, column)) = self.position(error) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": {}", error.message)?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The range moved to character boundaries inside the text.
fn clamp(text: &str, span: Range<usize>) -> Range<usize> {
    let mut start = span.start.min(text.len());
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
