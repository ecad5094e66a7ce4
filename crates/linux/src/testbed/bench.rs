//! The hosts of a run, their sockets, and the run itself.

use super::application::{self, Ready, Tcp, Work};
use super::boxes::{AHEAD, Boxes};
use super::clock::Clock;
use super::gateway::Gateway;
use super::gauges::Gauges;
use super::host::Host;
use super::ledger::Ledger;
use super::names::Names;
use super::quic::{self, Quic};
use super::setup::Setup;
use super::watch::Watcher;
use super::{Error, GatewayError, Options, collect, socket, tls};
use crate::emulator::{self, Emulator, Report};
use bentpipe_outcome::Outcome;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, NodeId, Scenario};
use bentpipe_units::Time;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Instant;

/// Bytes of a thread's stack.
const STACK: usize = 512 * 1024;

/// The hosts of a run, and the sockets that wait for it to begin.
pub(super) struct Bench<'a> {
    scenario: &'a Scenario,
    setups: &'a [Option<Setup>],
    /// By node; `None` where no flow ends.
    hosts: Vec<Option<Host>>,
}

/// Result of a run.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) report: Report,
    pub(super) failed: Vec<String>,
    /// Packets that the capture had no room for.
    pub(super) capture_lost: u64,
    pub(super) stopped: bool,
}

