//! Scenarios from programs, without a file.

use crate::model::{Flow, Handshake, Limits, Link, Node, NodeId, Scenario};
use crate::route::{self, NoRoute};
use bentpipe_link::{LinkSettings, QueueSettings};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate, Time};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Builds a [`Scenario`] step by step.
///
/// ```
/// use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
/// use bentpipe_scenario::Scenario;
/// use bentpipe_tcp::find_transport;
/// use bentpipe_traffic::Application;
/// use bentpipe_units::{Bytes, Duration, Rate};
///
/// let mut builder = Scenario::builder("geo");
/// let server = builder.node("server");
/// let client = builder.node("client");
/// builder.link("satellite", server, client, LinkSettings {
///     rate: Rate::from_mbps(2),
///     one_way_delay: Duration::from_micros(255_500),
///     queue: QueueSettings::DropTail { limit: Limit::Packets(100) },
///     channel: ChannelSettings::Perfect,
///     framing: Bytes::ZERO,
/// });
/// let file = Application::Transfer { size: Bytes::new(3_000_000) };
/// let cubic = find_transport("cubic").map(|t| t.transport());
/// builder.flow("download", server, client, file).transport(cubic);
/// let scenario = builder.build()?;
/// assert_eq!(scenario.flows[0].forward.len(), 1);
/// # Ok::<(), bentpipe_scenario::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScenarioBuilder {
    scenario: Scenario,
}

