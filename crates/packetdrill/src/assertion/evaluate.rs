//! Runs the code of assertions.

use super::{Code, Kind, Operator, Relation, Term, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Values that code has set; later code sees them.
pub type Variables = BTreeMap<String, Value>;

/// How code ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every assertion holds.
    Holds,
    /// One does not: the byte of the file at which it stands, what was compared, and its message.
    Fails {
        /// Byte of the file.
        at: usize,
        /// The two sides of the comparison that fails, such as `10` and `9`.
        compared: Option<(String, String)>,
        /// The message behind the comma.
        message: Option<String>,
    },
    /// It needs what is not modelled: the byte, and what.
    NotModelled {
        /// Byte of the file.
        at: usize,
        /// Why.
        reason: String,
    },
}

/// Why a term has no value.
struct Without(String);

type Worth = Result<Value, Without>;

impl Code {
    /// Runs it: `look_up` gives what the connection knows under a name, or says why not. What is
    /// printed goes to `print`.
    pub fn run(
        &self,
        variables: &mut Variables,
        look_up: &dyn Fn(&str) -> Result<Value, String>,
        print: &mut dyn FnMut(String),
    ) -> Outcome {
        for statement in &self.statements {
            let at = statement.at;
            let result = step(&statement.kind, at, variables, look_up, print);
            match result {
                Ok(Outcome::Holds) => {}
                Ok(outcome) => return outcome,
                Err(Without(reason)) => return Outcome::NotModelled { at, reason },
            }
        }
        Outcome::Holds
    }
}

fn step(
    kind: &Kind,
    at: usize,
    variables: &mut Variables,
    look_up: &dyn Fn(&str) -> Result<Value, String>,
    print: &mut dyn FnMut(String),
) -> Result<Outcome, Without> {
    let scope = Scope { variables, look_up };
    match kind {
        Kind::Pass => {}
        Kind::Foreign(word) => {
            return Err(Without(format!("the Python statement `{word}`")));
        }
        Kind::Print(terms) => {
            let values: Result<Vec<Value>, Without> =
                terms.iter().map(|term| scope.value(term)).collect();
            let texts: Vec<String> = values?.iter().map(ToString::to_string).collect();
            print(texts.join(" "));
        }
        Kind::Set(name, operator, term) => {
            let value = scope.value(term)?;
            let value = match operator {
                None => value,
                Some(operator) => {
                    let before = scope.value(&Term::Name(name.clone()))?;
                    arithmetic(*operator, &before, &value)?
                }
            };
            variables.insert(name.clone(), value);
        }
        Kind::Assert(condition, message) => {
            if !scope.value(condition)?.is_true() {
                let message = message.as_ref().and_then(|term| scope.value(term).ok());
                return Ok(Outcome::Fails {
                    at,
                    compared: scope.compared(condition),
                    message: message.map(|value| value.to_string()),
                });
            }
        }
    }
    Ok(Outcome::Holds)
}

struct Scope<'a> {
    variables: &'a Variables,
    look_up: &'a dyn Fn(&str) -> Result<Value, String>,
}

