//! The board: state that the running parts publish for the operator, and settings that the operator
//! changes while they run.

use super::associations::{Association, Associations, Told};
use super::records::{Record, Records};
use crate::config::{Config, Role};
use crate::counters::{Counters, Described};
use crate::intercept::Passing;
use crate::tunnel::association::{Health, Lost};
use crate::usage::Usages;
use bentpipe_units::Rate;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How one box reaches the other.
#[derive(Clone, Debug)]
pub enum Path {
    /// A QUIC association.
    Quic(quinn::Connection),
    /// TLS over TCP, a connection for each.
    Tls(SocketAddr),
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// As it should be.
    Good,
    /// It works, worse than it could.
    Warning,
    /// It does not work.
    Error,
}

impl Severity {
    /// The word of JSON and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Good => "ok",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A finding of the self-check.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The subject of the check, in a word or two.
    pub what: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The finding, in one sentence.
    pub found: String,
    /// How it is mended; empty where nothing is to be done.
    pub remedy: String,
}

/// One of a terminal's hubs.
#[derive(Clone, Debug)]
pub(crate) struct HubState {
    /// Where it is, as the configuration writes it.
    pub(crate) hub: String,
    /// The WAN over which, where there are several.
    pub(crate) wan: Option<String>,
    /// The address at which it answers, or may; `None` where its name is not resolved.
    pub(crate) address: Option<SocketAddr>,
    /// How it answers.
    pub(crate) health: Health,
    /// Since when.
    pub(crate) since: Instant,
    /// Round trip, while there is an association.
    pub(crate) rtt: Option<Duration>,
    /// What is wrong.
    pub(crate) reason: Option<String>,
    /// It takes new connections.
    pub(crate) used: bool,
}

impl HubState {
    fn status(&self) -> Value {
        json!({
            "hub": self.hub,
            "wan": self.wan,
            "address": self.address.map(shown),
            "state": self.health.word(),
            "since_seconds": self.since.elapsed().as_secs(),
            "used": self.used,
            "rtt_seconds": self.rtt.map(|rtt| rtt.as_secs_f64()),
            "reason": self.reason,
        })
    }
}

/// All of something, in millionths.
const WHOLE: u64 = 1_000_000;

/// What the running parts write down, and what the operator changes.
pub struct SharedState {
    /// The numbers.
    pub counters: Counters,
    config: watch::Sender<Arc<Config>>,
    started: Instant,
    draining: AtomicBool,
    /// What the rules of interception do with new connections, where there are rules.
    new_connections: Mutex<Option<Passing>>,
    delivered: AtomicU64,
    /// What the link delivers, as a part of the rate that is sent, in millionths.
    verified: AtomicU64,
    associations: Mutex<Associations>,
    number: AtomicU64,
    findings: Mutex<Vec<Finding>>,
    hubs: Mutex<Vec<HubState>>,
    rate: watch::Sender<Option<Rate>>,
    usages: Arc<Usages>,
    records: Records,
    /// Ends of the flows of UDP that this hub sends from clients' addresses.
    udp_ends: Mutex<HashSet<(SocketAddr, SocketAddr)>>,
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedState")
            .field("name", &self.config().name)
            .finish_non_exhaustive()
    }
}

/// Keeps an association listed until it is dropped.
#[derive(Debug)]
pub struct Listed {
    state: Arc<SharedState>,
    key: (String, u64),
}

impl Listed {
    /// Notes in which direction nothing passes, if in any.
    pub(crate) fn note_lost(&self, lost: Option<Lost>) {
        if let Some(one) = locked(&self.state.associations).get_mut(&self.key) {
            one.lost = lost;
        }
    }

