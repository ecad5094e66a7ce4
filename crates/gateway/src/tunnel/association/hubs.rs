//! The hubs of a terminal: an association with each, and the one that takes new connections.
//!
//! All of them stand, so that each hub's health is known and a change costs no round trip; those that
//! are not in use carry heartbeats only. They share the rate of the link and the memory. Which one
//! takes new connections is decided in [`choice`](super::choice); what is open stays with the hub
//! that it was opened at. A hub that hands over to another process gets associations with that one, too,
//! and the ones before end with the old process.

use super::choice::{Seen, choose, rank};
use super::claims::Claims;
use super::client::{Client, Common};
use super::group::Group;
use super::split::split;
use super::uplink::Uplink;
use super::{Health, Status};
use crate::CloseReason;
use crate::config::{Config, Tunnel};
use crate::operate::SharedState;
use crate::tunnel::codec::Hello;
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::known::Knowledge;
use crate::tunnel::stream::{Receiver, Sender};
use crate::udp::Entrance;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// Time in addition to that of the handshakes over QUIC and TLS, from the start, in which a better hub
/// is taken as soon as it answers: the first one to answer need not be the preferred one.
const START: Duration = Duration::from_secs(3);
/// How often the link is divided among hubs that send at the same time.
const DIVIDED: Duration = Duration::from_millis(500);
/// How long associations with a process that has handed over are kept: longer than it keeps them.
const OLD: Duration = Duration::from_secs(2 * 3600);
/// Longest time until the hubs are shown anew.
const SHOWN: Duration = Duration::from_secs(1);

/// The terminal's side: an association with each of its hubs.
#[derive(Debug)]
pub struct Hubs {
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 3],
}

#[derive(Debug)]
struct Shared {
    common: Common,
    /// Until then a better hub is taken at once.
    settles: Instant,
    hubs: Mutex<Vec<Entry>>,
    /// The one that takes new connections.
    current: watch::Sender<Arc<Group>>,
    status: watch::Sender<Status>,
    changed: Arc<Notify>,
    /// Another process of this terminal takes new connections.
    leaves: AtomicBool,
}

/// One hub.
#[derive(Debug)]
struct Entry {
    group: Arc<Group>,
    status: watch::Receiver<Status>,
    /// Tells of its changes.
    follower: JoinHandle<()>,
    /// When it was taken off the list, or its process handed over.
    retired: Option<Instant>,
    /// How the new process answers, where it handed over.
    successor: Option<watch::Receiver<Status>>,
    /// The old one has been told that nothing new comes to it.
    moved: bool,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

impl Entry {
    fn start(group: Group, changed: &Arc<Notify>) -> Entry {
        let (status, mut changes) = (group.status(), group.status());
        let changed = Arc::clone(changed);
        let follower = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                changed.notify_one();
            }
        });
        Entry {
            group: Arc::new(group),
            status,
            follower,
            retired: None,
            successor: None,
            moved: false,
        }
    }

    /// Whether its process has handed over, and the new one answers as well as it does.
    fn is_replaced(&self) -> bool {
        let by = |successor: &watch::Receiver<Status>| {
            rank(successor.borrow().health) <= rank(self.status.borrow().health)
        };
        self.successor.as_ref().is_some_and(by)
    }

    /// What counts of it in the choice. One that is taken off the list carries connections only while
    /// no other can, and one whose process has handed over until the new one does.
    fn seen(&self, status: &Status) -> Seen {
        // A short outage is no way back: what is told that nothing new comes may end.
        let replaced = self.moved || self.is_replaced();
        let leaves = self.retired.is_some() && (self.successor.is_none() || replaced);
        let health = match status.health {
            Health::Up | Health::Fallback if leaves => Health::Outage,
            health => health,
        };
        Seen {
            health,
            since: status.since,
        }
    }
}

