//! What may happen to a run after any time in which it repeats.

use super::Unskipped;
use crate::Options;
use crate::execution::Ties;
use crate::flow::{Ends, Running};
use bentpipe_link::{ChannelSettings, QueueSettings};
use bentpipe_scenario::{Link, Scenario};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};
use std::fmt;

/// Why a run is simulated to its end although what repeats was to be skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSkip {
    /// Its packets or time series are recorded, all of them.
    Recorded,
    /// It ends with some of its flows.
    Foreground,
    /// Middleboxes keep something of the packets that pass.
    Middleboxes,
    /// Congestion controls know of each other.
    Ties,
    /// A link draws at random.
    Random {
        /// Its name.
        link: String,
    },
    /// A link changes with time.
    Changes {
        /// Its name.
        link: String,
    },
    /// A link shares a medium, or has a queue that is more than first in, first out.
    Queue {
        /// Its name.
        link: String,
    },
    /// The application of a flow does not go on for ever at the same pace.
    Application {
        /// Name of the flow.
        flow: String,
    },
    /// The transport of a flow is another than plain TCP or UDP, or its congestion control may do
    /// something else later.
    Transport {
        /// Name of the flow.
        flow: String,
    },
    /// A flow ends before the run does.
    Ends {
        /// Name of the flow.
        flow: String,
    },
    /// Too little of the run would be left to skip.
    TooShort,
    /// Packets are lost.
    Losses,
    /// What was watched did not repeat.
    Unsettled {
        /// So much of the run was watched.
        looked: Duration,
    },
    /// What was watched did not repeat, and it was too much to be watched on.
    Long,
    /// What two periods add up to is not the same.
    Uneven,
    /// The limits of the run would be exceeded.
    Limits,
}

impl fmt::Display for NoSkip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSkip::Recorded => f.write_str("its packets or series are recorded"),
            NoSkip::Foreground => f.write_str("it ends with some of its flows"),
            NoSkip::Middleboxes => f.write_str("middleboxes keep something of what passes"),
            NoSkip::Ties => f.write_str("congestion controls know of each other"),
            NoSkip::Random { link } => {
                write!(f, "link `{link}` loses or delays packets at random")
            }
            NoSkip::Changes { link } => write!(f, "link `{link}` changes with time"),
            NoSkip::Queue { link } => write!(
                f,
                "link `{link}` has a queue other than drop-tail, or shares a medium"
            ),
            NoSkip::Application { flow } => write!(
                f,
                "the application of flow `{flow}` does not go on at one pace"
            ),
            NoSkip::Transport { flow } => write!(
                f,
                "flow `{flow}` is not over TCP or UDP alone, or its congestion control may move \
                 after any time of peace"
            ),
            NoSkip::Ends { flow } => write!(f, "flow `{flow}` ends before the run does"),
            NoSkip::TooShort => f.write_str("too little of it would be left to skip"),
            NoSkip::Losses => f.write_str("packets are lost"),
            NoSkip::Unsettled { looked } => {
                write!(
                    f,
                    "its packets did not repeat exactly in the first {looked}"
                )
            }
            NoSkip::Long => f.write_str("its packets did not repeat within the first millions"),
            NoSkip::Uneven => f.write_str("its counts of two periods differ"),
            NoSkip::Limits => f.write_str("it exceeds its limits"),
        }
    }
}

/// From when on nothing but its packets moves the run.
pub(super) fn calm_from(
    scenario: &Scenario,
    options: &Options,
    flows: &[Running],
) -> Result<Time, Unskipped> {
    if options.series.is_some() {
        return Err(NoSkip::Recorded.into());
    }
    if options.foreground.is_some() {
        return Err(NoSkip::Foreground.into());
    }
    if !scenario.middleboxes.is_empty() || !scenario.peps.is_empty() {
        return Err(NoSkip::Middleboxes.into());
    }
    if Ties::are_possible(scenario, flows) {
        return Err(NoSkip::Ties.into());
    }
    if let Some(why) = scenario.links.iter().find_map(of_link) {
        return Err(why.into());
    }
    let end = Time::ZERO + scenario.duration;
    let mut calm = Time::ZERO;
    for (flow, running) in scenario.flows.iter().zip(flows) {
        let name = || flow.name.clone();
        let is_at_one_pace = match &flow.application {
            Application::Transfer { .. } | Application::Persistent => true,
            Application::ConstantRate {
                control, deadline, ..
            } => control.is_none() && deadline.is_none(),
            _ => false,
        };
        if !is_at_one_pace {
            return Err(NoSkip::Application { flow: name() }.into());
        }
        let is_plain = match &running.ends {
            Ends::Datagrams { .. } => true,
            Ends::Tcp(_) => {
                let own = running.ends.has_own_control();
                flow.transport
                    .as_deref()
                    .is_some_and(|t| settles(t) && !own)
            }
            Ends::Split(_) | Ends::Quic(_) | Ends::Stream(_) | Ends::Ideal => false,
        };
        if !is_plain || flow.dns || flow.ipsec.is_some() {
            return Err(NoSkip::Transport { flow: name() }.into());
        }
        let changes = flow.changes.iter().map(|change| change.at);
        let dates = changes.chain([options.start_of(flow)]).chain(flow.stop);
        calm = dates.filter(|at| *at < end).fold(calm, Time::max);
    }
    Ok(calm)
}

/// What may happen on a link.
fn of_link(link: &Link) -> Option<NoSkip> {
    let name = || link.name.clone();
    let settings = &link.settings;
    if settings.channel != ChannelSettings::Perfect
        || link.jitter.is_some()
        || link.reports_corruption
    {
        return Some(NoSkip::Random { link: name() });
    }
    if link.timeline.is_some() || link.slots.is_some() {
        return Some(NoSkip::Changes { link: name() });
    }
    let plain = matches!(settings.queue, QueueSettings::DropTail(_));
    (!plain || link.medium.is_some() || link.arq.is_some()).then(|| NoSkip::Queue { link: name() })
}

/// True for a TCP that stays as it is once it repeats.
fn settles(transport: &Transport) -> bool {
    let control = transport.congestion_control.described();
    let plain = !matches!(transport.recovery, Recovery::Stp | Recovery::Snack);
    plain && control.is_some_and(|control| control.settles)
}