    /// Notes whether the other box is about to stop.
    pub(crate) fn note_draining(&self, drains: bool) {
        if let Some(one) = locked(&self.state.associations).get_mut(&self.key) {
            one.drains = drains;
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        locked(&self.state.associations).remove(&self.key);
        self.state.counters.associations_active.subtract(1);
    }
}

/// The value, also after a panic of another thread: the values are whole
/// at any time.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two ends that no other flow of UDP has.
#[derive(Debug)]
pub(crate) struct Ends {
    state: Arc<SharedState>,
    ends: (SocketAddr, SocketAddr),
}

impl Drop for Ends {
    fn drop(&mut self) {
        locked(&self.state.udp_ends).remove(&self.ends);
    }
}

impl SharedState {
    /// The state of a gateway that starts now.
    #[must_use]
    pub fn new(config: &Config) -> Arc<SharedState> {
        let records = Records::default();
        records.hold_to(config.log.flows.as_deref());
        Arc::new(SharedState {
            counters: Counters::default(),
            config: watch::Sender::new(Arc::new(config.clone())),
            started: Instant::now(),
            draining: AtomicBool::new(false),
            new_connections: Mutex::default(),
            delivered: AtomicU64::new(0),
            verified: AtomicU64::new(WHOLE),
            associations: Mutex::default(),
            number: AtomicU64::new(0),
            findings: Mutex::default(),
            hubs: Mutex::default(),
            rate: watch::Sender::new(config.link.configured()),
            usages: Arc::default(),
            records,
            udp_ends: Mutex::default(),
        })
    }

    /// The configuration in force. Code that reads it for each connection follows a reload.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.borrow())
    }

    /// The configuration in force, as it changes. The first is shown as a change: a reload may have come
    /// before whoever follows.
    pub(crate) fn follow_config(&self) -> watch::Receiver<Arc<Config>> {
        let mut configs = self.config.subscribe();
        configs.mark_changed();
        configs
    }

    /// Puts another configuration into force.
    pub fn set_config(&self, config: Arc<Config>) {
        self.records.hold_to(config.log.flows.as_deref());
        self.config.send_replace(Arc::clone(&config));
        // Who joins meanwhile has it.
        self.usages.renew(&config);
    }

    /// Writes a record of what has ended, where records are written.
    pub(crate) fn record(&self, record: impl FnOnce() -> Record) {
        if !self.records.write(record) {
            self.counters.records_dropped.increment();
        }
    }

    /// Takes the ends of a flow of UDP, client and server, until what is returned is dropped; `None` where
    /// another flow has them.
    pub(crate) fn take_ends(
        self: &Arc<SharedState>,
        ends: (SocketAddr, SocketAddr),
    ) -> Option<Ends> {
        let taken = locked(&self.udp_ends).insert(ends);
        taken.then(|| Ends {
            state: Arc::clone(self),
            ends,
        })
    }

    /// What each subscriber carries.
    pub(crate) fn usages(&self) -> &Arc<Usages> {
        &self.usages
    }

    /// Lists an association until the guard is dropped. `peer` is the
    /// public key of the other box, as the configuration writes it, and `wan` the WAN that it uses,
    /// where there are several.
    #[must_use]
    pub fn list(self: &Arc<SharedState>, peer: &str, wan: Option<&str>, path: Path) -> Listed {
        let key = (peer.to_owned(), self.number.fetch_add(1, Relaxed));
        let association = Association {
            path,
            wan: wan.map(str::to_owned),
            since: Instant::now(),
            lost: None,
            drains: false,
        };
        locked(&self.associations).insert(key.clone(), association);
        self.counters.associations_active.increment();
        Listed {
            state: Arc::clone(self),
            key,
        }
    }

    /// The established paths to the other boxes, each with the other's key.
    #[must_use]
    pub fn paths(&self) -> Vec<(String, Path)> {
        locked(&self.associations).paths()
    }

    /// What QUIC says of the associations, once for each box and WAN.
    pub(crate) fn told(&self) -> Vec<Told> {
        locked(&self.associations).told()
    }

