//! The users of a link as a scenario: who runs what, through which proxy, beside
//! which other traffic.

use super::background::Background;
use super::candidate::Candidate;
use super::loss::PACKET;
use super::network::Network;
use super::path::{GIVEN_UP, NetworkPath};
use super::pep::Pep;
use super::traffic::{Activity, CALL_DEADLINE, Work};
use crate::Error;
use crate::own::OwnControl;
use bentpipe_middlebox::split::{SplitSettings, TUNNEL_BUFFER, Tunnel};
use bentpipe_middlebox::{Settings, SnoopSettings};
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{FlowBuilder, Handshake, Limits, Scenario, ScenarioBuilder};
use bentpipe_sim::{Observer, Options, Simulation, Unobserved};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration};
use std::collections::BTreeMap;

/// Smallest relay buffer.
const BUFFER: Bytes = Bytes::new(64_000);

/// The name of the flow that no transport controls.
pub(super) const BACKGROUND: &str = "background";

/// Everybody who uses the link.
#[derive(Debug)]
pub(super) struct Crowd<'a> {
    pub(super) work: Work,
    pub(super) pep: Pep,
    /// What is run for each user.
    pub(super) users: Vec<&'a Candidate>,
    /// Terminals behind which they are.
    pub(super) terminals: u32,
    /// What servers run whose connections end at a proxy.
    pub(super) default: &'a Transport,
    pub(super) background: Option<Background>,
    /// Starts are spread over this time.
    pub(super) stagger: Duration,
    /// What runs scenarios in the place of the simulator.
    pub(super) runner: Option<&'a dyn Runner>,
    /// What a run may use.
    pub(super) limits: Limits,
}

/// What runs the scenarios of a comparison in the place of the simulator, such
/// as real hosts over an emulated link.
pub trait Runner: std::fmt::Debug + Send + Sync {
    /// Runs `scenario` once with the seed and the spread of the starts that
    /// `options` say, until the flows of [`Options::foreground`] have ended.
    ///
    /// # Errors
    /// If it cannot: [`Error::Runner`].
    fn run(&self, scenario: &Scenario, options: &Options) -> Result<Outcome, Error>;
}

/// True where names are looked up before connections; the ideal bound has none.
fn looks_up(dns: bool, transport: &Transport) -> bool {
    dns && transport.congestion_control != CongestionControlChoice::Ideal
}

