//! The parts that a role needs, from their start to their end.

mod listening;

use super::RunError;
use crate::config::{Role, control_folder};
use crate::entry::{self, Arrival, Listener, Serving};
use crate::hub::{Hub, Sockets};
use crate::intercept::{Fitness, Plan, RuleSupervisor};
use crate::operate::SharedState;
use crate::operate::handover::Estate;
use crate::single::Single;
use crate::terminal::{Terminal, most};
use crate::tunnel::association::Health;
use crate::tunnel::codec::Hello;
use crate::tunnel::known::Knowledge;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long a process that takes over waits for its association before it takes
/// the connections.
const ASSOCIATION: Duration = Duration::from_secs(10);

/// The running parts of one role.
pub(super) struct Engines {
    /// Second handles of the listening sockets, for a hand-over.
    listeners: Vec<Listener>,
    /// The listeners at work, at a terminal one for each of these; draining drops them.
    serving: Vec<Serving>,
    supervisor: Option<RuleSupervisor>,
    /// What takes intercepted UDP; draining drops it.
    udp: JoinSet<()>,
    carrier: Carrier,
    hello: Hello,
}

/// The engine that carries the connections.
enum Carrier {
    Single(Single),
    Terminal(Arc<Terminal>),
    Hub(Hub),
}

impl Engines {
    /// Starts what the configuration asks for, with what another process has handed
    /// over.
    pub(super) async fn start(
        state: &Arc<SharedState>,
        inherited: Option<Estate>,
    ) -> Result<Engines, RunError> {
        let config = state.config();
        let takes_over = inherited.is_some();
        let (handed, sockets, hello) = match inherited {
            Some(estate) => (estate.listeners, estate.hub, estate.hello.successor()),
            None => (Vec::new(), Sockets::default(), Hello::fresh()),
        };
        let plan = Plan::of(&config);
        let listeners = entry::listeners(&config, plan.as_ref(), handed)
            .map_err(|error| RunError::start("a listener", error))?;
        let kept: Result<Vec<Listener>, _> = listeners.iter().map(Listener::try_clone).collect();
        let kept = kept.map_err(|error| RunError::start("a listener", error))?;
        let (carrier, serving) = match config.role {
            Role::Single => {
                let single = Single::start(state, listeners);
                let single = single.map_err(|error| RunError::start("one box", error))?;
                (Carrier::Single(single), Vec::new())
            }
            Role::Terminal => {
                let terminal = Terminal::start(&config, Arc::clone(state), hello);
                let terminal = terminal.map_err(|error| RunError::start("the tunnel", error))?;
                let terminal = Arc::new(terminal);
                if takes_over {
                    // Connections go on in the old process until then.
                    let _ = tokio::time::timeout(ASSOCIATION, terminal.ready()).await;
                }
                let serving = carry(state, &terminal, listeners)?;
                (Carrier::Terminal(terminal), serving)
            }
            Role::Hub => {
                let hub = Hub::succeed(&config, Arc::clone(state), sockets);
                let hub = hub.map_err(|error| RunError::start("the hub", error))?;
                (Carrier::Hub(hub), Vec::new())
            }
        };
        let udp = match (&carrier, &plan) {
            (Carrier::Terminal(terminal), Some(plan)) => {
                let taken = terminal.intercept_udp(plan);
                taken.map_err(|error| RunError::start("the interception of UDP", error))?
            }
            _ => JoinSet::new(),
        };
        let supervisor = match plan {
            Some(plan) => Some(keep(state, plan, &carrier, takes_over)?),
            None => None,
        };
        Ok(Engines {
            listeners: kept,
            serving,
            supervisor,
            udp,
            carrier,
            hello,
        })
    }

    /// State that another process needs to take over.
    pub(super) fn estate(&self) -> std::io::Result<Estate> {
        let listeners = self.listeners.iter().map(Listener::try_clone);
        Ok(Estate {
            listeners: listeners.collect::<std::io::Result<_>>()?,
            hub: match &self.carrier {
                Carrier::Hub(hub) => hub.sockets()?,
                Carrier::Single(_) | Carrier::Terminal(_) => Sockets::default(),
            },
            hello: self.hello,
        })
    }

    /// What is known of the links into which the tunnel sends.
    pub(super) fn links(&self) -> Vec<Arc<Knowledge>> {
        match &self.carrier {
            Carrier::Single(_) => Vec::new(),
            Carrier::Terminal(terminal) => terminal.links(),
            Carrier::Hub(hub) => hub.links(),
        }
    }

    /// The process has ended from which this one took over.
    pub(super) fn note_alone(&self) {
        if let Carrier::Hub(hub) = &self.carrier {
            hub.note_alone();
        }
    }

