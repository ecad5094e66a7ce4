//! Keeps the rules in step with what the gateway can do: connections that it
//! cannot serve pass directly, or are refused, as configured.

use super::plan::{Passing, Plan, Treatment};
use super::rules::Rules;
use super::system::Error;
use crate::config::{Config, WhenDown};
use crate::operate::SharedState;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How often the rules are compared with what the gateway can do.
const TURN: Duration = Duration::from_millis(100);

/// How long the other box may be silent before new connections are kept from the
/// gateway: short fades are no reason to change the path of connections. At a start that is the time
/// before they are refused, where they may not pass directly: an association over a satellite takes a
/// second or two.
const SILENCE: Duration = Duration::from_secs(3);

/// How often it is examined whether connections that the rules send to the gateway
/// reach it.
const LOOK: Duration = Duration::from_secs(3);

/// Requests for connections, with those that are repeated, of which none has
/// reached the gateway: more than chance.
const LOST: u64 = 3;

/// How long connections pass directly when they do not reach the gateway, before
/// that is tried again.
const AVOID: Duration = Duration::from_secs(600);

/// Whether new connections can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// They can.
    Ready,
    /// A limit leaves no room for another one.
    AtLimit,
    /// The other box does not answer.
    PeerDown,
    /// The other box is about to stop, and takes no more.
    PeerDrains,
    /// They are intercepted and do not reach the gateway.
    NotReached,
}

/// Keeps the rules until it is dropped, which leaves them as they are.
#[derive(Debug)]
pub struct RuleSupervisor {
    rules: Arc<Mutex<Option<Rules>>>,
    task: JoinHandle<()>,
    state: Arc<SharedState>,
}

impl Drop for RuleSupervisor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RuleSupervisor {
    /// Makes the rules of `plan`, with their record in `folder`, for what can be served now, and follows
    /// `fitness`, and for UDP `carries_udp`. Where connections may not pass directly a peer has time to
    /// answer before they are refused, unless it was `waited` for. Listen before this, and call it in a
    /// runtime of tokio.
    ///
    /// # Errors
    /// Missing requirements of this machine, and the remedies.
    pub fn start(
        plan: Plan,
        folder: &Path,
        state: &Arc<SharedState>,
        waited: bool,
        fitness: impl Fn() -> Fitness + Send + 'static,
        carries_udp: impl Fn() -> bool + Send + 'static,
    ) -> Result<RuleSupervisor, Error> {
        let (first, config) = (fitness(), state.config());
        let silent = (!waited && when_down(&config) == WhenDown::Closed).then(Instant::now);
        let now = Treatment {
            tcp: wanted(first, silence(silent), &config),
            udp: wanted_for_udp(first, carries_udp(), &config),
        };
        let rules = Rules::install_so(plan, folder, now)?;
        state.note_new_connections(now.tcp);
        if now.tcp != Passing::Gateway {
            report(now.tcp, first);
        }
        let rules = Arc::new(Mutex::new(Some(rules)));
        let shared = (Arc::clone(&rules), Arc::clone(state));
        let task = tokio::spawn(follow(shared, (now, silent), fitness, carries_udp));
        Ok(RuleSupervisor {
            rules,
            task,
            state: Arc::clone(state),
        })
    }

    /// Lets new connections pass directly from now on. Those that exist go on.
    pub async fn stop_accepting(&self) {
        self.task.abort();
        switch(&self.rules, &self.state, Passing::Direct.into()).await;
    }

    /// Removes the rules. Connections must have ended: packets of others would be
    /// forwarded to hosts that do not know them.
    ///
    /// # Errors
    /// Where `nft` or `ip` fails; the record then stays for the next start.
    pub fn remove(self) -> Result<(), Error> {
        let rules = self
            .rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        rules.map_or(Ok(()), Rules::remove)
    }
}

