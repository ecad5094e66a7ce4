//! From tokens to a tree.

use super::Fault;
use super::ast::{
    Argument, Arithmetic, Binder, Binders, Compare, DEPTH, Expr, Filter, Kind, Name, Tolerance,
};
use super::cursor::{Parser, WORDS};
use super::lexer::{Token, tokens};
use crate::unit::Unit;

/// Longer expressions are refused.
const LENGTH: usize = 10_000;

/// Reads an expression: a formula or a number.
pub(crate) fn parse(text: &str) -> Result<Expr, Fault> {
    if text.len() > LENGTH {
        return Err(Fault::new(
            0..0,
            format!("an expression has at most {LENGTH} bytes"),
        ));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    if parser.peek() == &Token::End {
        return Err(Fault::new(0..text.len(), "the expression is empty"));
    }
    let expr = parser.formula()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.expected("an operator or the end")),
    }
}

impl Parser {
    /// A part that began at `start` and ends here.
    fn part(&self, kind: Kind, start: usize) -> Expr {
        Expr {
            kind,
            span: start..self.end(),
        }
    }

    /// What `read` reads, if `word` comes before it.
    fn after<T>(
        &mut self,
        word: &str,
        read: impl FnOnce(&mut Parser) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.word(word).then(|| read(self)).transpose()
    }

    fn formula(&mut self) -> Result<Expr, Fault> {
        self.deeper()?;
        let expr = self.joined("or", Kind::Or, |p| p.joined("and", Kind::And, Parser::not))?;
        self.depth -= 1;
        Ok(expr)
    }