    /// The rate that holds now, `None` while it is measured; whoever sends follows
    /// its changes.
    #[must_use]
    pub fn rate(&self) -> watch::Receiver<Option<Rate>> {
        self.rate.subscribe()
    }

    /// Sets the rate: from the modem, the rate file or the operator. True if that is a change.
    pub fn set_rate(&self, rate: Option<Rate>) -> bool {
        self.rate.send_if_modified(|now| {
            let changed = *now != rate;
            *now = rate;
            changed
        })
    }

    /// Notes how fast the satellite link took data in the last second or so.
    pub fn note_delivered(&self, rate: Rate) {
        self.delivered.store(rate.bps(), Relaxed);
    }

    /// How fast the satellite link took data in the last second or so.
    #[must_use]
    pub fn delivered(&self) -> Rate {
        Rate::from_bps(self.delivered.load(Relaxed))
    }

    /// Notes what the link delivers, and the rate that is sent into it at most.
    pub(crate) fn note_verified(&self, verified: Option<Rate>, rate: Option<Rate>) {
        let part = match (verified, rate) {
            (Some(verified), Some(rate)) if rate > Rate::ZERO => {
                (verified.bps_f64() / rate.bps_f64() * WHOLE as f64) as u64
            }
            _ => WHOLE,
        };
        self.verified.store(part.min(WHOLE), Relaxed);
    }

    /// The rate that the link delivers: the one that holds, unless less is found to arrive. `None`
    /// where it is measured.
    #[must_use]
    pub fn verified(&self) -> Option<Rate> {
        let rate = *self.rate.borrow();
        let part = self.verified.load(Relaxed) as f64 / WHOLE as f64;
        rate.map(|rate| Rate::from_bps_f64(rate.bps_f64() * part))
    }

    /// Notes that no new connections are taken.
    pub fn note_draining(&self) {
        self.draining.store(true, Relaxed);
    }

    /// Notes what the rules of interception do with new connections from now on.
    pub(crate) fn note_new_connections(&self, passing: Passing) {
        let noted = self.new_connections.lock();
        *noted.unwrap_or_else(PoisonError::into_inner) = Some(passing);
    }

    /// A hub's rules are about the way back only.
    fn new_connections(&self) -> Option<Passing> {
        let noted = self.new_connections.lock();
        let noted = *noted.unwrap_or_else(PoisonError::into_inner);
        noted.filter(|_| self.config().role != Role::Hub)
    }

    /// The latest findings of the self-check.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        locked(&self.findings).clone()
    }

    /// Replaces what the self-check has found.
    pub fn note_findings(&self, findings: Vec<Finding>) {
        *locked(&self.findings) = findings;
    }

    /// A terminal's hubs, in order of preference.
    pub(crate) fn hubs(&self) -> Vec<HubState> {
        locked(&self.hubs).clone()
    }

    /// Notes how a terminal's hubs answer.
    pub(crate) fn note_hubs(&self, hubs: Vec<HubState>) {
        *locked(&self.hubs) = hubs;
    }

    /// How long the gateway runs.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Every counter with its declaration and value. Those of bytes are current while connections last.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static Described, u64)> {
        let [sent, received] = self.usages.carried();
        self.counters.bytes_to_satellite.raise(sent);
        self.counters.bytes_from_satellite.raise(received);
        self.counters.list()
    }

    /// Everything, as `bentpipe gateway status --json` prints it.
    #[must_use]
    pub fn status(&self) -> Value {
        let mut numbers = Map::new();
        for (described, value) in self.numbers() {
            numbers.insert(described.name.to_owned(), value.into());
        }
        let mut cuts = Map::new();
        for (why, count) in self.counters.cuts() {
            cuts.insert(why.words().to_owned(), count.into());
        }
        let associations = locked(&self.associations).status();
        let findings = self.findings();
        let findings: Vec<Value> = findings.iter().map(Finding::json).collect();
        let (resident, descriptors) = process();
        let hubs: Vec<Value> = self.hubs().iter().map(HubState::status).collect();
        let config = self.config();
        json!({
            "name": config.name,
            "role": config.role.word(),
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "state": if self.draining.load(Relaxed) { "draining" } else { "running" },
            "uptime_seconds": self.uptime().as_secs(),
            "new_connections": self.new_connections().map(Passing::word),
            "rate_bits_per_second": self.rate.borrow().map(Rate::bps),
            "verified_bits_per_second": self.verified().map(Rate::bps),
            "delivered_bits_per_second": self.delivered().bps(),
            "hubs": hubs,
            "associations": associations,
            "terminals": self.usages.terminals_status(&config),
            "subscribers": self.usages.status(),
            "classes": self.usages.classes_status(),
            "counters": numbers,
            "cut": cuts,
            "memory_resident_bytes": resident,
            "descriptors": descriptors,
            "findings": findings,
        })
    }
}

