//! The tokens of an expression, taken one by one.

use super::Fault;
use super::ast::DEPTH;
use super::lexer::Token;
use std::ops::Range;

/// Words with a special meaning.
pub(super) const WORDS: [&str; 16] = [
    "for", "all", "exists", "count", "where", "in", "except", "and", "or", "not", "weak", "rises",
    "falls", "with", "within", "over",
];

/// Tokens being read.
pub(super) struct Parser {
    pub(super) tokens: Vec<(Token, Range<usize>)>,
    pub(super) next: usize,
    pub(super) depth: usize,
}

impl Parser {
    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.next + ahead).min(last)].0
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.tokens[self.next.min(self.tokens.len() - 1)].1.clone()
    }

    /// Where the token before the next one ends.
    pub(super) fn end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |i| self.tokens[i].1.end)
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        self.next += usize::from(found);
        found
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Result<(), Fault> {
        if self.symbol(symbol) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{symbol}`")))
        }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.word(word) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{word}`")))
        }
    }

    pub(super) fn expected(&self, what: &str) -> Fault {
        let fault = Fault::new(
            self.span(),
            format!("expected {what}, found {}", self.peek().words()),
        );
        match self.peek() {
            Token::Name(name) => fault.suggest(name, WORDS),
            _ => fault,
        }
    }

    pub(super) fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Fault::new(
                self.span(),
                "the expression is nested too deeply",
            ));
        }
        Ok(())
    }
}