impl<'a> Bench<'a> {
    /// Prepares the hosts and the routes between them.
    pub(super) fn new(
        scenario: &'a Scenario,
        setups: &'a [Option<Setup>],
        emulator: &Emulator,
    ) -> Result<Bench<'a>, Error> {
        let mut hosts: Vec<Option<Host>> = scenario.nodes.iter().map(|_| None).collect();
        for host in emulator.hosts() {
            let own = |end: &(usize, usize)| setups.get(end.0)?.as_ref();
            let of_flows = || host.ends.iter().filter_map(own);
            let restarts = of_flows().all(|s| s.restart_after_idle);
            let windows = of_flows().map(|s| s.stock_receive);
            // Of several the largest; where one is of another kind, it is set at its socket.
            let stock = windows.collect::<Option<Vec<_>>>();
            let stock = stock.and_then(|windows| windows.into_iter().max());
            let routes = host.ends.iter().filter_map(|&(flow, end)| {
                let options = setups.get(flow)?.as_ref()?.route(end == 0);
                let [own, peer] = [emulator::ipv4(flow, end), emulator::ipv4(flow, 1 - end)];
                let device = &host.interface;
                Some(format!(
                    "route replace {peer}/32 dev {device} src {own}{options}\n"
                ))
            });
            host.namespace.ip(&routes.collect::<String>())?;
            let place = hosts.get_mut(host.node.0 as usize);
            if let Some(place) = place {
                *place = Some(Host::new(host.namespace.clone(), restarts, stock)?);
            }
        }
        Ok(Bench {
            scenario,
            setups,
            hosts,
        })
    }

    fn host(&self, node: NodeId) -> io::Result<&Host> {
        let host = self.hosts.get(node.0 as usize).and_then(Option::as_ref);
        host.ok_or_else(|| io::Error::other("one of its nodes is no host"))
    }

    /// Makes the sockets of a flow that others call.
    fn ready(&self, index: usize, gauges: &[Gauges]) -> io::Result<Ready<'_>> {
        let flow = &self.scenario.flows[index];
        let hosts = [self.host(flow.from)?, self.host(flow.to)?];
        let addresses = [0, 1].map(|end| {
            let address = emulator::ipv4(index, end);
            SocketAddr::new(address.into(), socket::PORT)
        });
        let [from, to] = addresses;
        if let Some(transport) = quic::over_quic(flow) {
            let sockets = [
                hosts[0].enter(|| socket::quic(from, to))?,
                hosts[1].enter(|| socket::quic(to, from))?,
            ];
            let seen = gauges[index].quic.clone();
            return Ok(Ready::Quic(Box::new(Quic::new(transport, sockets, seen))));
        }
        let Some(setup) = &self.setups[index] else {
            return Ok(Ready::Udp([
                hosts[0].enter(|| socket::udp(from, to))?,
                hosts[1].enter(|| socket::udp(to, from))?,
            ]));
        };
        let tcp = Tcp {
            setup,
            prompt: !application::is_bulk(&flow.application),
            hosts,
            addresses,
        };
        let called = 1 - application::opener(&flow.application);
        let listener = tcp.listener(called)?;
        Ok(Ready::Tcp(tcp, listener))
    }

    /// The look-ups that precede the flows, by flow.
    fn names(&self) -> Result<Vec<Option<Names>>, Error> {
        let all = self.scenario.flows.iter().enumerate();
        let make = |(index, flow): (usize, &Flow)| {
            let hosts = [self.host(flow.from)?, self.host(flow.to)?];
            Names::new(self.scenario, index, hosts)
        };
        all.map(|(index, flow)| {
            make((index, flow)).map_err(|why| Error::Socket {
                flow: flow.name.clone(),
                why,
            })
        })
        .collect()
    }

    /// Runs all flows.
    pub(super) fn run(
        &self,
        options: &Options,
        emulator: Emulator,
        boxes: Option<&Boxes>,
    ) -> Result<Done, Error> {
        let scenario = self.scenario;
        let mut gateway = match (boxes, &options.gateway) {
            (None, _) => None,
            (Some(_), None) => return Err(GatewayError::NoProgram.into()),
            (Some(boxes), Some(program)) => {
                Some(Gateway::start(program, scenario, boxes, &emulator)?)
            }
        };
        let gauges: Arc<Vec<Gauges>> = Arc::new(
            scenario
                .flows
                .iter()
                .map(|f| Gauges::new(&f.application))
                .collect(),
        );
        let mut ready = Vec::with_capacity(scenario.flows.len());
        for (index, flow) in scenario.flows.iter().enumerate() {
            ready.push(self.ready(index, &gauges).map_err(|why| Error::Socket {
                flow: flow.name.clone(),
                why,
            })?);
        }
        let names = self.names()?;
        let starts: Vec<Time> = scenario.flows.iter().map(|f| start(f, options)).collect();
        let (messages, heard) = channel();
        let mut ledger = Ledger::new(scenario, options, gauges.clone(), messages.clone());
        let stop = emulator.stop();
        let origin = Instant::now();
        let clock = Clock::new(origin);
        let (report, watched) = std::thread::scope(|scope| {
            let builder = || Builder::new().stack_size(STACK);
            let links = {
                let ledger = &mut ledger;
                builder().spawn_scoped(scope, move || emulator.run(origin, ledger))
            };
            let links = links.map_err(Error::Thread)?;
            let mut started = Ok(());
            if let Some(gateway) = &mut gateway {
                let ahead = std::time::Duration::from_nanos(AHEAD.as_nanos());
                started = gateway.wait(origin + ahead).map_err(Error::from);
            }
            for (index, (flow, ready)) in scenario.flows.iter().zip(&ready).enumerate() {
                if started.is_err() {
                    break;
                }
                let work = Work {
                    flow: index,
                    name: &flow.name,
                    application: &flow.application,
                    tls: tls::flights(flow),
                    start: starts[index],
                    stop: flow.stop,
                    seed: options.seed,
                    series: options.series,
                    clock: &clock,
                    gauges: &gauges[index],
                    names: names[index].as_ref(),
                    messages: messages.clone(),
                };
                for side in work.sides(ready) {
                    let spawned = builder().spawn_scoped(scope, side);
                    if let Err(why) = spawned {
                        started = Err(Error::Thread(why));
                    }
                }
            }
            let watcher = Watcher {
                scenario,
                clock: &clock,
                messages: &heard,
                gauges: &gauges,
                series: options.series,
                stop: &options.stop,
            };
            let watched = started.map(|()| watcher.watch(|| !links.is_finished()));
            // The links first: what sockets send when they close is no part of
            // the run.
            stop.stop();
            let report = links.join();
            clock.end();
            let report = match report {
                Ok(report) => report?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok::<_, Error>((report, watched?))
        })?;
        if let Some(gateway) = &mut gateway {
            gateway.check()?;
        }
        Ok(Done {
            capture_lost: ledger.capture_lost,
            outcome: collect::outcome(scenario, options, &starts, ledger, watched.noted, &report),
            report,
            failed: watched.failed,
            stopped: watched.stopped,
        })
    }
}

/// When a flow starts, as in the simulator.
fn start(flow: &Flow, options: &Options) -> Time {
    if options.start_jitter.is_zero() {
        return flow.start;
    }
    let mut stream = Stream::new(options.seed, &format!("start {}", flow.name));
    flow.start + options.start_jitter.scaled(stream.uniform())
}
