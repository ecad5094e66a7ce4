//! Text in lines of a given width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Words of `text` in lines of at most `width` columns; a longer word, such as a path,
/// has its own line and stays whole.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// As above, but breaks longer words: no line is wider.
pub(super) fn wrap_all(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap(text, width) {
        let mut part = String::new();
        for c in line.chars() {
            if !part.is_empty() && part.width() + c.width().unwrap_or(0) > width {
                lines.push(std::mem::take(&mut part));
            }
            part.push(c);
        }
        lines.push(part);
    }
    lines
}

/// One line, broken between words where it is wider than `width`. The lines that follow
/// the first have its indentation, or that of the text behind the marker of a list.
/// Blanks within a line are kept. A word that is wider stays whole.
#[must_use]
pub fn break_line(line: &str, width: usize) -> Vec<String> {
    let hang = hanging(line);
    pieces(line, width, hang, 0, |_| true)
}

/// A command that is to be pasted into a shell, after `indent` blanks: where it is wider
/// than `width`, lines end with `\` and the shell joins them. Quoted text stays whole.
#[must_use]
pub fn command_lines(command: &str, indent: usize, width: usize) -> Vec<String> {
    let line = format!("{:indent$}{command}", "");
    let mut lines = pieces(&line, width, indent + 4, 2, outside_quotes);
    let last = lines.len().saturating_sub(1);
    for line in lines.iter_mut().take(last) {
        line.push_str(" \\");
    }
    lines
}

/// Breaks `line` at single blanks where `may` allows it of the text before the blank.
/// All lines but the last leave `reserve` columns free.
fn pieces(
    line: &str,
    width: usize,
    hang: usize,
    reserve: usize,
    may: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line.trim_end().to_owned();
    while rest.width() > width {
        let Some((before, after)) = best_break(&rest, width.saturating_sub(reserve), &may) else {
            break;
        };
        lines.push(before);
        rest = format!("{:hang$}{after}", "");
    }
    lines.push(rest);
    lines
}

/// The text before and after the last blank within `width`, or after the first beyond.
fn best_break(text: &str, width: usize, may: &impl Fn(&str) -> bool) -> Option<(String, String)> {
    let mut best = None;
    for (at, _) in text.match_indices(' ') {
        let (before, after) = text.split_at(at);
        let before = before.trim_end();
        let after = after.trim_start();
        if before.is_empty() || after.is_empty() || !may(before) {
            continue;
        }
        if before.width() > width && best.is_some() {
            break;
        }
        best = Some((before.to_owned(), after.to_owned()));
    }
    best
}

fn outside_quotes(before: &str) -> bool {
    let mut quote = None;
    for c in before.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    quote.is_none()
}

/// The column at which the text of a line begins, behind `- ` or `* `.
fn hanging(line: &str) -> usize {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    match text.starts_with("- ") || text.starts_with("* ") {
        true => indent + 2,
        false => indent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("a bb ccc dddddd", 4), ["a bb", "ccc", "dddddd"]);
        assert_eq!(wrap_all("ccc dddddd", 4), ["ccc", "dddd", "dd"]);
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn a_line_keeps_its_indentation_and_its_blanks() {
        assert_eq!(
            break_line("  a:  one two three", 13),
            ["  a:  one two", "  three"]
        );
        assert_eq!(break_line("  - one two", 8), ["  - one", "    two"]);
        assert_eq!(break_line("  /a/long/path x", 5), ["  /a/long/path", "  x"]);
        assert_eq!(break_line("short", 5), ["short"]);
    }

    #[test]
    fn a_command_is_one_for_the_shell() {
        assert_eq!(
            command_lines("bentpipe compare --queue '100 packets' --loss 1%", 2, 32),
            [
                "  bentpipe compare --queue \\",
                "      '100 packets' --loss 1%"
            ]
        );
        assert_eq!(command_lines("true", 2, 32), ["  true"]);
    }
}
