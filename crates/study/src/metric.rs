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

use crate::record::{RunData, StoredSeries};
use crate::unit::Unit;
use bentpipe_outcome::{Interval, LinkOutcome, Outcome};
use case::Case;
use series::Values;

pub use bentpipe_outcome::Aggregation;
pub use registry::{METRICS, metric};
pub(crate) use selection::Selection;

/// A metric by name.
pub struct Metric {
    /// The name that studies use.
    pub name: &'static str,
    /// Another name, where the papers have one; empty otherwise.
    pub alias: &'static str,
    /// The dimension of its values.
    pub unit: Unit,
    /// One-line description.
    pub about: String,
    pub(crate) args: MetricArgs,
    pub(crate) source: Source,
}

/// How a metric is computed. What a record declares is found by the metric's name, which is
/// the last argument.
pub(crate) enum Source {
    /// The run as a whole.
    Run(fn(&Outcome) -> Option<f64>),
    /// Each flow, then taken together.
    Flow(fn(&Case<'_>, &str) -> Option<f64>),
    /// One link, or several taken together where that makes sense.
    Link(fn(&Outcome, &LinkOutcome, &str) -> Option<f64>),
    /// One link, by its index, in an interval.
    LinkIn(fn(&Interval<'_>, usize) -> Option<f64>),
    /// Jain's index over flows: of their payload, or of what they took of a
    /// link.
    Fairness,
    /// The time series of each flow, then taken together.
    Series(fn(&StoredSeries, Values<'_>) -> Option<f64>),
}

/// What a metric takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MetricArgs {
    /// Whether flows can be chosen.
    pub(crate) flow: bool,
    /// Whether a link can be.
    pub(crate) link: LinkArg,
    /// How several flows or links are taken together unless it is said; `None` where that
    /// makes no sense.
    pub(crate) of: Option<Aggregation>,
    /// Whether it counts in an interval.
    pub(crate) interval: bool,
    /// Numbers that it takes beside these.
    pub(crate) parameters: &'static [Parameter],
}

/// Whether a metric takes `link = ...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkArg {
    Never,
    May,
    Must,
}

/// The numbers of several flows or links as one; `None` of none.
pub(crate) fn together(of: Aggregation, values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(match of {
        Aggregation::Mean => crate::stats::mean(values),
        Aggregation::Sum => values.iter().sum(),
        Aggregation::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Aggregation::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
    })
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
        self.args.parameters
    }

    /// True if it needs time series.
    #[must_use]
    pub fn needs_series(&self) -> bool {
        matches!(self.source, Source::Series(_))
    }

    /// The arguments that it takes besides axes.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        let takes = [
            (self.args.flow, "flow"),
            (self.args.link != LinkArg::Never, "link"),
            (self.args.of.is_some(), "of"),
            (self.args.interval, "from"),
            (self.args.interval, "to"),
        ];
        takes
            .into_iter()
            .filter_map(|(takes, name)| takes.then_some(name))
            .chain(self.parameters().iter().map(|p| p.name))
    }

    /// True if it cannot do without `link = ...`.
    pub(crate) fn needs_link(&self) -> bool {
        self.args.link == LinkArg::Must
    }

    /// What the metric of several flows or links is, in words that follow
    /// `about`; `None` where there is one of a run.
    pub(crate) fn together(&self) -> Option<&'static str> {
        // Some say it themselves.
        if self.needs_series() || self.about.ends_with("over the flows") {
            return None;
        }
        Some(match (self.args.of?, self.args.flow) {
            (Aggregation::Mean, true) => "; mean over the flows",
            (Aggregation::Sum, true) => "; of all flows",
            (Aggregation::Max, true) => "; the largest of the flows",
            (Aggregation::Min, true) => "; the smallest of the flows",
            (Aggregation::Mean, false) => "; mean over the links",
            (Aggregation::Sum, false) => "; of all links",
            (Aggregation::Max, false) => "; the largest of the links",
            (Aggregation::Min, false) => "; the smallest of the links",
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
            Source::Flow(get) => {
                let cases = selection.cases(outcome)?;
                let values = cases.iter().map(|case| {
                    get(case, self.name).ok_or_else(|| {
                        let flow = case.flow();
                        let finished = match flow.is_finished() {
                            true => "",
                            false => ", which did not finish",
                        };
                        format!("no {} of flow `{}`{finished}", self.name, flow.name)
                    })
                });
                self.of_flows(selection, values)
            }
            Source::Series(get) => {
                let series = run.series.iter().filter(|s| selection.takes(&s.flow));
                let values = series.map(|s| {
                    get(s, Values(&selection.parameters))
                        .ok_or_else(|| format!("no {} of flow `{}`", self.name, s.flow))
                });
                self.of_flows(selection, values)
            }
            Source::Fairness => {
                let cases = selection.cases(outcome)?;
                let first = cases.first().ok_or_else(|| selection.no_flow())?;
                let values: Vec<f64> = cases.iter().map(Case::part).collect();
                let index = bentpipe_outcome::jain_index(values);
                index.ok_or_else(|| format!("{}: nothing to share", first.what()))
            }
            Source::Link(get) => {
                let links = selection.links_of(outcome)?;
                if self.args.of.is_none() && links.len() > 1 {
                    return Err(format!("`{}` is of one link, not of several", self.name));
                }
                let values = links
                    .iter()
                    .filter_map(|link| get(outcome, link, self.name));
                let of = selection.of.or(self.args.of).unwrap_or(Aggregation::Max);
                together(of, &values.collect::<Vec<f64>>()).ok_or_else(none)
            }
            Source::LinkIn(get) => {
                let interval = selection.interval(outcome)?;
                let link = selection.link_of(outcome)?.ok_or_else(none)?;
                get(&interval, link).ok_or_else(none)
            }
        }
    }

    /// The values of the flows that are selected, taken together.
    fn of_flows(
        &self,
        selection: &Selection,
        values: impl Iterator<Item = Result<f64, String>>,
    ) -> Result<f64, String> {
        let values = values.collect::<Result<Vec<f64>, String>>()?;
        let of = selection.of.or(self.args.of).unwrap_or(Aggregation::Mean);
        together(of, &values).ok_or_else(|| selection.no_flow())
    }
}

#[cfg(test)]
mod tests;
