//! Errors as text, in the style of rustc.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Origin, Part, Place, SetBy, Setting, Source};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// Width of the text where there is no terminal to ask.
const WIDTH: usize = 100;

/// How errors look, in colour if wanted.
fn renderer(color: bool, width: Option<usize>) -> Renderer {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let width = width.unwrap_or(WIDTH);
    renderer.decor_style(DecorStyle::Ascii).term_width(width)
}

/// The line after the last error: how many there are and where.
fn closing_line(diagnostics: &Diagnostics) -> String {
    let (errors, more) = (&diagnostics.errors, diagnostics.more);
    let count = match errors.len() + more {
        1 => "1 error".to_string(),
        count => format!("{count} errors"),
    };
    let first = match more {
        0 => String::new(),
        more => format!(": {} shown, and {more} more", errors.len()),
    };
    let by = |e: &Diagnostic| e.setting().map(|s| s.by);
    match errors.first().and_then(by) {
        // The file itself is not wrong.
        Some(SetBy::Option) if errors.iter().all(|e| by(e).is_some()) => {
            format!("{count}{first} in what `--set` gives")
        }
        _ => format!("{} has {count}{first}", diagnostics.file_name()),
    }
}

/// All errors, one after the other, and a line that counts them. Without a `width` titles and the
/// text next to the marks are in one line, however long.
pub(crate) fn render(diagnostics: &Diagnostics, color: bool, width: Option<usize>) -> String {
    let renderer = renderer(color, width);
    let mut text = String::new();
    for error in &diagnostics.errors {
        text.push_str(&renderer.render(&[group(error, &diagnostics.origin, width)]));
        text.push_str("\n\n");
    }
    let last = closing_line(diagnostics);
    text.push_str(&renderer.render(&[Group::with_title(Level::ERROR.primary_title(last))]));
    text.push('\n');
    text
}

/// Characters before the words of a title, a help or a note: `error: `, ` = help: `.
const BEFORE: usize = 16;

fn group<'a>(error: &'a Diagnostic, origin: &'a Origin, width: Option<usize>) -> Group<'a> {
    let title = match error.setting() {
        Some(setting) => format!("{}: {}", setting.describe(), error.message()),
        None => error.message().to_string(),
    };
    let title = match width {
        Some(width) => wrapped(&title, width),
        None => title,
    };
    let mut group = Group::with_title(Level::ERROR.primary_title(title));
    let mut below: Vec<&str> = Vec::new();
    let mut file: Vec<(Range<usize>, &str, AnnotationKind)> = Vec::new();
    let mut settings: Vec<Snippet<'a, Annotation<'a>>> = Vec::new();
    let first = (error.place(), error.expected(), AnnotationKind::Primary);
    let second = error
        .second_place()
        .map(|(place, text)| (place, text, AnnotationKind::Context));
    for (place, label, kind) in std::iter::once(first).chain(second) {
        match place {
            Place::File { start, end } => {
                let span = origin.source.clamp(start as usize..end as usize);
                let span = first_line(&origin.source.text, span);
                let (_, column) = origin.source.line_column(span.start);
                let needed = column + span.len() + label.chars().count() + BEFORE;
                // Text without room next to the mark is placed below.
                let label = match width {
                    Some(width) if needed > width => {
                        below.push(label);
                        ""
                    }
                    _ => label,
                };
                file.push((span, label, kind));
            }
            Place::Setting { index, part } => {
                if let Some(setting) = origin.settings.get(index as usize) {
                    settings.push(setting_snippet(setting, part, label, kind));
                }
            }
            Place::Whole => {}
        }
    }
    if file.is_empty() && settings.is_empty() {
        group = group.element(annotate_snippets::Origin::path(&*origin.source.name));
        if !error.expected().is_empty() {
            group = group.element(Level::NOTE.message(error.expected()));
        }
    }
    if !file.is_empty() {
        group = group.element(file_snippet(&origin.source, &file));
    }
    for snippet in settings {
        group = group.element(snippet);
    }
    for label in below {
        group = group.element(Level::NOTE.message(wrapped(label, width.unwrap_or(WIDTH))));
    }
    for help in error.advice() {
        group = group.element(Level::HELP.message(wrapped(help, width.unwrap_or(WIDTH))));
    }
    group
}

/// The lines of the file that are pointed at. Only these are given to the
/// renderer, which reads all that it gets.
fn file_snippet<'a>(
    source: &'a Source,
    marks: &[(Range<usize>, &'a str, AnnotationKind)],
) -> Snippet<'a, Annotation<'a>> {
    let start = marks.iter().map(|m| m.0.start).min().unwrap_or(0);
    let end = marks.iter().map(|m| m.0.end).max().unwrap_or(0);
    let (line, bytes) = source.lines_of(start..end);
    let base = bytes.start;
    let snippet = Snippet::source(&source.text[bytes]);
    let marks = marks
        .iter()
        .map(|(span, label, kind)| kind.span(span.start - base..span.end - base).label(*label));
    let snippet = snippet.line_start(line).path(&*source.name);
    snippet.annotations(marks)
}

fn setting_snippet<'a>(
    setting: &Setting,
    part: Part,
    label: &'a str,
    kind: AnnotationKind,
) -> Snippet<'a, Annotation<'a>> {
    let (line, span) = setting.line(part);
    Snippet::source(line)
        .path(setting.by.label())
        .annotation(kind.span(span).label(label))
}

/// A range that covers several lines, cut to its first: a table as a whole is
/// pointed at by its head.
fn first_line(text: &str, span: Range<usize>) -> Range<usize> {
    match text[span.clone()].find('\n') {
        Some(0) | None => span,
        Some(length) => span.start..span.start + length,
    }
}

/// A long text on several lines.
fn wrapped(text: &str, limit: usize) -> String {
    let mut lines = String::with_capacity(text.len() + 8);
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > limit.saturating_sub(BEFORE) {
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
