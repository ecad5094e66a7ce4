//! Segments as scripts write them.

use crate::script::{Ecn, Expression, Segment, TcpOption, flag};
use std::fmt;

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ecn) = self.ecn {
            write!(f, "[{ecn}] ")?;
        }
        if self.flags == 0 {
            f.write_str("-")?;
        }
        // Scripts have the point last.
        let (dot, others): (Vec<_>, Vec<_>) =
            flag::LETTERS.iter().partition(|(letter, _)| *letter == '.');
        for (letter, bit) in others.into_iter().chain(dot) {
            if self.flags & bit != 0 {
                write!(f, "{letter}")?;
            }
        }
        let end = self.sequence.wrapping_add(self.payload);
        write!(f, " {}:{end}({})", self.sequence, self.payload)?;
        if let Some(number) = self.acknowledgement {
            write!(f, " ack {number}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let options: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", options.join(","))
            }
        }
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TcpOption::Nop => f.write_str("nop"),
            TcpOption::Eol => f.write_str("eol"),
            TcpOption::Mss(mss) => write!(f, "mss {mss}"),
            TcpOption::WindowScale(shift) => write!(f, "wscale {shift}"),
            TcpOption::SackPermitted => f.write_str("sackOK"),
            TcpOption::Sack(blocks) => {
                f.write_str("sack")?;
                for (from, to) in blocks {
                    write!(f, " {from}:{to}")?;
                }
                Ok(())
            }
            TcpOption::Timestamp(value, echo) => write!(f, "TS val {value} ecr {echo}"),
            TcpOption::Foreign(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Ecn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Ecn::NAMES.iter().find(|(_, ecn)| ecn == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |items: &[Expression], by: &str| {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            items.join(by)
        };
        match self {
            Expression::Any => f.write_str("..."),
            Expression::Integer(number) => number.fmt(f),
            Expression::Name(name) => f.write_str(name),
            Expression::Text(text) => write!(f, "\"{text}\""),
            Expression::Or(all) => f.write_str(&joined(all, "|")),
            Expression::List(items) => write!(f, "[{}]", joined(items, ", ")),
            Expression::Struct(items) => write!(f, "{{{}}}", joined(items, ", ")),
            Expression::Field(name, value) => write!(f, "{name}={value}"),
            Expression::Apply(name, items) => write!(f, "{name}({})", joined(items, ", ")),
        }
    }
}
