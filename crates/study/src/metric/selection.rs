//! The flows, the link and the part of a run to which a use of a metric refers.

use super::{Aggregation, Case};
use bentpipe_outcome::{Interval, LinkOutcome, Outcome};
use bentpipe_units::Time;

/// The arguments fixed by a use of a metric.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Selection {
    /// Flows by name; all where `None`. The common name of counted flows means all of them, `*` any
    /// letters, and commas separate several.
    pub(crate) flow: Option<String>,
    /// The link.
    pub(crate) link: Option<String>,
    /// How several are taken together; the metric's own way where `None`.
    pub(crate) of: Option<Aggregation>,
    /// Start of the interval; that of the run where `None`.
    pub(crate) from: Option<Time>,
    /// End of the interval; that of the run where `None`.
    pub(crate) to: Option<Time>,
    /// Values of the metric's parameters, in their order.
    pub(crate) parameters: Vec<f64>,
}

impl Selection {
    /// True for flows that are meant.
    pub(super) fn takes(&self, flow: &str) -> bool {
        self.flow
            .as_ref()
            .is_none_or(|names| names.split(',').any(|name| is_named(flow, name.trim())))
    }

    pub(super) fn no_flow(&self) -> String {
        match &self.flow {
            Some(name) => format!("no flow is named `{name}`"),
            None => "the run has no flows".to_owned(),
        }
    }

    /// The index of the link, if one is named.
    pub(super) fn link_of(&self, outcome: &Outcome) -> Result<Option<usize>, String> {
        let Some(name) = &self.link else {
            return Ok(None);
        };
        let found = outcome.links.iter().position(|l| l.name == *name);
        match found {
            Some(link) => Ok(Some(link)),
            None => Err(format!("no link is named `{name}`")),
        }
    }

    /// The links that are meant: that of the name, or all of a counted one (the
    /// ways forth), or, where none is named, all.
    pub(super) fn links_of<'a>(
        &self,
        outcome: &'a Outcome,
    ) -> Result<Vec<&'a LinkOutcome>, String> {
        let Some(name) = &self.link else {
            return Ok(outcome.links.iter().collect());
        };
        if let Some(link) = outcome.links.iter().find(|l| l.name == *name) {
            return Ok(vec![link]);
        }
        let of_count = |l: &&LinkOutcome| l.name.ends_with(']') && is_named(&l.name, name);
        let links: Vec<_> = outcome.links.iter().filter(of_count).collect();
        if links.is_empty() {
            return Err(format!("no link is named `{name}`"));
        }
        Ok(links)
    }

    /// The interval; all of the run if none is named.
    pub(super) fn interval<'a>(&self, outcome: &'a Outcome) -> Result<Interval<'a>, String> {
        let (from, to) = (
            self.from.unwrap_or(Time::ZERO),
            self.to.unwrap_or(Time::MAX),
        );
        outcome.interval(from, to).map_err(|e| e.to_string())
    }

    /// The flows that are meant, at the link and in the interval that are named. Of all flows,
    /// those whose way does not lead over the link are left out.
    pub(super) fn cases<'a>(&self, outcome: &'a Outcome) -> Result<Vec<Case<'a>>, String> {
        let link = self.link_of(outcome)?;
        let interval = self.interval(outcome)?;
        let mut cases = Vec::new();
        let mut elsewhere = None;
        for (flow, f) in outcome.flows.iter().enumerate() {
            if !self.takes(&f.name) {
                continue;
            }
            let crossing = match link {
                None => None,
                Some(link) => match outcome.crossing(flow, link) {
                    None => {
                        elsewhere = Some(&f.name);
                        continue;
                    }
                    crossing => crossing,
                },
            };
            cases.push(Case {
                outcome,
                flow,
                link,
                crossing,
                interval,
                is_part: self.from.is_some() || self.to.is_some(),
            });
        }
        match (elsewhere, &self.link) {
            (Some(flow), Some(link)) if cases.is_empty() => {
                Err(format!("flow `{flow}` does not cross link `{link}`"))
            }
            _ => Ok(cases),
        }
    }
}

/// True for the flow of that name and, for counted flows, `name[3]`.
fn is_named(flow: &str, name: &str) -> bool {
    matches(flow, name)
        || flow
            .rfind('[')
            .is_some_and(|bracket| matches(&flow[..bracket], name))
}

/// True if `text` matches `pattern`, in which `*` matches any letters.
fn matches(text: &str, pattern: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(before) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or("");
    // The first place that fits leaves the most for the others.
    let mut left = text;
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_named_alone_together_and_by_pattern() {
        let takes = |names: &str, flow: &str| {
            let selection = Selection {
                flow: Some(names.to_owned()),
                ..Selection::default()
            };
            selection.takes(flow)
        };
        for (names, flow, expected) in [
            ("sack", "sack", true),
            ("sack", "sack[2]", true),
            ("sack[2]", "sack[2]", true),
            ("sack[2]", "sack[3]", false),
            ("sack", "sack2", false),
            ("sack, hybla", "hybla[1]", true),
            ("sack,hybla", "cubic", false),
            ("sat*", "satellite[1]", true),
            ("*lite", "satellite[1]", true),
            ("*lite[1]", "satellite[1]", true),
            ("s*l*e", "satellite", true),
            ("s*e*l", "satellite", false),
            ("s**", "satellite", true),
            ("*", "satellite", true),
            ("te*ll", "tell", true),
            ("tel*ll", "tell", false),
            ("", "satellite", false),
        ] {
            assert_eq!(takes(names, flow), expected, "{names} {flow}");
        }
    }
}
