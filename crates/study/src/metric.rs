//! The metrics that studies can name, each with its unit and its definition.
//!
//! A metric turns the result of one run into one number. Those of flows take
//! `flow = "name"` (a counted flow by its common name) and, over several
//! flows, `of = "mean" | "sum" | "max" | "min"`; those of links take `link =
//! "name"`; those of time series take times.

mod registry;
mod series;

use crate::record::RunData;
use crate::unit::Unit;
use bentpipe_outcome::{FlowOutcome, LinkOutcome, Outcome};

pub use registry::{METRICS, metric};

/// A metric by name.
pub struct Metric {
    /// The name that studies use.
    pub name: &'static str,
    /// Another name, where the papers have one; empty otherwise.
    pub alias: &'static str,
    /// What it measures.
    pub unit: Unit,
    /// What it says, in one line.
    pub about: &'static str,
    pub(crate) source: Source,
}

/// What a metric is computed from.
pub(crate) enum Source {
    /// Each flow, then taken together.
    Flow(fn(&Outcome, &FlowOutcome) -> Option<f64>, Of),
    /// The run as a whole.
    Run(fn(&Outcome) -> Option<f64>),
    /// One link, or all links taken together where that makes sense.
    Link(fn(&Outcome, &LinkOutcome) -> f64, Option<Of>),
    /// The time series of each flow, then taken together.
    Series(series::Measure, &'static [Parameter], Of),
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

/// What a use of a metric fixes.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Selection {
    /// The flow, or the common name of counted flows; all flows where `None`.
    pub(crate) flow: Option<String>,
    /// The link.
    pub(crate) link: Option<String>,
    /// How several are taken together; the metric's own way where `None`.
    pub(crate) of: Option<Of>,
    /// Values of the metric's parameters, in their order.
    pub(crate) parameters: Vec<f64>,
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

    /// The arguments that it takes beside axes.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        let (flow, link, of) = match &self.source {
            Source::Flow(..) | Source::Series(..) => (true, false, true),
            Source::Run(_) => (false, false, false),
            Source::Link(_, of) => (false, true, of.is_some()),
        };
        [(flow, "flow"), (link, "link"), (of, "of")]
            .into_iter()
            .filter_map(|(takes, name)| takes.then_some(name))
            .chain(self.parameters().iter().map(|p| p.name))
    }

    /// True if it cannot do without `link = ...`.
    pub(crate) fn needs_link(&self) -> bool {
        matches!(self.source, Source::Link(_, None))
    }

    /// Its value in one run.
    ///
    /// # Errors
    /// In words, if the run does not say: a flow did not finish, there is no
    /// link of that name.
    pub(crate) fn value(&self, run: &RunData, selection: &Selection) -> Result<f64, String> {
        let outcome = &run.outcome;
        match &self.source {
            Source::Run(get) => get(outcome).ok_or_else(|| format!("no {} in this run", self.name)),
            Source::Flow(get, of) => {
                let flows = outcome.flows.iter().filter(|f| selection.takes(&f.name));
                let values = flows.map(|f| {
                    get(outcome, f).ok_or_else(|| {
                        let finished = if f.is_finished() {
                            ""
                        } else {
                            ", which did not finish"
                        };
                        format!("no {} of flow `{}`{finished}", self.name, f.name)
                    })
                });
                let values = values.collect::<Result<Vec<f64>, String>>()?;
                let of = selection.of.unwrap_or(*of);
                of.together(&values).ok_or_else(|| selection.no_flow())
            }
            Source::Link(get, of) => {
                let links: Vec<f64> = outcome
                    .links
                    .iter()
                    .filter(|l| selection.link.as_ref().is_none_or(|name| *name == l.name))
                    .map(|l| get(outcome, l))
                    .collect();
                let of = selection.of.or(*of).unwrap_or(Of::Max);
                of.together(&links).ok_or_else(|| {
                    format!(
                        "no link is named `{}`",
                        selection.link.as_deref().unwrap_or("")
                    )
                })
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
}

impl Selection {
    /// True for the flow of that name and, for counted flows, `name[3]`.
    fn takes(&self, flow: &str) -> bool {
        self.flow.as_ref().is_none_or(|name| {
            flow.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        })
    }

    fn no_flow(&self) -> String {
        match &self.flow {
            Some(name) => format!("no flow is named `{name}`"),
            None => "the run has no flows".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outcome, run_data};
    use bentpipe_units::Duration;

    fn select(flow: &str) -> Selection {
        Selection {
            flow: Some(flow.to_owned()),
            ..Selection::default()
        }
    }

    #[test]
    fn names_are_unique_and_described() {
        let mut names: Vec<&str> = METRICS
            .iter()
            .flat_map(|m| [m.name, m.alias])
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(METRICS.iter().all(|m| !m.about.is_empty()));
        assert!(std::ptr::eq(
            metric("time").unwrap(),
            metric("transfer_time").unwrap()
        ));
    }

    #[test]
    fn every_metric_is_documented() {
        let text = include_str!("../LANGUAGE.md");
        let mut table =
            String::from("| metric | unit | arguments | what it says |\n|---|---|---|---|\n");
        for m in METRICS {
            let alias = if m.alias.is_empty() {
                String::new()
            } else {
                format!(", `{}`", m.alias)
            };
            let arguments: Vec<String> = m.arguments().map(|a| format!("`{a}`")).collect();
            let (unit, arguments) = (m.unit.symbol(), arguments.join(" "));
            table.push_str(&format!(
                "| `{}`{alias} | {unit} | {arguments} | {} |\n",
                m.name, m.about
            ));
        }
        assert!(
            text.ends_with(&table),
            "LANGUAGE.md must end with:\n\n{table}"
        );
    }

    #[test]
    fn counted_flows_have_a_common_name() {
        let mut o = outcome(10.0);
        o.flows[0].name = "transfer[1]".into();
        let mut second = o.flows[0].clone();
        second.name = "transfer[2]".into();
        second.transfer_time = Some(Duration::from_secs(20));
        o.flows.push(second);
        let run = run_data(o);
        let time = metric("time").unwrap();
        assert_eq!(time.value(&run, &select("transfer")), Ok(15.0));
        assert_eq!(time.value(&run, &select("transfer[2]")), Ok(20.0));
        assert_eq!(time.value(&run, &Selection::default()), Ok(15.0));
        let max = Selection {
            of: Some(Of::Max),
            ..Selection::default()
        };
        assert_eq!(time.value(&run, &max), Ok(20.0));
        let e = time.value(&run, &select("trans")).unwrap_err();
        assert_eq!(e, "no flow is named `trans`");
    }

    #[test]
    fn a_flow_that_did_not_finish_has_no_time() {
        let mut o = outcome(10.0);
        o.flows[0].transfer_time = None;
        let e = metric("time")
            .unwrap()
            .value(&run_data(o), &Selection::default());
        assert_eq!(
            e.unwrap_err(),
            "no transfer_time of flow `transfer`, which did not finish"
        );
    }

    #[test]
    fn links_are_found_by_name() {
        let run = run_data(outcome(10.0));
        let drops = metric("link_drops").unwrap();
        let satellite = Selection {
            link: Some("satellite".into()),
            ..Selection::default()
        };
        assert_eq!(drops.value(&run, &satellite), Ok(3.0));
        let none = Selection {
            link: Some("moon".into()),
            ..Selection::default()
        };
        assert_eq!(
            drops.value(&run, &none).unwrap_err(),
            "no link is named `moon`"
        );
        assert!(metric("p95_queueing_delay").unwrap().needs_link());
    }
}