/// Why a scenario cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The run would end before it starts.
    #[error("the duration is zero")]
    NoDuration,
    /// Nothing to run.
    #[error("the scenario has no flows")]
    NoFlows,
    /// Two nodes, links or flows share a name.
    #[error("there are two {what}s named `{name}`")]
    Duplicate {
        /// `node`, `link` or `flow`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A link or flow refers to a node of another builder.
    #[error("{what} `{name}` is at a node that does not exist")]
    UnknownNode {
        /// `link` or `flow`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A link or flow ends where it starts.
    #[error("{what} `{name}` ends where it starts")]
    SameNode {
        /// `link` or `flow`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A link that carries nothing.
    #[error("the rate of link `{0}` is zero")]
    NoRate(String),
    /// A RED queue that drops all before it drops any.
    #[error("the queue of link `{0}` has its maximum not above its minimum")]
    Thresholds(String),
    /// A file or stream without its TCP, or datagrams with one, or on-off
    /// traffic over the ideal bound.
    #[error("flow `{0}` needs a transport, or has one that cannot carry it")]
    Transport(String),
    /// A congestion control that cannot be built.
    #[error("flow `{flow}`: {why}")]
    CongestionControl {
        /// Name of the flow.
        flow: String,
        /// What is wrong.
        why: bentpipe_cc::BuildError,
    },
    /// No path between the nodes of a flow.
    #[error("no path leads from `{from}` to `{to}` and back, or it is too long")]
    Unconnected {
        /// First node.
        from: String,
        /// Last node.
        to: String,
    },
}

impl Scenario {
    /// Starts a scenario of 300 s with seed 1 and nothing in it.
    #[must_use]
    pub fn builder(name: impl Into<String>) -> ScenarioBuilder {
        ScenarioBuilder {
            scenario: Scenario {
                name: name.into(),
                description: String::new(),
                duration: Duration::from_secs(300),
                seed: 1,
                nodes: Vec::new(),
                links: Vec::new(),
                flows: Vec::new(),
                limits: Limits::default(),
            },
        }
    }
}

impl ScenarioBuilder {
    /// What it is about, in a sentence.
    pub fn description(&mut self, text: impl Into<String>) -> &mut ScenarioBuilder {
        self.scenario.description = text.into();
        self
    }

    /// Simulated time after which the run ends at the latest.
    pub fn duration(&mut self, duration: Duration) -> &mut ScenarioBuilder {
        self.scenario.duration = duration;
        self
    }

    /// Seed of the run.
    pub fn seed(&mut self, seed: u64) -> &mut ScenarioBuilder {
        self.scenario.seed = seed;
        self
    }

    /// What a run may use at most.
    pub fn limits(&mut self, limits: Limits) -> &mut ScenarioBuilder {
        self.scenario.limits = limits;
        self
    }

    /// Adds a node.
    pub fn node(&mut self, name: impl Into<String>) -> NodeId {
        self.scenario.nodes.push(Node { name: name.into() });
        NodeId(id(self.scenario.nodes.len() - 1))
    }

    /// Adds a link between two nodes, the same forth and back.
    pub fn link(&mut self, name: impl Into<String>, a: NodeId, b: NodeId, settings: LinkSettings) {
        self.asymmetric_link(name, a, b, settings.clone(), settings);
    }

    /// Adds a link from `a` to `b` and one back, `NAME.reverse`, with settings
    /// of its own.
    pub fn asymmetric_link(
        &mut self,
        name: impl Into<String>,
        a: NodeId,
        b: NodeId,
        forward: LinkSettings,
        reverse: LinkSettings,
    ) {
        let name = name.into();
        let back = format!("{name}.reverse");
        self.scenario.links.push(Link {
            name,
            from: a,
            to: b,
            settings: forward,
        });
        self.scenario.links.push(Link {
            name: back,
            from: b,
            to: a,
            settings: reverse,
        });
    }

    /// Adds a flow that starts at once. What [`FlowBuilder`] does not set
    /// stays at its default.
    pub fn flow(
        &mut self,
        name: impl Into<String>,
        from: NodeId,
        to: NodeId,
        application: Application,
    ) -> FlowBuilder<'_> {
        let at = self.scenario.flows.len();
        self.scenario.flows.push(Flow {
            name: name.into(),
            from,
            to,
            transport: None,
            application,
            start: Time::ZERO,
            stop: None,
            handshake: Handshake::default(),
            forward: Vec::new(),
            reverse: Vec::new(),
        });
        FlowBuilder {
            flow: &mut self.scenario.flows[at],
        }
    }

    /// Checks the scenario and computes the routes.
    ///
    /// # Errors
    /// With the first thing that is wrong.
    pub fn build(&self) -> Result<Scenario, BuildError> {
        let mut scenario = self.scenario.clone();
        if scenario.duration.is_zero() {
            return Err(BuildError::NoDuration);
        }
        if scenario.flows.is_empty() {
            return Err(BuildError::NoFlows);
        }
        unique("node", scenario.nodes.iter().map(|n| &n.name))?;
        unique("link", scenario.links.iter().map(|l| &l.name))?;
        unique("flow", scenario.flows.iter().map(|f| &f.name))?;
        for link in &scenario.links {
            self.ends("link", &link.name, link.from, link.to)?;
            if link.settings.rate == Rate::ZERO {
                return Err(BuildError::NoRate(link.name.clone()));
            }
            if let QueueSettings::Red(red) = &link.settings.queue {
                let (minimum, maximum) = red.thresholds(link.settings.rate);
                // Nor is a threshold that is no number.
                if minimum.partial_cmp(&maximum) != Some(Ordering::Less) {
                    return Err(BuildError::Thresholds(link.name.clone()));
                }
            }
        }
        for flow in &scenario.flows {
            self.ends("flow", &flow.name, flow.from, flow.to)?;
            let fits = match &flow.transport {
                None => !flow.application.needs_transport(),
                Some(t) => flow.application.takes_transport() && !bounds_pauses(t, flow),
            };
            if !fits {
                return Err(BuildError::Transport(flow.name.clone()));
            }
            if let Some(Err(why)) = flow.transport.as_ref().map(Transport::controller) {
                return Err(BuildError::CongestionControl {
                    flow: flow.name.clone(),
                    why,
                });
            }
        }
        match route::route(scenario.nodes.len(), &scenario.links, &mut scenario.flows) {
            Ok(()) => Ok(scenario),
            Err(failed) => Err(self.unconnected(&failed)),
        }
    }

    /// Both nodes exist and are not the same.
    fn ends(
        &self,
        what: &'static str,
        name: &str,
        from: NodeId,
        to: NodeId,
    ) -> Result<(), BuildError> {
        let known = |node: NodeId| (node.0 as usize) < self.scenario.nodes.len();
        if !known(from) || !known(to) {
            return Err(BuildError::UnknownNode {
                what,
                name: name.to_string(),
            });
        }
        if from == to {
            return Err(BuildError::SameNode {
                what,
                name: name.to_string(),
            });
        }
        Ok(())
    }

    fn unconnected(&self, failed: &[(usize, NoRoute)]) -> BuildError {
        let name = |node: NodeId| self.scenario.nodes[node.0 as usize].name.clone();
        match failed.first() {
            Some((index, _)) => {
                let flow = &self.scenario.flows[*index];
                BuildError::Unconnected {
                    from: name(flow.from),
                    to: name(flow.to),
                }
            }
            None => BuildError::NoFlows,
        }
    }
}

/// True for on-off traffic over the ideal bound, which knows no pauses.
fn bounds_pauses(transport: &Transport, flow: &Flow) -> bool {
    transport.congestion_control == CongestionControlChoice::Ideal
        && matches!(flow.application, Application::OnOff { .. })
}

fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn unique<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), BuildError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::Duplicate {
                what,
                name: name.clone(),
            });
        }
    }
    Ok(())
}

/// Settings of a flow that was just added.
#[derive(Debug)]
pub struct FlowBuilder<'a> {
    flow: &'a mut Flow,
}

impl FlowBuilder<'_> {
    /// The TCP that carries it; `None` for datagrams.
    pub fn transport(self, transport: impl Into<Option<Transport>>) -> Self {
        self.flow.transport = transport.into();
        self
    }

    /// When it starts.
    pub fn start(self, start: Time) -> Self {
        self.flow.start = start;
        self
    }

    /// When its application stops offering data.
    pub fn stop(self, stop: Time) -> Self {
        self.flow.stop = Some(stop);
        self
    }

    /// What happens before the first data segment.
    pub fn handshake(self, handshake: Handshake) -> Self {
        self.flow.handshake = handshake;
        self
    }
}
