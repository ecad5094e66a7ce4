//! A position in the text of a script.

use super::{Found, fail};
use bentpipe_document::Diagnostic;

/// The position. Everything but `*_exact` skips white space and comments first.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// Byte of the position.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Byte at which the next thing begins.
    pub(super) fn start(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += length;
        }
    }

    pub(super) fn is_done(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest().chars().next()
    }

    /// True if `word` comes next.
    pub(super) fn sees(&mut self, word: &str) -> bool {
        self.skip();
        self.rest().starts_with(word)
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        self.skip();
        self.eat_exact(word)
    }

    pub(super) fn eat_exact(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// The characters from here on that `takes` takes.
    pub(super) fn take_while(&mut self, takes: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !takes(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A name; empty where there is none.
    pub(super) fn word(&mut self) -> &'a str {
        self.skip();
        let begins = |c: char| c.is_alphabetic() || c == '_';
        match self.rest().chars().next().is_some_and(begins) {
            true => self.take_while(|c| c.is_alphanumeric() || c == '_'),
            false => "",
        }
    }

    /// Takes the name `word` if it comes next, and whole.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.start();
        if self.word() == word {
            return true;
        }
        self.at = before;
        false
    }

    /// Digits, and a point with digits behind it; the three points of a range are left.
    pub(super) fn number(&mut self) -> &'a str {
        self.skip();
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        let rest = self.rest();
        let fraction = rest
            .strip_prefix('.')
            .is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()));
        if fraction || (rest.starts_with('.') && !rest.starts_with("..") && self.at > start) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        &self.text[start..self.at]
    }

    /// A whole number that is no larger than `most`.
    pub(super) fn integer(&mut self, what: &str, most: u64) -> Found<u64> {
        let start = self.start();
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return fail(self.error_here(format!("{what} is missing"), "expected a number"));
        }
        match digits.parse::<u64>() {
            Ok(number) if number <= most => Ok(number),
            _ => fail(
                Diagnostic::at(start..self.at, format!("{what} is too large"))
                    .label(format!("expected at most {most}")),
            ),
        }
    }

    /// The text up to `end`, which is passed; `None` where it does not come.
    pub(super) fn until(&mut self, end: &str) -> Option<&'a str> {
        let rest = self.rest();
        let at = rest.find(end)?;
        self.at += at + end.len();
        Some(&rest[..at])
    }

    /// The rest of the line but for a comment.
    pub(super) fn line(&mut self) {
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.at += line.find("//").unwrap_or(line.len());
    }

    /// A text between two `quote`s.
    pub(super) fn quoted(&mut self, quote: char) -> Found<String> {
        let start = self.start();
        if !self.eat_exact(quote.encode_utf8(&mut [0; 4])) {
            return fail(self.error_here("a text is missing", format!("expected `{quote}`")));
        }
        match self.until(quote.encode_utf8(&mut [0; 4])) {
            Some(text) => Ok(text.to_owned()),
            None => fail(
                Diagnostic::at(start..start + 1, "a text without its end")
                    .label(format!("no other `{quote}` follows")),
            ),
        }
    }

    /// Takes `word`, or says that `what` lacks it.
    pub(super) fn expect(&mut self, word: &str, what: &str) -> Found<()> {
        self.skip();
        match self.eat_exact(word) {
            true => Ok(()),
            false => fail(self.error_here(
                format!("{what} lacks `{word}`"),
                format!("expected `{word}`"),
            )),
        }
    }

    /// An error about what stands here.
    pub(super) fn error_here(
        &self,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let rest = self.rest();
        let word = rest.find(|c: char| c.is_whitespace() || ",()<>=".contains(c));
        let length = match word {
            Some(0) | None => rest.chars().next().map_or(0, char::len_utf8),
            Some(length) => length,
        };
        Diagnostic::at(self.at..self.at + length, message).label(label)
    }
}
