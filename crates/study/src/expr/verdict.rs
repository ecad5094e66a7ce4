//! The verdict on a formula.

/// Whether a formula holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    Fails,
    /// The data do not decide it.
    Open,
    Holds,
}

/// A truth with the numbers that show it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) truth: Truth,
    /// How far from the edge, as a share of the numbers compared: negative
    /// where it fails. Decides which case is shown.
    pub(crate) margin: f64,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn open(text: impl Into<String>) -> Finding {
        Finding {
            truth: Truth::Open,
            margin: 0.0,
            text: text.into(),
        }
    }

    pub(crate) fn not(self) -> Finding {
        let truth = match self.truth {
            Truth::Fails => Truth::Holds,
            Truth::Open => Truth::Open,
            Truth::Holds => Truth::Fails,
        };
        Finding {
            truth,
            margin: -self.margin,
            text: format!("not: {}", self.text),
        }
    }

    /// All must hold.
    pub(crate) fn and(parts: Vec<Finding>) -> Finding {
        let truth = parts.iter().map(|p| p.truth).min().unwrap_or(Truth::Holds);
        joined(truth, parts, f64::min)
    }

    /// One must hold.
    pub(crate) fn or(parts: Vec<Finding>) -> Finding {
        let truth = parts.iter().map(|p| p.truth).max().unwrap_or(Truth::Fails);
        joined(truth, parts, f64::max)
    }
}

/// The parts that decide, told together.
fn joined(truth: Truth, parts: Vec<Finding>, pick: fn(f64, f64) -> f64) -> Finding {
    let deciding: Vec<Finding> = parts.into_iter().filter(|p| p.truth == truth).collect();
    let margin = deciding
        .iter()
        .map(|p| p.margin)
        .reduce(pick)
        .unwrap_or(0.0);
    let texts: Vec<String> = deciding
        .into_iter()
        .map(|p| p.text)
        .filter(|t| !t.is_empty())
        .collect();
    Finding {
        truth,
        margin,
        text: texts.join("; "),
    }
}

/// The findings of a formula at many points.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) holds: u64,
    pub(crate) fails: u64,
    pub(crate) open: u64,
    /// Nearest to failing, or failing most, among those that hold or fail.
    worst: [Option<(Finding, String)>; 3],
    best: Option<(Finding, String)>,
}

impl Tally {
    pub(crate) fn add(&mut self, finding: Finding, place: String) {
        let slot = match finding.truth {
            Truth::Fails => {
                self.fails += 1;
                &mut self.worst[0]
            }
            Truth::Open => {
                self.open += 1;
                &mut self.worst[1]
            }
            Truth::Holds => {
                self.holds += 1;
                if self
                    .best
                    .as_ref()
                    .is_none_or(|(b, _)| finding.margin > b.margin)
                {
                    self.best = Some((finding.clone(), place.clone()));
                }
                &mut self.worst[2]
            }
        };
        if slot.as_ref().is_none_or(|(w, _)| finding.margin < w.margin) {
            *slot = Some((finding, place));
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.holds + self.fails + self.open
    }

    pub(crate) fn for_all(self) -> Finding {
        let total = self.total();
        if total == 0 {
            return Finding::open("there is no such cell");
        }
        let [fails, open, holds] = self.worst;
        let (truth, found, head) = if self.fails > 0 {
            (
                Truth::Fails,
                fails,
                format!("fails in {} of {total}, worst", self.fails),
            )
        } else if self.open > 0 {
            (
                Truth::Open,
                open,
                format!("open in {} of {total}", self.open),
            )
        } else if total == 1 {
            (Truth::Holds, holds, "holds".to_owned())
        } else {
            (
                Truth::Holds,
                holds,
                format!("holds in all {total}, tightest"),
            )
        };
        told(truth, found, &head)
    }

    pub(crate) fn exists(self) -> Finding {
        let total = self.total();
        let [fails, open, _] = self.worst;
        if self.holds > 0 {
            return told(
                Truth::Holds,
                self.best,
                &format!("holds in {} of {total}", self.holds),
            );
        }
        if self.open > 0 || total == 0 {
            return told(
                Truth::Open,
                open,
                &format!("open in {} of {total}", self.open),
            );
        }
        told(Truth::Fails, fails, &format!("holds in none of {total}"))
    }

    /// The case that a count shows: one that fails, if any.
    pub(crate) fn example(self) -> Option<String> {
        let [fails, open, holds] = self.worst;
        let (kind, (finding, place)) = match (fails, open, holds) {
            (Some(f), _, _) => ("fails", f),
            (None, Some(o), _) => ("open", o),
            (None, None, h) => ("holds", h?),
        };
        Some(format!("{kind} at {place}: {}", finding.text))
    }
}

fn told(truth: Truth, found: Option<(Finding, String)>, head: &str) -> Finding {
    match found {
        Some((finding, place)) => {
            let place = if place.is_empty() {
                String::new()
            } else {
                format!(" at {place}")
            };
            Finding {
                truth,
                margin: finding.margin,
                text: format!("{head}{place}: {}", finding.text),
            }
        }
        None => Finding {
            truth,
            margin: 0.0,
            text: head.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(truth: Truth) -> Finding {
        Finding {
            truth,
            ..Finding::open("a part")
        }
    }

    #[test]
    fn a_conjunction_is_as_true_as_its_least_part_a_disjunction_as_its_most() {
        use Truth::{Fails, Holds, Open};
        for (a, b, and, or) in [
            (Holds, Holds, Holds, Holds),
            (Holds, Open, Open, Holds),
            (Holds, Fails, Fails, Holds),
            (Open, Fails, Fails, Open),
            (Fails, Fails, Fails, Fails),
        ] {
            let parts = || vec![finding(a), finding(b)];
            assert_eq!(Finding::and(parts()).truth, and, "{a:?} and {b:?}");
            assert_eq!(Finding::or(parts()).truth, or, "{a:?} or {b:?}");
        }
    }
}