impl Finding {
    /// As status and doctor print it with `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "what": self.what,
            "severity": self.severity.word(),
            "found": self.found,
            "remedy": self.remedy,
        })
    }
}

/// An address as people write it: an IPv4 address at a socket of IPv6 as IPv4.
pub(super) fn shown(address: SocketAddr) -> String {
    crate::tunnel::shaper::canonical(address).to_string()
}

/// Resident memory in bytes, and open descriptors, of this process.
#[must_use]
pub fn process() -> (Option<u64>, Option<u64>) {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let resident = status.and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    let folder = std::fs::read_dir("/proc/self/fd").ok();
    let descriptors = folder.map(|entries| entries.count() as u64);
    (resident.map(|kib| kib * 1024), descriptors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    const HUB: &str = "role = \"hub\"\n[link]\nrate = \"20 Mbit/s\"\n[tunnel]\npeers = [\"k\"]\n";

    #[tokio::test]
    async fn a_reload_before_somebody_follows_is_not_lost() {
        let state = SharedState::new(&config_from_str(HUB).unwrap());
        let other = HUB.replace("20 Mbit/s", "5 Mbit/s");
        state.set_config(Arc::new(config_from_str(&other).unwrap()));
        let mut configs = state.follow_config();
        let changed = tokio::time::timeout(Duration::from_secs(5), configs.changed());
        changed.await.unwrap().unwrap();
        assert_eq!(
            configs.borrow_and_update().link.configured(),
            Some(Rate::from_mbps(5))
        );
    }

    #[test]
    fn the_status_shows_what_was_written_down() {
        let state = SharedState::new(&config_from_str(HUB).unwrap());
        let address = "192.0.2.1:4433".parse().unwrap();
        let listed = state.list("bpk1ship", None, Path::Tls(address));
        state.counters.connections_opened.add(3);
        let status = state.status();
        assert_eq!(status["associations"][0]["peer"], "bpk1ship");
        assert_eq!(status["counters"]["connections_opened"], 3);
        assert_eq!(status["counters"]["associations_active"], 1);
        assert_eq!(status["rate_bits_per_second"], 20_000_000);
        assert_eq!(status["verified_bits_per_second"], 20_000_000);
        state.note_verified(Some(Rate::from_mbps(1)), Some(Rate::from_mbps(10)));
        assert_eq!(state.status()["verified_bits_per_second"], 2_000_000);
        assert!(status["descriptors"].as_u64().unwrap() > 2);
        drop(listed);
        assert_eq!(state.status()["associations"], json!([]));
        assert_eq!(state.counters.associations_active.get(), 0);
    }

    #[test]
    fn a_new_rate_reaches_those_who_send() {
        let state = SharedState::new(&config_from_str(HUB).unwrap());
        let rate = state.rate();
        assert!(state.set_rate(Some(Rate::from_mbps(18))));
        assert!(!state.set_rate(Some(Rate::from_mbps(18))));
        assert!(rate.has_changed().unwrap());
        assert_eq!(*rate.borrow(), Some(Rate::from_mbps(18)));
    }
}
