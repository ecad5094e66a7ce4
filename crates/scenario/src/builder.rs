//! Scenarios built by programs, without a file.

mod check;
mod error;

pub use error::BuildError;

use crate::attach::attach;
use crate::model::{
    Flow, Handshake, Kept, Limits, Link, LinkDownPolicy, LinkId, Medium, MediumId, Middlebox, Node,
    NodeId, RouteChange, Scenario, SplitPep,
};
use crate::route::{self, NoRoute, SkyWays};
use crate::split;
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{ArqSettings, JitterSettings, LinkSettings, SlotSettings, Timeline};
use bentpipe_middlebox::split::SplitSettings;
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};
use std::sync::Arc;

/// Builds a [`Scenario`] step by step.
///
/// ```
/// use bentpipe_link::{Limit, LinkSettings, QueueSettings};
/// use bentpipe_scenario::Scenario;
/// use bentpipe_tcp::find_transport;
/// use bentpipe_traffic::Application;
/// use bentpipe_units::{Bytes, Duration, Rate};
///
/// let mut builder = Scenario::builder("geo");
/// let server = builder.node("server");
/// let client = builder.node("client");
/// builder.link("satellite", server, client, LinkSettings::new(
///     Rate::from_mbps(2),
///     Duration::from_micros(255_500),
///     QueueSettings::drop_tail(Limit::Packets(100)),
/// ));
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
    /// The links at which the boxes are, by name.
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
                stranded: LinkDownPolicy::default(),
                middleboxes: Vec::new(),
                peps: Vec::new(),
                limits: Limits::default(),
                kept: Kept::default(),
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

    /// Sets the limits on the resources of a run.
    pub fn limits(&mut self, limits: Limits) -> &mut ScenarioBuilder {
        self.scenario.limits = limits;
        self
    }

    /// Adds a node, and returns its index.
    pub fn node(&mut self, name: impl Into<String>) -> NodeId {
        self.scenario.nodes.push(Node { name: name.into() });
        NodeId(id(self.scenario.nodes.len() - 1))
    }

    /// Adds a link between two nodes, the same forth and back.
    pub fn link(
        &mut self,
        name: impl Into<String>,
        a: NodeId,
        b: NodeId,
        settings: LinkSettings,
    ) -> [LinkId; 2] {
        self.link_pair(name, (a, b), [settings.clone(), settings], None)
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
    ) -> [LinkId; 2] {
        self.link_pair(name, (a, b), [forward, reverse], None)
    }

    /// Adds a link between two nodes that changes with time, each direction by
    /// its own timeline. Returns the link from `a` to `b` and the one back.
    pub fn link_with_timeline(
        &mut self,
        name: impl Into<String>,
        a: NodeId,
        b: NodeId,
        settings: LinkSettings,
        timelines: [Arc<Timeline>; 2],
    ) -> [LinkId; 2] {
        self.link_pair(name, (a, b), [settings.clone(), settings], Some(timelines))
    }

    /// Adds a link from `a` to `b` and one back, `NAME.reverse`, each with its
    /// settings and, where given, its timeline. Returns both.
    pub fn link_pair(
        &mut self,
        name: impl Into<String>,
        (a, b): (NodeId, NodeId),
        [forward, reverse]: [LinkSettings; 2],
        timelines: Option<[Arc<Timeline>; 2]>,
    ) -> [LinkId; 2] {
        let name = name.into();
        let back = format!("{name}.reverse");
        let [first, second] = timelines.map_or([None, None], |lines| lines.map(Some));
        let forth = self.one_way_link(name, a, b, forward, first);
        let back = self.one_way_link(back, b, a, reverse, second);
        self.scenario.links[forth.0 as usize].reverse = Some(back);
        self.scenario.links[back.0 as usize].reverse = Some(forth);
        [forth, back]
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
        let known = self.scenario.links.iter().rev().take(RECENT);
        let settings = shared(settings, known.map(|link| &link.settings));
        let link = Link::new(name, [a, b], settings, timeline);
        self.scenario.links.push(link);
        LinkId(id(self.scenario.links.len() - 1))
    }

    /// Lets a link send again what its channel loses, both ways.
    pub fn arq(&mut self, name: &str, arq: ArqSettings) -> &mut ScenarioBuilder {
        let back = format!("{name}.reverse");
        for link in &mut self.scenario.links {
            if link.name == name || link.name == back {
                link.arq = Some(Box::new(arq));
            }
        }
        self
    }

    /// Lets both directions of a link be another path every so often.
    pub fn slots(&mut self, name: &str, slots: &SlotSettings) -> &mut ScenarioBuilder {
        let slots = Arc::new(slots.clone());
        for link in &mut self.scenario.links {
            if link.way().0 == name {
                link.slots = Some(Arc::clone(&slots));
            }
        }
        self
    }

    /// Lets the delay of a link vary in one direction; `NAME.reverse` is the way back.
    pub fn jitter(&mut self, name: &str, jitter: &JitterSettings) -> &mut ScenarioBuilder {
        for link in &mut self.scenario.links {
            if link.name == name {
                link.jitter = Some(Box::new(jitter.clone()));
            }
        }
        self
    }

    /// Sets the behaviour of a packet whose path leads over a link that is down.
    pub fn stranded(&mut self, rule: LinkDownPolicy) -> &mut ScenarioBuilder {
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
        let [up, _] = self.link_pair(name, (terminal, hub), [forward, reverse], None);
        self.scenario.links[up.0 as usize].medium = Some(medium);
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
        let flows = &mut self.scenario.flows;
        let known = flows.iter().rev().take(RECENT);
        let transports = known.filter_map(|flow| flow.transport.clone()).collect();
        let at = flows.len();
        flows.push(Flow {
            name: name.into(),
            from,
            to,
            transport: None,
            application,
            start: Time::ZERO,
            stop: None,
            handshake: Handshake::default(),
            dns: false,
            subscriber: None,
            forward: Vec::new(),
            reverse: Vec::new(),
            changes: Vec::new(),
            ipsec: None,
            split: None,
        });
        FlowBuilder {
            flow: &mut flows[at],
            transports,
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
        check::check(&scenario)?;
        for (middlebox, toward) in scenario.middleboxes.iter_mut().zip(&self.toward) {
            let found = attach(&scenario.links, middlebox.node, toward);
            (middlebox.toward, middlebox.back) = found.map_err(|_| BuildError::NotAtLink {
                name: middlebox.name.clone(),
                link: toward.clone(),
            })?;
        }
        let nodes = scenario.nodes.len();
        let none = SkyWays::default();
        if let Err(failed) = route::route(nodes, &scenario.links, &none, &mut scenario.flows) {
            return Err(self.unconnected(&failed));
        }
        let Err(failed) = split::split(&scenario.links, &mut scenario.flows, &scenario.peps) else {
            return Ok(scenario);
        };
        Err(BuildError::NoSplit {
            flow: scenario.flows[failed.flow].name.clone(),
            middlebox: scenario.peps[failed.pep].name.clone(),
            why: failed.why.reason(),
        })
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

fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// How many links or flows are looked at for settings that a new one can share.
const RECENT: usize = 4;

/// `value`, as the one of `known` that is the same, where there is one: with many flows most are.
fn shared<'a, T: PartialEq + 'a>(value: T, mut known: impl Iterator<Item = &'a Arc<T>>) -> Arc<T> {
    match known.find(|known| ***known == value) {
        Some(known) => Arc::clone(known),
        None => Arc::new(value),
    }
}

/// Settings of a flow that was just added.
#[derive(Debug)]
pub struct FlowBuilder<'a> {
    flow: &'a mut Flow,
    /// Those of flows that were added just before.
    transports: Vec<Arc<Transport>>,
}

impl FlowBuilder<'_> {
    /// The TCP that carries it; `None` for datagrams.
    pub fn transport(self, transport: impl Into<Option<Transport>>) -> Self {
        let transport = transport.into();
        self.flow.transport = transport.map(|own| shared(own, self.transports.iter()));
        self
    }

    /// Sets the start of the application.
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

    /// The side that opens the connection looks the other's name up before.
    pub fn dns(self, looks_up: bool) -> Self {
        self.flow.dns = looks_up;
        self
    }

    /// Says whose it is, where the boxes of a gateway share a link among subscribers.
    pub fn subscriber(self, subscriber: impl Into<String>) -> Self {
        self.flow.subscriber = Some(subscriber.into());
        self
    }

    /// Sets the handshake before the first data segment.
    pub fn handshake(self, handshake: Handshake) -> Self {
        self.flow.handshake = handshake;
        self
    }
}