impl Crowd<'_> {
    /// The scenario, and how many of its flows, which come first, end.
    pub(super) fn scenario(&self, path: &NetworkPath) -> Result<(Scenario, usize), Error> {
        let mut builder = Scenario::builder("compare");
        builder
            .description("users of a satellite link")
            .duration(GIVEN_UP)
            .limits(self.limits);
        let transports = self.users.iter().map(|c| &c.transport);
        let network = Network::build(&mut builder, path, self.pep, self.terminals, transports)?;
        let server = network.server;
        for (i, candidate) in (0u32..).zip(&self.users) {
            let receiver = network.home(i);
            let (from, to, transport) = match self.work.traffic.of_user(i) {
                // It has no end: it comes behind those that do.
                Activity::Call => continue,
                // Users change nothing.
                Activity::Upload => (receiver, server, self.default.clone()),
                _ => (
                    server,
                    receiver,
                    self.server_transport(&candidate.transport),
                ),
            };
            for (suffix, application) in self.work.flows(i) {
                let flow = builder
                    .flow(name(i, suffix), from, to, application)
                    .transport(transport.clone())
                    .dns(looks_up(self.work.dns, &transport))
                    .handshake(Handshake::Counted);
                self.owned(i, flow);
            }
        }
        let mut endless = 0;
        for i in self.callers() {
            let receiver = network.home(i);
            let ways = [(server, receiver), (receiver, server)];
            for ((from, to), (suffix, mut application)) in ways.into_iter().zip(self.work.flows(i))
            {
                if let Application::ConstantRate { deadline, .. } = &mut application {
                    *deadline = Some(path.longest_way() + CALL_DEADLINE);
                }
                self.owned(i, builder.flow(name(i, suffix), from, to, application));
                endless += 1;
            }
        }
        self.add_pep(path, &mut builder, &network);
        if let Some(background) = self.background {
            let application = background.application(path.rate);
            builder.flow(BACKGROUND, network.hub, network.shared_end, application);
        }
        let scenario = builder.build()?;
        let users = scenario.flows.len() - endless - usize::from(self.background.is_some());
        Ok((scenario, users))
    }

    /// The boxes of a gateway share the link among users; others do not know them.
    fn owned(&self, user: u32, flow: FlowBuilder<'_>) {
        if self.pep == Pep::Gateway {
            flow.subscriber(name(user, ""));
        }
    }

    /// The users who talk.
    fn callers(&self) -> impl Iterator<Item = u32> {
        let traffic = self.work.traffic;
        let users = 0..self.users.len() as u32;
        users.filter(move |user| traffic.of_user(*user) == Activity::Call)
    }

    fn add_pep(&self, path: &NetworkPath, builder: &mut ScenarioBuilder, network: &Network) {
        let hub = network.hub;
        match self.pep {
            Pep::None => {}
            Pep::Snoop => {
                let settings = Settings::Snoop(SnoopSettings {
                    cache: cache(path),
                    ..SnoopSettings::default()
                });
                builder.middlebox("snoop", hub, "satellite", settings);
            }
            Pep::Split => {
                for (i, (transport, flows)) in self.by_transport().into_iter().enumerate() {
                    let settings = split(path, transport.clone(), flows);
                    builder.split_pep(format!("pep-{}", i + 1), hub, settings);
                }
            }
            Pep::Gateway => {
                let settings = SplitSettings {
                    tunnel: Tunnel::Gateway,
                    buffer: TUNNEL_BUFFER.max(buffer(path)),
                    ..SplitSettings::default()
                };
                builder.split_pep("hub", hub, settings.clone());
                for (i, terminal) in (1..).zip(&network.terminals) {
                    let name = match network.terminals.len() {
                        1 => "terminal".to_owned(),
                        _ => format!("terminal-{i}"),
                    };
                    builder.split_pep(name, *terminal, settings.clone());
                }
            }
        }
    }

    /// The transports, each with the names of the flows that it carries.
    fn by_transport(&self) -> Vec<(&Transport, Vec<String>)> {
        let mut found: Vec<(&Transport, Vec<String>)> = Vec::new();
        for (i, candidate) in (0u32..).zip(&self.users) {
            // Uploads pass the proxy end to end; calls and QUIC are no TCP.
            let is_passed = matches!(
                self.work.traffic.of_user(i),
                Activity::Upload | Activity::Call
            );
            if is_passed || candidate.transport.quic.is_some() {
                continue;
            }
            let flows = self.work.flows(i).into_iter();
            let flows = flows.map(|(suffix, _)| name(i, suffix));
            match found.iter_mut().find(|(t, _)| **t == candidate.transport) {
                Some((_, names)) => names.extend(flows),
                None => found.push((&candidate.transport, flows.collect())),
            }
        }
        found
    }

    /// The transport of the server where a proxy may end its connection.
    fn server_transport(&self, transport: &Transport) -> Transport {
        let is_bound = transport.congestion_control == CongestionControlChoice::Ideal;
        match self.pep {
            // The bound is one of the whole way, and no proxy ends a QUIC connection.
            Pep::Split | Pep::Gateway if !is_bound && transport.quic.is_none() => Transport {
                // It is between the server and the user, who have the keys.
                tls: transport.tls,
                ..self.default.clone()
            },
            _ => transport.clone(),
        }
    }

    /// Runs it once.
    pub(super) fn run(&self, path: &NetworkPath, options: &Options) -> Result<Outcome, Error> {
        self.observe(path, options, &mut Unobserved)
    }

    /// Runs it once under the eyes of `observer`, which sees nothing of what another
    /// [`Runner`] runs.
    pub(super) fn observe(
        &self,
        path: &NetworkPath,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let (scenario, users) = self.scenario(&path.of_run(options.seed))?;
        let options = Options {
            start_jitter: self.stagger,
            foreground: Some(users),
            ..options.clone()
        };
        if let Some(runner) = self.runner {
            return runner.run(&scenario, &options);
        }
        let own: BTreeMap<String, &OwnControl> = (0u32..)
            .zip(&self.users)
            .filter_map(|(i, candidate)| Some((i, candidate.own.as_ref()?)))
            .flat_map(|(i, own)| {
                let flows = self.work.flows(i).into_iter();
                flows.map(move |(suffix, _)| (name(i, suffix), own))
            })
            .collect();
        let run = Simulation::with(&scenario, &options, |flow| {
            own.get(&flow.name).map(|own| own.controller())
        });
        run.and_then(|run| run.run(observer))
            .map_err(|source| Error::Run {
                of: self
                    .users
                    .first()
                    .map_or_else(String::new, |c| c.name.clone()),
                source,
            })
    }
}

/// The name of a user's flow.
pub(super) fn name(user: u32, suffix: &str) -> String {
    format!("user-{}{suffix}", user + 1)
}

fn split(path: &NetworkPath, transport: Transport, flows: Vec<String>) -> SplitSettings {
    SplitSettings {
        buffer: buffer(path),
        transport: Some(transport),
        flows,
        ..SplitSettings::default()
    }
}

/// Packets for all that the link and its queue hold.
fn cache(path: &NetworkPath) -> u32 {
    let queue = path.standing_bytes().get() / PACKET;
    let all = u64::from(path.bdp_segments()).saturating_add(queue);
    u32::try_from(all.clamp(100, 1_000_000)).unwrap_or(1_000_000)
}