    /// Whether a process that has handed over needs the one that has taken over: where that has gone, another
    /// can have the hub's ports only when this one has ended.
    pub(super) const fn needs_successor(&self) -> bool {
        matches!(self.carrier, Carrier::Hub(_))
    }

    /// Whether nothing new comes to this process after a hand-over.
    pub(super) fn is_left(&self) -> bool {
        match &self.carrier {
            Carrier::Hub(hub) => hub.is_left(),
            Carrier::Single(_) | Carrier::Terminal(_) => true,
        }
    }

    /// Tells terminals that still have an association with this process, though another one has taken over,
    /// that it ends.
    pub(super) async fn end_overlap(&self) {
        if let Carrier::Hub(hub) = &self.carrier {
            hub.drain().await;
        }
    }

    /// Takes no more connections; those that exist go on. After a hand-over the
    /// rules and sockets are another process'.
    pub(super) async fn stop_accepting(&mut self, handed_over: bool) {
        if handed_over {
            // Its rules have replaced these.
            self.supervisor = None;
        }
        if let Some(supervisor) = &self.supervisor {
            supervisor.stop_accepting().await;
        }
        self.serving.clear();
        self.listeners.clear();
        self.udp.abort_all();
        match &self.carrier {
            Carrier::Single(single) => single.stop_accepting(),
            Carrier::Terminal(terminal) if handed_over => terminal.leave(),
            Carrier::Terminal(_) => {}
            Carrier::Hub(hub) if handed_over => hub.hand_over().await,
            Carrier::Hub(hub) => hub.drain().await,
        }
    }

    /// Ends everything; connections that exist are reset.
    pub(super) async fn stop(self) {
        drop(self.serving);
        drop(self.listeners);
        match self.carrier {
            Carrier::Single(single) => {
                // It waits for its threads.
                let _ = tokio::task::spawn_blocking(|| single.stop()).await;
            }
            Carrier::Terminal(terminal) => terminal.stop().await,
            Carrier::Hub(hub) => hub.stop().await,
        }
        if let Some(Err(error)) = self.supervisor.map(RuleSupervisor::remove) {
            tracing::error!("the rules of interception stay: {error}");
        }
    }
}

/// Serves the listeners of a terminal.
fn carry(
    state: &Arc<SharedState>,
    terminal: &Arc<Terminal>,
    listeners: Vec<Listener>,
) -> Result<Vec<Serving>, RunError> {
    let mut serving = Vec::with_capacity(listeners.len());
    for listener in listeners {
        listener.keep_first_packets();
        let address = listener.address();
        let settings = listener.settings().clone();
        let (terminal, state) = (Arc::clone(terminal), Arc::clone(state));
        let handle = move |mut arrival: Arrival| {
            let terminal = Arc::clone(&terminal);
            let config = state.config();
            async move {
                if config.intercept.as_ref().is_some_and(|it| !it.keep_source) {
                    arrival.open.source = None;
                }
                drop(config);
                // It has counted how the connection ended.
                let _ = terminal.serve(arrival).await;
            }
        };
        let served = entry::serve(listener, settings, handle);
        let failed = |error| RunError::start(format!("the listener at {address}"), error);
        serving.push(served.map_err(failed)?);
    }
    Ok(serving)
}

/// Makes the rules, and keeps them in step with what the carrier can do; its peer was `waited` for.
fn keep(
    state: &Arc<SharedState>,
    plan: Plan,
    carrier: &Carrier,
    waited: bool,
) -> Result<RuleSupervisor, RunError> {
    let folder = control_folder();
    let kept = match carrier {
        Carrier::Single(single) => {
            let full = single.full();
            let fitness = move || match *full.borrow() {
                true => Fitness::AtLimit,
                false => Fitness::Ready,
            };
            RuleSupervisor::start(plan, &folder, state, waited, fitness, || false)
        }
        Carrier::Terminal(terminal) => {
            let status = terminal.status();
            let numbers = Arc::clone(state);
            let terminal = Arc::clone(terminal);
            let carries_udp = move || terminal.carries_udp();
            let fitness = move || {
                let active = numbers.counters.connections_active.get();
                match status.borrow().health {
                    Health::Down | Health::Outage => Fitness::PeerDown,
                    Health::Draining => Fitness::PeerDrains,
                    _ if active >= most(&numbers) => Fitness::AtLimit,
                    Health::Up | Health::Fallback => Fitness::Ready,
                }
            };
            RuleSupervisor::start(plan, &folder, state, waited, fitness, carries_udp)
        }
        Carrier::Hub(_) => {
            let ready = || Fitness::Ready;
            RuleSupervisor::start(plan, &folder, state, waited, ready, || true)
        }
    };
    kept.map_err(|error| RunError::start("interception", error))
}
