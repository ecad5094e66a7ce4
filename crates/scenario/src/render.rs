//! Errors as text, in the manner of rustc.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Axis, Origin, Place};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

/// Width of the text where there is no terminal to ask.
const WIDTH: usize = 100;

/// The name that stands where a file name would, for values set from outside.
const AXIS: &str = "axis value";

/// `2 Mbit/s` in backticks: a string without its TOML quotes.
pub(crate) fn axis_value(value: &str) -> String {
    let bare = value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .unwrap_or(value);
    format!("`{bare}`")
}

/// How errors look, in colour if wanted; the width is the same everywhere.
#[must_use]
pub fn renderer(color: bool) -> Renderer {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.decor_style(DecorStyle::Ascii).term_width(WIDTH)
}

/// The line after the last error of `file`: how many there are, of which the
/// first `shown` are shown and `more` are not.
#[must_use]
pub fn closing_line(file: &str, shown: usize, more: usize) -> String {
    let errors = match shown + more {
        1 => "1 error".to_string(),
        count => format!("{count} errors"),
    };
    let first = match more {
        0 => String::new(),
        _ => format!(", the first {shown} shown"),
    };
    format!("{file} has {errors}{first}")
}

/// All errors, one after the other, and a line that counts them.
pub(crate) fn render(diagnostics: &Diagnostics, color: bool) -> String {
    let renderer = renderer(color);
    let mut text = String::new();
    for error in &diagnostics.errors {
        text.push_str(&renderer.render(&[group(error, &diagnostics.origin)]));
        text.push_str("\n\n");
    }
    let last = closing_line(
        diagnostics.file_name(),
        diagnostics.errors.len(),
        diagnostics.more,
    );
    text.push_str(&renderer.render(&[Group::with_title(Level::ERROR.primary_title(last))]));
    text.push('\n');
    text
}

fn group<'a>(error: &'a Diagnostic, origin: &'a Origin) -> Group<'a> {
    let title = match error.axis() {
        Some((path, value)) => {
            format!(
                "axis value {} of {path}: {}",
                axis_value(value),
                error.message()
            )
        }
        None => error.message().to_string(),
    };
    let mut group = Group::with_title(Level::ERROR.primary_title(title));
    let mut file: Vec<Annotation<'a>> = Vec::new();
    let mut axes: Vec<Snippet<'a, Annotation<'a>>> = Vec::new();
    let first = (error.place(), error.expected(), AnnotationKind::Primary);
    let second = error
        .second_place()
        .map(|(place, text)| (place, text, AnnotationKind::Context));
    for (place, label, kind) in std::iter::once(first).chain(second) {
        match place {
            Place::File { start, end } => {
                let span = origin.source.clamp(start as usize..end as usize);
                file.push(
                    kind.span(first_line(&origin.source.text, span))
                        .label(label),
                );
            }
            Place::Axis { index, part } => {
                if let Some(axis) = origin.axes.get(index as usize) {
                    axes.push(axis_snippet(axis, part, label, kind));
                }
            }
            Place::Whole => {}
        }
    }
    if file.is_empty() && axes.is_empty() {
        group = group.element(annotate_snippets::Origin::path(&*origin.source.name));
        if !error.expected().is_empty() {
            group = group.element(Level::NOTE.message(error.expected()));
        }
    }
    if !file.is_empty() {
        let snippet = Snippet::source(&*origin.source.text).path(&*origin.source.name);
        group = group.element(snippet.annotations(file));
    }
    for snippet in axes {
        group = group.element(snippet);
    }
    for help in error.advice() {
        group = group.element(Level::HELP.message(wrapped(help)));
    }
    group
}

fn axis_snippet<'a>(
    axis: &Axis,
    part: crate::source::Part,
    label: &'a str,
    kind: AnnotationKind,
) -> Snippet<'a, Annotation<'a>> {
    let (line, span) = axis.line(part);
    Snippet::source(line)
        .path(AXIS)
        .annotation(kind.span(span).label(label))
}

/// A range that covers several lines, cut to its first: a table as a whole is
/// pointed at by its head.
#[must_use]
pub fn first_line(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    match text[span.clone()].find('\n') {
        Some(0) | None => span,
        Some(length) => span.start..span.start + length,
    }
}

/// Long help on several lines.
fn wrapped(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + 8);
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH - 16 {
            lines.push('\n');
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}