/// Switches the rules from what they are `now` to what they are to be; a peer that is down is so since
/// `silent`, or has been for long.
async fn follow(
    (rules, state): (Arc<Mutex<Option<Rules>>>, Arc<SharedState>),
    (mut now, mut silent): (Treatment, Option<Instant>),
    fitness: impl Fn() -> Fitness + Send + 'static,
    carries_udp: impl Fn() -> bool + Send + 'static,
) {
    let mut carried = None;
    let mut reach = Reach::new(&state);
    loop {
        tokio::time::sleep(TURN).await;
        let mut fitness = fitness();
        if fitness == Fitness::Ready && reach.is_lost(&rules, &state).await {
            fitness = Fitness::NotReached;
        }
        silent = match fitness {
            // After it has stopped, there is nothing to wait for either.
            Fitness::PeerDrains => None,
            Fitness::PeerDown => silent,
            _ => Some(Instant::now()),
        };
        let tcp = wanted(fitness, silence(silent), &state.config());
        if carries_udp() {
            carried = Some(Instant::now());
        }
        // A short outage is no reason to change the path of flows: its datagrams are lost either way.
        let carries = carried.is_some_and(|last| last.elapsed() <= SILENCE);
        let udp = wanted_for_udp(fitness, carries, &state.config());
        let wanted = Treatment { tcp, udp };
        if wanted == now {
            continue;
        }
        if switch(&rules, &state, wanted).await {
            if tcp != now.tcp {
                report(tcp, fitness);
            } else {
                report_udp(udp);
            }
            now = wanted;
            // The rules' counters start again.
            reach.sent = 0;
        } else {
            tokio::time::sleep(SILENCE).await;
        }
    }
}

/// Whether the connections that the rules send to the gateway reach it. A firewall
/// of this machine that drops what is not meant for it would otherwise leave
/// clients without an answer.
#[derive(Debug)]
struct Reach {
    looked: Instant,
    /// Connections that had reached the gateway then.
    arrived: u64,
    /// Connections that the rules had sent then.
    sent: u64,
    /// Until when they pass directly.
    avoid: Option<Instant>,
}

impl Reach {
    fn new(state: &SharedState) -> Reach {
        Reach {
            looked: Instant::now(),
            arrived: arrived(state),
            sent: 0,
            avoid: None,
        }
    }

    /// True while new connections had better pass directly.
    async fn is_lost(&mut self, rules: &Arc<Mutex<Option<Rules>>>, state: &SharedState) -> bool {
        if let Some(until) = self.avoid {
            if Instant::now() < until {
                return true;
            }
            *self = Reach::new(state);
        }
        if self.looked.elapsed() < LOOK {
            return false;
        }
        let rules = Arc::clone(rules);
        let count = move || {
            let rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
            rules.as_ref().map_or(Ok(0), Rules::taken)
        };
        // Those on their way while this is counted have reached it by the next look.
        let sent = tokio::task::spawn_blocking(count).await;
        let sent = sent.ok().and_then(Result::ok).unwrap_or(0);
        let arrived = arrived(state);
        let lost = arrived == self.arrived && sent >= self.sent.saturating_add(LOST);
        // The rules' counter starts again when they are switched.
        (self.looked, self.arrived, self.sent) = (Instant::now(), arrived, sent);
        if lost {
            tracing::error!(
                "connections are intercepted and do not arrive here, so they pass directly for \
                 10 min: does a firewall of this machine drop them? Let it accept packets with \
                 the mark {}, such as `nft insert rule inet filter input meta mark {} accept`",
                mark(state),
                mark(state)
            );
            self.avoid = Some(Instant::now() + AVOID);
        }
        lost
    }
}

fn mark(state: &SharedState) -> u32 {
    state.config().intercept.as_ref().map_or(0, |it| it.mark)
}

/// Connections that have reached the gateway, whatever became of them.
fn arrived(state: &SharedState) -> u64 {
    state.counters.connections_opened.get() + state.counters.connections_turned_away.get()
}

/// For how long a peer has been silent that is so since then, or has been for long.
fn silence(since: Option<Instant>) -> Duration {
    since.map_or(SILENCE, |since| since.elapsed())
}

/// What the file says of the time without the other box.
fn when_down(config: &Config) -> WhenDown {
    let tunnel = config.tunnel.as_ref();
    tunnel.map_or(WhenDown::Open, |tunnel| tunnel.when_down)
}

/// What is to become of new connections, when the other box has been silent for
/// `silence`.
fn wanted(fitness: Fitness, silence: Duration, config: &Config) -> Passing {
    match (fitness, when_down(config)) {
        (Fitness::Ready, _) => Passing::Gateway,
        (Fitness::AtLimit | Fitness::NotReached, _) => Passing::Direct,
        (Fitness::PeerDown, _) if silence < SILENCE => Passing::Gateway,
        (Fitness::PeerDown | Fitness::PeerDrains, WhenDown::Closed) => Passing::Refused,
        (Fitness::PeerDown | Fitness::PeerDrains, WhenDown::Open) => Passing::Direct,
    }
}

