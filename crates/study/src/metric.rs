//! The metrics that studies can name, each with its unit and its definition.
//!
//! A metric turns the result of one run into one number. Those of flows take
//! `flow = "name"` and, over several flows, `of = "mean" | "sum" | "max" |
//! "min"`; those of links take `link = "name"`; those of time series take
//! times. Some count in an interval of the run, `from` to `to`.

mod case;
mod registry;
mod selection;
mod series;

use crate::record::RunData;
use crate::unit::Unit;
use bentpipe_outcome::{Interval, LinkOutcome, Outcome, Part, Together};
use case::Case;

pub use registry::{METRICS, metric};
pub(crate) use selection::Selection;

/// A metric by name.
pub struct Metric {
    /// The name that studies use.
    pub name: &'static str,
    /// Another name, where the papers have one; empty otherwise.
    pub alias: &'static str,
    /// What it measures.
    pub unit: Unit,
    /// What it says, in one line.
    pub about: String,
    pub(crate) source: Source,
}

/// What a metric is computed from.
pub(crate) enum Source {
    /// What the record of a flow declares under the metric's name, then taken
    /// together.
    DeclaredOfFlow(Of, Takes),
    /// What the record of a link declares under the metric's name: one link, or
    /// all links taken together where that makes sense.
    DeclaredOfLink(Option<Of>),
    /// Computed for each flow, then taken together.
    Flow(fn(&Case<'_>) -> Option<f64>, Of, Takes),
    /// The run as a whole.
    Run(fn(&Outcome) -> Option<f64>),
    /// Computed for one link.
    Link(fn(&Outcome, &LinkOutcome) -> f64),
    /// One link, by its index, in an interval.
    LinkIn(fn(&Interval<'_>, usize) -> Option<f64>),
    /// Jain's index over flows: of their payload, or of what they took of a
    /// link.
    Fairness,
    /// The time series of each flow, then taken together.
    Series(series::Measure, &'static [Parameter], Of),
}

/// What a metric of flows takes beside `flow` and `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Whether it can be asked at one link.
    pub(crate) link: AtLink,
    /// Whether it counts in an interval.
    pub(crate) interval: bool,
}

/// Whether a metric of flows takes `link = ...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtLink {
    Never,
    May,
    Must,
}

/// How the numbers of several flows or links become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

impl Of {
    /// Every form, with its name.
    pub const ALL: [(&'static str, Of); 4] = [
        ("mean", Of::Mean),
        ("sum", Of::Sum),
        ("max", Of::Max),
        ("min", Of::Min),
    ];

    /// As a record declares it; `None` for a metric of one alone.
    pub(crate) fn new(together: Together) -> Option<Of> {
        match together {
            Together::Mean => Some(Of::Mean),
            Together::Sum => Some(Of::Sum),
            Together::Max => Some(Of::Max),
            Together::One => None,
        }
    }

    pub(crate) fn together(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        Some(match self {
            Of::Mean => crate::stats::mean(values),
            Of::Sum => values.iter().sum(),
            Of::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Of::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        })
    }
}

/// A number that a metric of a time series takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    /// `None`: must be given.
    pub(crate) default: Option<f64>,
}

impl Metric {
    pub(crate) fn parameters(&self) -> &'static [Parameter] {
        match self.source {
            Source::Series(_, parameters, _) => parameters,
            _ => &[],
        }
    }

    /// True if it needs time series.
    #[must_use]
    pub fn needs_series(&self) -> bool {
        matches!(self.source, Source::Series(..))
    }

    /// True if it can count in an interval of the run, between marks.
    #[must_use]
    pub fn takes_interval(&self) -> bool {
        match &self.source {
            Source::Flow(_, _, takes) | Source::DeclaredOfFlow(_, takes) => takes.interval,
            Source::LinkIn(_) | Source::Fairness => true,
            Source::Run(_) | Source::Link(_) | Source::DeclaredOfLink(_) | Source::Series(..) => {
                false
            }
        }
    }

    /// The arguments that it takes beside axes.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        let (flow, of, link) = match &self.source {
            Source::Flow(_, _, takes) | Source::DeclaredOfFlow(_, takes) => {
                (true, true, takes.link != AtLink::Never)
            }
            Source::Series(..) => (true, true, false),
            Source::Run(_) => (false, false, false),
            Source::DeclaredOfLink(of) => (false, of.is_some(), true),
            Source::Link(_) | Source::LinkIn(_) => (false, false, true),
            Source::Fairness => (true, false, true),
        };
        let interval = self.takes_interval();
        let takes = [
            (flow, "flow"),
            (link, "link"),
            (of, "of"),
            (interval, "from"),
            (interval, "to"),
        ];
        takes
            .into_iter()
            .filter_map(|(takes, name)| takes.then_some(name))
            .chain(self.parameters().iter().map(|p| p.name))
    }