/// Twice what the link holds: its losses take round trips to repair.
fn buffer(path: &NetworkPath) -> Bytes {
    Bytes::new(path.bdp().get().saturating_mul(2)).max(BUFFER)
}

#[cfg(test)]
mod tests {
    use super::super::path::tests::path;
    use super::super::traffic::Traffic;
    use super::super::{Hosts, lineup::Lineup};
    use super::*;
    use bentpipe_scenario::NodeId;
    use bentpipe_units::Rate;

    fn scenario(pep: Pep) -> Scenario {
        let path = NetworkPath {
            server_rtt: Some(Duration::from_millis(50)),
            ..path()
        };
        let lineup = Lineup::new(Hosts::Linux, &path, 1);
        let of = |name: &str| lineup.candidate(name.parse().unwrap()).unwrap();
        let (hybla, vegas, cubic) = (of("hybla"), of("vegas"), of("cubic"));
        let crowd = Crowd {
            work: Work {
                traffic: Traffic::Download,
                size: Bytes::new(100_000),
                bitrate: Rate::from_mbps(1),
                pages: super::super::traffic::PAGES,
                page_objects: 1,
                dns: false,
            },
            pep,
            users: vec![&hybla, &vegas, &hybla],
            terminals: 1,
            default: &cubic.transport,
            background: Some("10%".parse().unwrap()),
            stagger: Duration::ZERO,
            runner: None,
            limits: Limits::default(),
        };
        let (scenario, users) = crowd.scenario(&path).unwrap();
        assert_eq!((users, scenario.flows.len()), (3, 4));
        scenario
    }

    #[test]
    fn a_gateway_stands_before_the_link() {
        let none = scenario(Pep::None);
        let gateway = NodeId(2);
        assert_eq!(none.links[0].from, gateway);
        assert_eq!(none.links[1].to, gateway);
        assert!(none.flows[0].split.is_none() && none.middleboxes.is_empty());
        // What crosses the link beside them does not cross the internet.
        assert_eq!(none.flows[3].forward.len(), 1);
        assert_eq!(scenario(Pep::Snoop).middleboxes[0].toward.len(), 1);
    }

    #[test]
    fn each_user_is_a_subscriber_of_a_gateway() {
        let of = |pep| scenario(pep).subscribers()[..3].to_vec();
        assert_eq!(of(Pep::Gateway), [0, 1, 2]);
        // Behind one terminal, and of others nobody asks.
        assert_eq!(of(Pep::Split), [0, 0, 0]);
    }

    #[test]
    fn quic_passes_proxies() {
        let path = NetworkPath {
            server_rtt: Some(Duration::from_millis(50)),
            ..path()
        };
        let lineup = Lineup::new(Hosts::Linux, &path, 1);
        let of = |name: &str| lineup.candidate(name.parse().unwrap()).unwrap();
        let (cubic, quic) = (of("cubic"), of("cubic + IW 20 + QUIC"));
        assert_eq!(quic.transport.initial_window, 20.0);
        for pep in [Pep::Split, Pep::Gateway] {
            let crowd = Crowd {
                users: vec![&cubic, &quic],
                work: Work {
                    traffic: Traffic::Web,
                    size: Bytes::new(100_000),
                    bitrate: Rate::from_mbps(1),
                    pages: 2,
                    page_objects: 1,
                    dns: false,
                },
                pep,
                terminals: 1,
                default: &cubic.transport,
                background: None,
                stagger: Duration::ZERO,
                runner: None,
                limits: Limits::default(),
            };
            let (scenario, users) = crowd.scenario(&path).unwrap();
            assert_eq!(users, 4);
            let is_split: Vec<bool> = scenario.flows.iter().map(|f| f.split.is_some()).collect();
            assert_eq!(is_split, [true, true, false, false], "{pep:?}");
            let done = crowd.run(&path, &Options::default()).unwrap();
            assert!(done.flows.iter().all(|flow| flow.transfer_time.is_some()));
        }
    }

    #[test]
    fn proxies_split_connections_by_what_they_run() {
        let legs = |pep| {
            let scenario = scenario(pep);
            let names = |flow: &bentpipe_scenario::Flow| {
                let legs = &flow.split.as_ref().unwrap().legs;
                let names = legs.iter().map(|l| l.transport.name.clone());
                names.collect::<Vec<_>>().join(" ")
            };
            scenario.flows[..3].iter().map(names).collect::<Vec<_>>()
        };
        assert_eq!(
            legs(Pep::Split),
            ["cubic hybla", "cubic vegas", "cubic hybla"]
        );
        assert_eq!(
            legs(Pep::Gateway),
            [
                "cubic gateway cubic",
                "cubic gateway cubic",
                "cubic gateway cubic"
            ]
        );
    }
}
