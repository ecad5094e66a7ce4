//! Scenarios from programs, without a file.

mod error;

pub use error::BuildError;

use crate::attach::attach;
use crate::fits::misfit;
use crate::model::{
    Flow, Handshake, Limits, Link, LinkId, Medium, MediumId, Middlebox, Node, NodeId, RouteChange,
    Scenario, SplitPep, Stranded,
};
use crate::route::{self, NoRoute};
use crate::split;
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{ArqSettings, LinkSettings, QueueSettings, Timeline};
use bentpipe_middlebox::split::SplitSettings;
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

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
///     queue: QueueSettings::drop_tail(Limit::Packets(100)),
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
    /// The links that the boxes stand at, by name.
    toward: Vec<String>,
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
                media: Vec::new(),
                flows: Vec::new(),
                stranded: Stranded::default(),
                middleboxes: Vec::new(),
                peps: Vec::new(),
                limits: Limits::default(),
            },
            toward: Vec::new(),
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
        self.one_way_link(name, a, b, forward, None);
        self.one_way_link(back, b, a, reverse, None);
    }

    /// Adds a link between two nodes that changes with time, each direction by
    /// its own timeline. Returns the link from `a` to `b` and the one back.
    pub fn link_with_timeline(
        &mut self,
        name: impl Into<String>,
        a: NodeId,
        b: NodeId,
        settings: LinkSettings,
        [forward, reverse]: [Arc<Timeline>; 2],
    ) -> [LinkId; 2] {
        let name = name.into();
        let back = format!("{name}.reverse");
        [
            self.one_way_link(name, a, b, settings.clone(), Some(forward)),
            self.one_way_link(back, b, a, settings, Some(reverse)),
        ]
    }

    /// Adds a link from `a` to `b` and none back.
    pub fn one_way_link(
        &mut self,
        name: impl Into<String>,
        a: NodeId,
        b: NodeId,
        settings: LinkSettings,
        timeline: Option<Arc<Timeline>>,
    ) -> LinkId {
        self.scenario.links.push(Link {
            name: name.into(),
            from: a,
            to: b,
            settings,
            timeline,
            arq: None,
            medium: None,
            reports_corruption: false,
        });
        LinkId(id(self.scenario.links.len() - 1))
    }

    /// Lets a link send again what its channel loses, both ways.
    pub fn arq(&mut self, name: &str, arq: ArqSettings) -> &mut ScenarioBuilder {
        let back = format!("{name}.reverse");
        for link in &mut self.scenario.links {
            if link.name == name || link.name == back {
                link.arq = Some(arq);
            }
        }
        self
    }

    /// What a packet does whose way leads over a link that is down.
    pub fn stranded(&mut self, rule: Stranded) -> &mut ScenarioBuilder {
        self.scenario.stranded = rule;
        self
    }

    /// Adds a medium, which [`shared_link`](Self::shared_link)s share.
    pub fn medium(&mut self, name: impl Into<String>, settings: MediumSettings) -> MediumId {
        self.scenario.media.push(Medium {
            name: name.into(),
            settings,
        });
        MediumId(id(self.scenario.media.len() - 1))
    }

    /// Adds a link from `terminal` to `hub` that shares `medium`, whose rate
    /// and delay take the place of those in `forward`, and one of its own back,
    /// `NAME.reverse`.
    pub fn shared_link(
        &mut self,
        name: impl Into<String>,
        (terminal, hub): (NodeId, NodeId),
        medium: MediumId,
        mut forward: LinkSettings,
        reverse: LinkSettings,
    ) {
        if let Some(known) = self.scenario.media.get(medium.0 as usize) {
            forward.rate = known.settings.rate;
            forward.one_way_delay = known.settings.one_way_delay;
        }
        let at = self.scenario.links.len();
        self.asymmetric_link(name, terminal, hub, forward, reverse);
        self.scenario.links[at].medium = Some(medium);
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
            changes: Vec::new(),
            split: None,
        });
        FlowBuilder {
            flow: &mut self.scenario.flows[at],
        }
    }

    /// Adds a box at `node`, at the near end of the link called `toward`;
    /// where links are counted, of all that leave the node.
    pub fn middlebox(
        &mut self,
        name: impl Into<String>,
        node: NodeId,
        toward: impl Into<String>,
        settings: bentpipe_middlebox::Settings,
    ) {
        self.toward.push(toward.into());
        self.scenario.middleboxes.push(Middlebox {
            name: name.into(),
            node,
            toward: Vec::new(),
            back: Vec::new(),
            settings,
        });
    }

    /// Adds a split-connection PEP to a node; its transport is that of the legs
    /// after it.
    pub fn split_pep(&mut self, name: impl Into<String>, node: NodeId, settings: SplitSettings) {
        self.scenario.peps.push(SplitPep {
            name: name.into(),
            node,
            toward: Vec::new(),
            settings,
        });
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
        unique("medium", scenario.media.iter().map(|m| &m.name))?;
        for (i, medium) in scenario.media.iter().enumerate() {
            let terminals = scenario.terminals(MediumId(id(i))).count();
            let settings = &medium.settings;
            if settings.frame().is_some() && settings.slot_payload(terminals) == Bytes::ZERO {
                return Err(BuildError::NoSlots(medium.name.clone()));
            }
        }
        unique("flow", scenario.flows.iter().map(|f| &f.name))?;
        for link in &scenario.links {
            self.ends("link", &link.name, link.from, link.to)?;
            if link.settings.rate == Rate::ZERO {
                return Err(BuildError::NoRate(link.name.clone()));
            }
            if link.arq.is_some() && link.timeline.is_some() {
                return Err(BuildError::ArqAndTimeline(link.name.clone()));
            }
            if let Some(MediumId(medium)) = link.medium
                && medium as usize >= scenario.media.len()
            {
                return Err(BuildError::NoMedium(link.name.clone()));
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
                Some(t) => {
                    flow.application.takes_transport() && misfit(t, &flow.application).is_none()
                }
            };
            if !fits {
                return Err(BuildError::Transport(flow.name.clone()));
            }
            check_routes(&scenario.links, flow)?;
            if let Some(Err(why)) = flow.transport.as_ref().map(Transport::controller) {
                return Err(BuildError::CongestionControl {
                    flow: flow.name.clone(),
                    why,
                });
            }
        }
        let boxes = scenario.middleboxes.iter().map(|m| &m.name);
        unique(
            "middlebox",
            boxes.chain(scenario.peps.iter().map(|p| &p.name)),
        )?;
        for pep in &scenario.peps {
            let transport = pep.settings.transport.as_ref();
            if let Some(Err(why)) = transport.map(Transport::controller) {
                return Err(BuildError::CongestionControl {
                    flow: pep.name.clone(),
                    why,
                });
            }
        }
        for (middlebox, toward) in scenario.middleboxes.iter_mut().zip(&self.toward) {
            let found = attach(&scenario.links, middlebox.node, toward);
            (middlebox.toward, middlebox.back) = found.map_err(|_| BuildError::NotAtLink {
                name: middlebox.name.clone(),
                link: toward.clone(),
            })?;
        }
        match route::route(scenario.nodes.len(), &scenario.links, &mut scenario.flows) {
            Ok(()) => {}
            Err(failed) => return Err(self.unconnected(&failed)),
        }
        let Err(failed) = split::split(&scenario.links, &mut scenario.flows, &scenario.peps) else {
            return Ok(scenario);
        };
        Err(BuildError::NoSplit {
            flow: scenario.flows[failed.flow].name.clone(),
            middlebox: scenario.peps[failed.place].name.clone(),
            why: failed.why.reason(),
        })
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

/// The routes that were given for a flow lead from end to end.
fn check_routes(links: &[Link], flow: &Flow) -> Result<(), BuildError> {
    let wrong = |at: Time, why: &'static str| BuildError::Route {
        flow: flow.name.clone(),
        at,
        why,
    };
    let mut before = Time::ZERO;
    let first = (Time::ZERO, &flow.forward, &flow.reverse);
    let later = flow.changes.iter().map(|c| (c.at, &c.forward, &c.reverse));
    for (i, (at, forward, reverse)) in std::iter::once(first).chain(later).enumerate() {
        if i > 0 && at <= before {
            return Err(wrong(at, "does not begin after the one before it"));
        }
        before = at;
        for (path, from, to) in [(forward, flow.from, flow.to), (reverse, flow.to, flow.from)] {
            if path.len() > route::LONGEST {
                return Err(wrong(at, "has more than 255 links"));
            }
            let mut node = from;
            for link in path {
                match links.get(link.0 as usize) {
                    Some(link) if link.from == node => node = link.to,
                    Some(_) => return Err(wrong(at, "is not one link after the other")),
                    None => return Err(wrong(at, "has a link that does not exist")),
                }
            }
            if !path.is_empty() && node != to {
                return Err(wrong(at, "does not lead to the other node"));
            }
        }
    }
    Ok(())
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

    /// The paths that it takes, forth and back, each from some time on: an
    /// empty one says that there is none, and before the first time there is
    /// none either. Without this call it takes the shortest path, for good.
    pub fn route(self, routes: Vec<(Time, Vec<LinkId>, Vec<LinkId>)>) -> Self {
        self.flow.forward.clear();
        self.flow.reverse.clear();
        self.flow.changes.clear();
        for (at, forward, reverse) in routes {
            if at == Time::ZERO && self.flow.changes.is_empty() {
                self.flow.forward = forward;
                self.flow.reverse = reverse;
            } else {
                self.flow.changes.push(RouteChange {
                    at,
                    forward,
                    reverse,
                });
            }
        }
        self
    }

    /// What happens before the first data segment.
    pub fn handshake(self, handshake: Handshake) -> Self {
        self.flow.handshake = handshake;
        self
    }
}