    /// True if it cannot do without `link = ...`.
    pub(crate) fn needs_link(&self) -> bool {
        match &self.source {
            Source::Flow(_, _, takes) | Source::DeclaredOfFlow(_, takes) => {
                takes.link == AtLink::Must
            }
            Source::DeclaredOfLink(of) => of.is_none(),
            Source::Link(_) | Source::LinkIn(_) => true,
            Source::Run(_) | Source::Fairness | Source::Series(..) => false,
        }
    }

    /// What the metric of several flows or links is, in words that follow
    /// `about`; `None` where there is one of a run.
    pub(crate) fn together(&self) -> Option<&'static str> {
        let (of, what) = match &self.source {
            Source::Flow(_, of, _) | Source::DeclaredOfFlow(of, _) => (of, "flows"),
            Source::DeclaredOfLink(of) => (of.as_ref()?, "links"),
            _ => return None,
        };
        // Some say it themselves.
        if self.about.ends_with("over the flows") {
            return None;
        }
        Some(match (of, what) {
            (Of::Mean, "flows") => "; mean over the flows",
            (Of::Sum, "flows") => "; of all flows",
            (Of::Max, "flows") => "; the largest of the flows",
            (Of::Min, "flows") => "; the smallest of the flows",
            (Of::Mean, _) => "; mean over the links",
            (Of::Sum, _) => "; of all links",
            (Of::Max, _) => "; the largest of the links",
            (Of::Min, _) => "; the smallest of the links",
        })
    }

    /// Its value in one run.
    ///
    /// # Errors
    /// In words, if the run does not say: a flow did not finish, there is no
    /// link of that name.
    pub(crate) fn value(&self, run: &RunData, selection: &Selection) -> Result<f64, String> {
        let outcome = &run.outcome;
        let none = || format!("no {} in this run", self.name);
        match &self.source {
            Source::Run(get) => get(outcome).ok_or_else(none),
            Source::Flow(get, of, _) => self.of_flows(selection, outcome, *of, get),
            Source::DeclaredOfFlow(of, _) => {
                self.of_flows(selection, outcome, *of, |case| case.declared(self.name))
            }
            Source::Fairness => {
                let cases = selection.cases(outcome)?;
                let first = cases.first().ok_or_else(|| selection.no_flow())?;
                let values: Vec<f64> = cases.iter().map(Case::part).collect();
                let index = bentpipe_outcome::jain_index(values);
                index.ok_or_else(|| format!("{}: nothing to share", first.what()))
            }
            Source::Link(get) => {
                self.of_links(selection, outcome, None, |link| Some(get(outcome, link)))
            }
            Source::DeclaredOfLink(of) => {
                self.of_links(selection, outcome, *of, |link| link.metric(self.name))
            }
            Source::LinkIn(get) => {
                let interval = selection.interval(outcome)?;
                let link = selection.link_of(outcome)?.ok_or_else(none)?;
                get(&interval, link).ok_or_else(none)
            }
            Source::Series(measure, _, of) => {
                let series = run.series.iter().filter(|s| selection.takes(&s.flow));
                let values = series.map(|s| {
                    measure(s, &selection.parameters)
                        .ok_or_else(|| format!("no {} of flow `{}`", self.name, s.flow))
                });
                let values = values.collect::<Result<Vec<f64>, String>>()?;
                let of = selection.of.unwrap_or(*of);
                of.together(&values).ok_or_else(|| selection.no_flow())
            }
        }
    }
    /// The value for the flows that are selected, taken together.
    fn of_flows(
        &self,
        selection: &Selection,
        outcome: &Outcome,
        of: Of,
        get: impl Fn(&Case<'_>) -> Option<f64>,
    ) -> Result<f64, String> {
        let cases = selection.cases(outcome)?;
        let values = cases.iter().map(|case| {
            get(case).ok_or_else(|| {
                let flow = case.flow();
                let finished = if flow.is_finished() {
                    ""
                } else {
                    ", which did not finish"
                };
                format!("no {} of flow `{}`{finished}", self.name, flow.name)
            })
        });
        let values = values.collect::<Result<Vec<f64>, String>>()?;
        let of = selection.of.unwrap_or(of);
        of.together(&values).ok_or_else(|| selection.no_flow())
    }

    /// The value for the links that are selected, taken together by `of`; of one
    /// link alone where that is `None`.
    fn of_links(
        &self,
        selection: &Selection,
        outcome: &Outcome,
        of: Option<Of>,
        get: impl Fn(&LinkOutcome) -> Option<f64>,
    ) -> Result<f64, String> {
        let links = selection.links_of(outcome)?;
        if of.is_none() && links.len() > 1 {
            return Err(format!("`{}` is of one link, not of several", self.name));
        }
        let links: Vec<f64> = links.into_iter().filter_map(get).collect();
        let of = selection.of.or(of).unwrap_or(Of::Max);
        let none = || format!("no {} in this run", self.name);
        of.together(&links).ok_or_else(none)
    }
}

#[cfg(test)]
mod tests;