impl Hubs {
    /// Begins to connect to all of them. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// There is none, or the congestion control cannot run over QUIC.
    pub fn start(
        config: &Config,
        tunnel: &Tunnel,
        keys: Keys,
        hello: Hello,
        state: &Arc<SharedState>,
    ) -> io::Result<Hubs> {
        let common = Common {
            state: Arc::clone(state),
            credentials: Credentials::new(keys),
            hello,
            uplinks: Uplink::all(config, tunnel, state)?,
            claims: Claims::default(),
            entrance: Entrance::new(state),
        };
        let changed = Arc::new(Notify::new());
        let start = |hub| Entry::start(Group::start(tunnel, hub, &common), &changed);
        let hubs: Vec<Entry> = tunnel.hubs.iter().map(start).collect();
        let first = hubs.first().map(|entry| Arc::clone(&entry.group));
        let first = first.ok_or_else(|| io::Error::other("a terminal needs a hub"))?;
        common.entrance.prefer(first.owner());
        let shared = Arc::new(Shared {
            common,
            settles: Instant::now() + 8 * config.link.rtt + START,
            hubs: Mutex::new(hubs),
            current: watch::Sender::new(first),
            status: watch::Sender::new(Status::new()),
            changed,
            leaves: AtomicBool::new(false),
        });
        let tasks = [
            tokio::spawn(choose_always(Arc::clone(&shared))),
            tokio::spawn(follow(Arc::clone(&shared))),
            tokio::spawn(divide(Arc::clone(&shared))),
        ];
        Ok(Hubs { shared, tasks })
    }

    /// How the hub in use answers, as it changes.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// Leaves new connections to another process of this terminal.
    pub(crate) fn leave(&self) {
        self.shared.leaves.store(true, Ordering::Relaxed);
    }

    /// What is known of its links, `[link]` first.
    pub(crate) fn links(&self) -> Vec<Arc<Knowledge>> {
        let uplinks = self.shared.common.uplinks.iter();
        uplinks
            .map(|it| Arc::clone(it.sending.knowledge()))
            .collect()
    }

    /// The flows of UDP.
    pub(crate) fn udp(&self) -> &Arc<Entrance> {
        &self.shared.common.entrance
    }

    /// Opens a stream to the hub in use, or takes a connection of the fallback; waits up to `patience`
    /// for either. Where another hub takes its place meanwhile, to that one.
    ///
    /// # Errors
    /// None of them answers.
    pub async fn open(&self, patience: Duration) -> Result<(Sender, Receiver), CloseReason> {
        let mut current = self.shared.current.subscribe();
        let open = async {
            loop {
                let group = Arc::clone(&current.borrow_and_update());
                let opened = tokio::select! {
                    biased;
                    opened = group.open(patience) => opened,
                    Ok(()) = current.changed() => continue,
                };
                // It may have been left in the same moment.
                if opened.is_ok() || !current.has_changed().unwrap_or(false) {
                    break (group, opened);
                }
            }
        };
        let opened = tokio::time::timeout(patience, open).await;
        let (group, opened) = opened.map_err(|_| CloseReason::PeerGone)?;
        // Nothing has left yet, so that another hub may take it where this one has just gone.
        match self.shared.other(&group).filter(|_| opened.is_err()) {
            Some(other) => other.open(patience).await,
            None => opened,
        }
    }

    /// Closes all associations and makes no others; streams that are open are cut.
    pub async fn stop(&self) {
        self.abort();
        let groups = self.shared.groups();
        for group in groups {
            group.stop().await;
        }
    }