/// What is to become of the UDP that the file says is to be carried. What TCP lacks is no reason to move
/// flows.
fn wanted_for_udp(fitness: Fitness, carries: bool, config: &Config) -> Passing {
    match (fitness, when_down(config)) {
        (Fitness::PeerDrains, WhenDown::Closed) => Passing::Refused,
        (Fitness::PeerDrains, WhenDown::Open) => Passing::Direct,
        _ if carries => Passing::Gateway,
        (_, WhenDown::Closed) => Passing::Refused,
        _ => Passing::Direct,
    }
}

fn report_udp(passing: Passing) {
    let why = "the other box cannot carry it now";
    match passing {
        Passing::Gateway => tracing::info!("UDP is carried"),
        Passing::Direct => tracing::warn!("UDP passes beside the gateway: {why}"),
        Passing::Refused => tracing::warn!("UDP is refused: {why}"),
    }
}

fn report(passing: Passing, fitness: Fitness) {
    let why = match fitness {
        Fitness::AtLimit => "a limit is reached",
        Fitness::NotReached => "they do not reach the gateway",
        Fitness::PeerDrains => "the other box is about to stop",
        Fitness::PeerDown | Fitness::Ready => "the other box does not answer",
    };
    match passing {
        Passing::Gateway => tracing::info!("new connections go through the gateway"),
        Passing::Direct => tracing::warn!("new connections pass directly: {why}"),
        Passing::Refused => tracing::warn!("new connections are refused: {why}"),
    }
}

/// Switches the rules, on a thread that may wait for `nft`. False where it fails.
async fn switch(
    rules: &Arc<Mutex<Option<Rules>>>,
    state: &Arc<SharedState>,
    treatment: Treatment,
) -> bool {
    let (rules, state) = (Arc::clone(rules), Arc::clone(state));
    let switched = tokio::task::spawn_blocking(move || {
        let mut rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(rules) = rules.as_mut() else {
            return true;
        };
        // The counters start again with the rules.
        let passed = rules.passed().unwrap_or(0);
        let number = match rules.treatment().tcp {
            Passing::Refused => &state.counters.connections_turned_away,
            Passing::Gateway | Passing::Direct => &state.counters.connections_bypassed,
        };
        let switched = rules.switch(treatment);
        if let Err(error) = &switched {
            tracing::error!("the rules stay as they are: {error}");
        } else {
            number.add(passed);
            state.note_new_connections(treatment.tcp);
        }
        switched.is_ok()
    });
    switched.await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    #[test]
    fn what_cannot_be_served_passes_or_is_refused() {
        let config = |when_down: &str| {
            let text = format!(
                "role = \"terminal\"\n[tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n\
                 when_down = \"{when_down}\"\n[intercept]\n"
            );
            config_from_str(&text).unwrap()
        };
        let (open, closed) = (config("open"), config("closed"));
        let long = SILENCE;
        for config in [&open, &closed] {
            assert_eq!(wanted(Fitness::Ready, long, config), Passing::Gateway);
            assert_eq!(wanted(Fitness::AtLimit, long, config), Passing::Direct);
            assert_eq!(wanted(Fitness::NotReached, long, config), Passing::Direct);
            let short = Duration::from_secs(1);
            assert_eq!(wanted(Fitness::PeerDown, short, config), Passing::Gateway);
        }
        assert_eq!(wanted(Fitness::PeerDown, long, &open), Passing::Direct);
        assert_eq!(wanted(Fitness::PeerDown, long, &closed), Passing::Refused);
        for fitness in [
            Fitness::Ready,
            Fitness::AtLimit,
            Fitness::NotReached,
            Fitness::PeerDown,
        ] {
            for config in [&open, &closed] {
                assert_eq!(wanted_for_udp(fitness, true, config), Passing::Gateway);
            }
            assert_eq!(wanted_for_udp(fitness, false, &open), Passing::Direct);
            assert_eq!(wanted_for_udp(fitness, false, &closed), Passing::Refused);
        }
        let drains = Fitness::PeerDrains;
        assert_eq!(wanted_for_udp(drains, true, &open), Passing::Direct);
        assert_eq!(wanted_for_udp(drains, true, &closed), Passing::Refused);
        let short = Duration::ZERO;
        assert_eq!(wanted(Fitness::PeerDrains, short, &open), Passing::Direct);
        assert_eq!(
            wanted(Fitness::PeerDrains, short, &closed),
            Passing::Refused
        );
    }
}