impl Scope<'_> {
    fn value(&self, term: &Term) -> Worth {
        let truth = |yes: bool| Ok(Value::Integer(i64::from(yes)));
        match term {
            Term::Value(value) => Ok(value.clone()),
            Term::Name(name) => match self.variables.get(name) {
                Some(value) => Ok(value.clone()),
                None => (self.look_up)(name).map_err(Without),
            },
            Term::Not(term) => truth(!self.value(term)?.is_true()),
            Term::Minus(term) => {
                arithmetic(Operator::Minus, &Value::Integer(0), &self.value(term)?)
            }
            Term::Join(all, terms) => {
                let mut last = Value::Integer(i64::from(*all));
                for term in terms {
                    last = self.value(term)?;
                    if last.is_true() != *all {
                        break;
                    }
                }
                Ok(last)
            }
            Term::Compare(first, chain) => {
                let mut left = self.value(first)?;
                for (relation, term) in chain {
                    let right = self.value(term)?;
                    if !holds(*relation, &left, &right)? {
                        return truth(false);
                    }
                    left = right;
                }
                truth(true)
            }
            Term::Arithmetic(operator, left, right) => {
                arithmetic(*operator, &self.value(left)?, &self.value(right)?)
            }
            Term::Tuple(terms) => {
                let items: Result<Vec<Value>, Without> =
                    terms.iter().map(|term| self.value(term)).collect();
                Ok(Value::Tuple(items?))
            }
            Term::Call(name, arguments) => self.call(name, arguments),
        }
    }

    fn call(&self, name: &str, arguments: &[Term]) -> Worth {
        let values: Result<Vec<Value>, Without> =
            arguments.iter().map(|term| self.value(term)).collect();
        let values = values?;
        let one = values.first().filter(|_| values.len() == 1);
        let extreme = |wanted: Ordering| {
            let better = |a: Value, b: &Value| match b.order(&a) == Some(wanted) {
                true => b.clone(),
                false => a,
            };
            let first = values.first().cloned();
            first.map(|first| values.iter().fold(first, better))
        };
        let result = match name {
            "min" => extreme(Ordering::Less),
            "max" => extreme(Ordering::Greater),
            "str" | "repr" => one.map(|value| Value::Text(value.to_string())),
            "float" => one.and_then(Value::number).map(Value::Number),
            "int" => one
                .and_then(Value::number)
                .map(|n| Value::Integer(n.trunc() as i64)),
            "round" => one
                .and_then(Value::number)
                .map(|n| Value::Integer(n.round_ties_even() as i64)),
            "abs" => one.and_then(|value| match value {
                Value::Integer(number) => Some(Value::Integer(number.saturating_abs())),
                value => value.number().map(|n| Value::Number(n.abs())),
            }),
            _ => return Err(Without(format!("the Python function `{name}`"))),
        };
        result.ok_or_else(|| Without(format!("the Python function `{name}` of such values")))
    }

    /// The two sides of the first comparison in `term` that fails.
    fn compared(&self, term: &Term) -> Option<(String, String)> {
        match term {
            Term::Compare(first, chain) => {
                let mut left = self.value(first).ok()?;
                for (relation, term) in chain {
                    let right = self.value(term).ok()?;
                    if !holds(*relation, &left, &right).ok()? {
                        return Some((left.to_string(), right.to_string()));
                    }
                    left = right;
                }
                None
            }
            Term::Join(_, terms) => terms.iter().find_map(|term| self.compared(term)),
            _ => None,
        }
    }
}

fn holds(relation: Relation, left: &Value, right: &Value) -> Result<bool, Without> {
    let order = left.order(right);
    Ok(match (relation, order) {
        (Relation::Equal, order) => order == Some(Ordering::Equal),
        (Relation::Differs, order) => order != Some(Ordering::Equal),
        (Relation::Less, Some(order)) => order.is_lt(),
        (Relation::AtMost, Some(order)) => order.is_le(),
        (Relation::More, Some(order)) => order.is_gt(),
        (Relation::AtLeast, Some(order)) => order.is_ge(),
        (_, None) => return Err(Without("a comparison of unlike values".to_owned())),
    })
}

fn arithmetic(operator: Operator, left: &Value, right: &Value) -> Worth {
    let unlike = || Without("arithmetic with such values".to_owned());
    if let (Operator::Modulo, Value::Text(text)) = (operator, left) {
        return Ok(Value::Text(Value::format(text, right)));
    }
    if let (Operator::Plus, Value::Text(a), Value::Text(b)) = (operator, left, right) {
        return Ok(Value::Text(format!("{a}{b}")));
    }
    if let (Value::Integer(a), Value::Integer(b)) = (left, right) {
        let (a, b) = (*a, *b);
        let shift = u32::try_from(b).unwrap_or(u32::MAX);
        let whole = match operator {
            Operator::Plus => a.checked_add(b),
            Operator::Minus => a.checked_sub(b),
            Operator::Times => a.checked_mul(b),
            Operator::And => Some(a & b),
            Operator::Or => Some(a | b),
            Operator::ShiftLeft => a.checked_shl(shift),
            Operator::ShiftRight => a.checked_shr(shift),
            // Python rounds down, and a remainder has the sign of the divisor.
            Operator::WholeOver => a.checked_div_euclid(b).map(|q| {
                if b < 0 && a.rem_euclid(b) != 0 {
                    q - 1
                } else {
                    q
                }
            }),
            Operator::Modulo => a.checked_rem(b).map(|r| {
                if r != 0 && (r < 0) != (b < 0) {
                    r + b
                } else {
                    r
                }
            }),
            Operator::Over => None,
        };
        if operator != Operator::Over {
            return whole.map(Value::Integer).ok_or_else(unlike);
        }
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(unlike());
    };
    Ok(Value::Number(match operator {
        Operator::Plus => a + b,
        Operator::Minus => a - b,
        Operator::Times => a * b,
        Operator::Over if b != 0.0 => a / b,
        Operator::WholeOver if b != 0.0 => (a / b).floor(),
        Operator::Modulo if b != 0.0 => a - b * (a / b).floor(),
        _ => return Err(unlike()),
    }))
}