    fn abort(&self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Drop for Hubs {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Keeps the best hub in use until it is cancelled.
async fn choose_always(shared: Arc<Shared>) {
    loop {
        let again = shared.choose();
        let shown = Instant::now() + SHOWN;
        let next = again.map_or(shown, |again| again.min(shown));
        tokio::select! {
            () = shared.changed.notified() => {}
            () = tokio::time::sleep_until(next.into()) => {}
        }
    }
}

/// Follows the configuration until it is cancelled.
async fn follow(shared: Arc<Shared>) {
    let mut configs = shared.common.state.follow_config();
    while configs.changed().await.is_ok() {
        let config = Arc::clone(&configs.borrow_and_update());
        if let Some(tunnel) = &config.tunnel {
            shared.renew(&config, tunnel);
        }
    }
}

/// Divides the link among hubs that send at the same time, until it is cancelled.
async fn divide(shared: Arc<Shared>) {
    let mut before: HashMap<usize, u64> = HashMap::new();
    let links = shared.common.uplinks.len();
    let mut ticks = tokio::time::interval(DIVIDED);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = Instant::now();
    loop {
        ticks.tick().await;
        let groups = shared.groups();
        let millis = u64::try_from(last.elapsed().as_millis()).unwrap_or(u64::MAX);
        last = Instant::now();
        // Two processes of a hub divide its part between them.
        let is_first = |(at, group): &(usize, &Arc<Group>)| {
            !groups[..*at].iter().any(|it| it.hub() == group.hub())
        };
        let hubs = groups.iter().enumerate().filter(is_first);
        let hubs: Vec<_> = hubs.map(|(_, group)| group.hub()).collect();
        let mut now = HashMap::new();
        // Each WAN has a rate of its own, which all hubs share.
        for link in 0..links {
            let of_hub = |hub| {
                let of_hub = groups.iter().filter(move |it| it.hub() == hub);
                of_hub.filter_map(move |it| it.clients().get(link))
            };
            let mut rate = |client: &Client| {
                let (id, bytes) = client.arrived()?;
                now.insert(id, bytes);
                let more = bytes.saturating_sub(before.get(&id).copied().unwrap_or(bytes));
                Some(1000 * more / millis.max(1))
            };
            let mut rates = Vec::new();
            for hub in &hubs {
                rates.push(of_hub(*hub).filter_map(&mut rate).sum());
            }
            for (hub, part) in hubs.iter().zip(split(&rates)) {
                for client in of_hub(*hub) {
                    client.tell_part(part);
                }
            }
        }
        before = now;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.hubs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn groups(&self) -> Vec<Arc<Group>> {
        let hubs = self.lock();
        hubs.iter().map(|entry| Arc::clone(&entry.group)).collect()
    }

    /// The first hub besides this one that carries connections.
    fn other(&self, group: &Arc<Group>) -> Option<Arc<Group>> {
        let hubs = self.lock();
        let mut others = hubs.iter().filter(|it| !Arc::ptr_eq(&it.group, group));
        let other = others.find(|it| it.retired.is_none() && it.status.borrow().serves())?;
        Some(Arc::clone(&other.group))
    }

    /// Makes associations with the new process of each hub that has handed over.
    fn follow_handed_over(self: &Arc<Shared>, hubs: &mut Vec<Entry>) {
        let config = self.common.state.config();
        let Some(tunnel) = &config.tunnel else { return };
        let is_told = |it: &Entry| it.successor.is_none() && it.group.is_handed_over();
        while let Some(at) = hubs.iter().position(is_told) {
            let old = &mut hubs[at];
            old.group.finish();
            let group = Arc::clone(&old.group);
            let is_off_the_list = old.retired.is_some();
            let since = *old.retired.get_or_insert_with(Instant::now);
            tokio::spawn(Arc::clone(self).retire(Arc::clone(&group), since, OLD));
            if is_off_the_list || self.leaves.load(Ordering::Relaxed) {
                // New connections are another hub's, or another process's of this terminal.
                old.successor = Some(old.status.clone());
                old.moved = true;
                group.tell_moved();
            } else {
                let new = Group::start(tunnel, group.hub(), &self.common);
                old.successor = Some(new.status());
                hubs.insert(at, Entry::start(new, &self.changed));
            }
        }
    }

    /// Puts the best hub in use and shows them all; returns when there may be a better one.
    fn choose(self: &Arc<Shared>) -> Option<Instant> {
        let now = Instant::now();
        let config = self.common.state.config();
        let steady = match &config.tunnel {
            Some(tunnel) if now >= self.settles => tunnel.return_after,
            _ => Duration::ZERO,
        };
        let mut hubs = self.lock();
        self.follow_handed_over(&mut hubs);
        let seen: Vec<Status> = hubs.iter().map(|it| it.status.borrow().clone()).collect();
        let current = Arc::clone(&self.current.borrow());
        let place = hubs.iter().position(|it| Arc::ptr_eq(&it.group, &current));
        let short = hubs.iter().zip(&seen).map(|(it, status)| it.seen(status));
        let choice = choose(&short.collect::<Vec<_>>(), place, now, steady);
        let (Some(chosen), Some(status)) = (hubs.get(choice.hub), seen.get(choice.hub)) else {
            return None;
        };
        if !Arc::ptr_eq(&chosen.group, &current) {
            let (hub, before) = (chosen.group.hub(), current.hub());
            if hub == before {
                tracing::info!(%hub, "new connections go to the hub's new process");
            } else {
                tracing::info!(%hub, instead_of = %before, "new connections go to another hub");
            }
            self.common.state.counters.hubs_changed.increment();
            self.current.send_replace(Arc::clone(&chosen.group));
        }
        self.common.entrance.prefer(chosen.group.owner());
        self.status.send_if_modified(|shown| {
            let changed = shown != status;
            shown.clone_from(status);
            changed
        });
        let (in_use, chosen) = (chosen.group.hub().clone(), Arc::clone(&chosen.group));
        for (at, entry) in hubs.iter_mut().enumerate() {
            // What replaces the one in use is needed.
            let spare = at != choice.hub && *entry.group.hub() != in_use;
            entry.group.relax(spare && status.serves());
            if entry.is_replaced() && !Arc::ptr_eq(&entry.group, &chosen) && !entry.moved {
                entry.moved = true;
                entry.group.tell_moved();
            }
        }
        let shown = hubs.iter().enumerate();
        let shown = shown.filter(|(at, it)| it.retired.is_none() || *at == choice.hub);
        let shown = shown.flat_map(|(at, it)| it.group.shown(at == choice.hub));
        self.common.state.note_hubs(shown.collect());
        choice.again
    }

    /// Takes another configuration: keys, and the list of hubs. What is open at a hub that is no longer
    /// in it may finish, for as long as at a stop.
    fn renew(self: &Arc<Shared>, config: &Config, tunnel: &Tunnel) {
        if let Some(keys) = self.common.credentials.renew(tunnel) {
            for group in self.groups() {
                group.hold_to(&keys);
            }
        }
        let mut hubs = self.lock();
        self.follow_handed_over(&mut hubs);
        let mut old = std::mem::take(&mut *hubs);
        for hub in &tunnel.hubs {
            let is_kept = |it: &Entry| it.group.hub() == hub && it.successor.is_none();
            let kept = old.iter().position(is_kept);
            let mut entry = match kept {
                Some(at) => old.swap_remove(at),
                // New connections are another process's.
                None if self.leaves.load(Ordering::Relaxed) => continue,
                None => {
                    let group = Group::start(tunnel, hub, &self.common);
                    Entry::start(group, &self.changed)
                }
            };
            entry.retired = None;
            hubs.push(entry);
        }
        for mut entry in old {
            if entry.retired.is_none() {
                let since = *entry.retired.insert(Instant::now());
                let group = Arc::clone(&entry.group);
                let drain = config.limits.drain;
                tokio::spawn(Arc::clone(self).retire(group, since, drain));
            }
            hubs.push(entry);
        }
        drop(hubs);
        self.changed.notify_one();
    }

    /// Ends the associations with a hub that was taken off the list after `drain`, unless it is on it
    /// again by then. Those with a process that has handed over may end before.
    async fn retire(self: Arc<Shared>, group: Arc<Group>, since: Instant, drain: Duration) {
        let over = async {
            while !group.is_over() {
                tokio::time::sleep(SHOWN).await;
            }
        };
        let _ = tokio::time::timeout(drain, over).await;
        {
            let mut hubs = self.lock();
            let is_it =
                |entry: &Entry| Arc::ptr_eq(&entry.group, &group) && entry.retired == Some(since);
            let Some(at) = hubs.iter().position(is_it) else {
                return;
            };
            hubs.remove(at);
        }
        group.stop().await;
        self.changed.notify_one();
    }
}