    fn joined(
        &mut self,
        word: &str,
        join: fn(Vec<Expr>) -> Kind,
        mut part: impl FnMut(&mut Parser) -> Result<Expr, Fault>,
    ) -> Result<Expr, Fault> {
        let first = part(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let start = first.span.start;
        let mut parts = vec![first];
        while self.word(word) {
            parts.push(part(self)?);
        }
        Ok(self.part(join(parts), start))
    }

    fn not(&mut self) -> Result<Expr, Fault> {
        let start = self.span().start;
        if self.word("not") {
            self.deeper()?;
            let inner = self.not()?;
            self.depth -= 1;
            return Ok(self.part(Kind::Not(Box::new(inner)), start));
        }
        if self.is_word("for") || self.is_word("exists") {
            let for_all = self.is_word("for");
            self.next += 1;
            if for_all {
                self.expect_word("all")?;
            }
            let (binders, body) = self.quantified()?;
            let kind = if for_all {
                Kind::ForAll(binders, body)
            } else {
                Kind::Exists(binders, body)
            };
            return Ok(self.part(kind, start));
        }
        if self.is_word("count") && *self.peek_at(1) == Token::Symbol("(") {
            return self.count(start);
        }
        self.relation()
    }

    fn quantified(&mut self) -> Result<(Binders, Box<Expr>), Fault> {
        let binders = self.binders()?;
        self.expect(":")?;
        Ok((binders, Box::new(self.formula()?)))
    }

    fn count(&mut self, start: usize) -> Result<Expr, Fault> {
        self.next += 2;
        let (binders, body) = self.quantified()?;
        self.expect(")")?;
        let Some(compare) = self.compare()? else {
            return Err(self.expected("a comparison such as `>= 5 of 6`"));
        };
        let n = self.whole()?;
        let of = self.after("of", Parser::whole)?;
        let kind = Kind::Count {
            binders,
            body,
            compare,
            n,
            of,
        };
        Ok(self.part(kind, start))
    }

    fn whole(&mut self) -> Result<u64, Fault> {
        match self.peek() {
            Token::Number(x, None) if *x >= 0.0 && *x <= 1e15 && *x == x.trunc() => {
                let n = *x as u64;
                self.next += 1;
                Ok(n)
            }
            _ => Err(self.expected("a whole number")),
        }
    }

    fn binders(&mut self) -> Result<Binders, Fault> {
        let mut axes = vec![self.binder()?];
        while self.symbol(",") {
            axes.push(self.binder()?);
        }
        let condition = self.after("where", Parser::formula)?.map(Box::new);
        Ok(Binders { axes, condition })
    }

    fn binder(&mut self) -> Result<Binder, Fault> {
        let axis = self.name("the name of an axis")?;
        let filter = if self.word("in") {
            Filter::In(self.points()?)
        } else if self.word("except") {
            Filter::Except(self.points()?)
        } else {
            match self.compare()? {
                Some(compare) => Filter::Compare(compare, Box::new(self.sum()?)),
                None => Filter::All,
            }
        };
        Ok(Binder { axis, filter })
    }

    fn points(&mut self) -> Result<Vec<Name>, Fault> {
        self.expect("{")?;
        let mut points = Vec::new();
        loop {
            let span = self.span();
            match self.advance() {
                Token::Name(text) | Token::Label(text) => points.push(Name { text, span }),
                _ => {
                    self.next -= 1;
                    return Err(self.expected("a label in quotes or an alias"));
                }
            }
            if !self.symbol(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(points)
    }

    fn name(&mut self, what: &str) -> Result<Name, Fault> {
        let span = self.span();
        match self.peek() {
            Token::Name(text) if !WORDS.contains(&text.as_str()) => {
                let text = text.clone();
                self.next += 1;
                Ok(Name { text, span })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The comparison that comes next, with the tolerance to be filled in.
    fn compare(&mut self) -> Result<Option<Compare>, Fault> {
        let compare = match self.peek() {
            Token::Symbol("<") => Compare::Less,
            Token::Symbol("<=") => Compare::LessOrEqual,
            Token::Symbol(">") => Compare::Greater,
            Token::Symbol(">=") => Compare::GreaterOrEqual,
            Token::Symbol("=") => Compare::Equal,
            Token::Symbol("!=") => Compare::NotEqual,
            Token::Symbol("~") => Compare::Near(Tolerance::Relative(0.0)),
            _ => return Ok(None),
        };
        self.next += 1;
        Ok(Some(compare))
    }

    fn relation(&mut self) -> Result<Expr, Fault> {
        let start = self.span().start;
        let weak = self.word("weak");
        let first = self.sum()?;
        if self.is_word("rises") || self.is_word("falls") {
            let rises = self.is_word("rises");
            self.next += 1;
            self.expect_word("with")?;
            let binders = self.binders()?;
            let kind = Kind::Trend {
                weak,
                value: Box::new(first),
                rises,
                binders,
            };
            return Ok(self.part(kind, start));
        }
        let mut rest = Vec::new();
        while let Some(mut compare) = self.compare()? {
            let right = self.sum()?;
            if let Compare::Near(tolerance) = &mut compare {
                *tolerance = self.tolerance()?;
            }
            rest.push((compare, right));
        }
        if rest.is_empty() {
            if weak {
                return Err(self.expected("a comparison after `weak`"));
            }
            return Ok(first);
        }
        let kind = Kind::Chain {
            weak,
            first: Box::new(first),
            rest,
        };
        Ok(self.part(kind, start))
    }

    fn tolerance(&mut self) -> Result<Tolerance, Fault> {
        if !self.word("within") {
            let fault = self.expected("`within` and a tolerance");
            return Err(fault.help("`a ~ b within 5%` says how near is near"));
        }
        match self.advance() {
            Token::Number(x, Some(Unit::Percent)) => Ok(Tolerance::Relative(x / 100.0)),
            Token::Number(x, _) => Ok(Tolerance::Absolute(x)),
            _ => {
                self.next -= 1;
                Err(self.expected("a tolerance such as `5%` or `0.1 s`"))
            }
        }
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        let part = |p: &mut Parser| {
            p.operators(
                &[("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)],
                Parser::factor,
            )
        };
        self.operators(&[("+", Arithmetic::Add), ("-", Arithmetic::Subtract)], part)
    }

    fn operators(
        &mut self,
        known: &[(&'static str, Arithmetic)],
        mut part: impl FnMut(&mut Parser) -> Result<Expr, Fault>,
    ) -> Result<Expr, Fault> {
        let mut left = part(self)?;
        let mut links = 0;
        while let Some((_, operator)) = known.iter().find(|(s, _)| *self.peek() == Token::Symbol(s))
        {
            // Each makes the tree one level deeper on its left.
            links += 1;
            if links > DEPTH {
                return Err(Fault::new(self.span(), "too many operators in a row"));
            }
            self.next += 1;
            let right = part(self)?;
            let span = left.span.start..right.span.end;
            left = Expr {
                kind: Kind::Arithmetic(*operator, Box::new(left), Box::new(right)),
                span,
            };
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, Fault> {
        let span = self.span();
        if self.symbol("-") {
            self.deeper()?;
            let inner = self.factor()?;
            self.depth -= 1;
            return Ok(self.part(Kind::Negative(Box::new(inner)), span.start));
        }
        if self.symbol("(") {
            let inner = self.formula()?;
            self.expect(")")?;
            return Ok(self.part(inner.kind, span.start));
        }
        let kind = match self.peek().clone() {
            Token::Number(x, unit) => Kind::Number(x, unit),
            Token::Label(text) => Kind::Label(text),
            Token::Name(_) => return self.usage(),
            _ => return Err(self.expected("a number, a name or `(`")),
        };
        self.next += 1;
        Ok(Expr { kind, span })
    }

    fn usage(&mut self) -> Result<Expr, Fault> {
        let mut name = self.name("a metric, an axis or a point")?;
        let start = name.span.start;
        let mut study = None;
        if self.symbol(".") {
            study = Some(name);
            name = self.name("the name of a metric")?;
        }
        let arguments = self.symbol("(").then(|| self.arguments()).transpose()?;
        let kind = Kind::Use {
            study,
            name,
            arguments,
        };
        Ok(self.part(kind, start))
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Fault> {
        self.deeper()?;
        let mut arguments = Vec::new();
        while !self.symbol(")") {
            let named = *self.peek_at(1) == Token::Symbol("=");
            let name = named
                .then(|| self.name("the name of an argument"))
                .transpose()?;
            self.next += usize::from(named);
            let value = self.sum()?;
            let over = self.after("over", Parser::binders)?;
            arguments.push(Argument { name, value, over });
            if !self.symbol(",") {
                self.expect(")")?;
                break;
            }
        }
        self.depth -= 1;
        Ok(arguments)
    }
}
