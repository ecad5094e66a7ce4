//! A terminal's associations with one hub: one over each WAN, which together carry its connections.
//!
//! With one WAN a connection is a stream of its association. With several it is bonded
//! ([`bond`](crate::tunnel::bond)): it gets a subflow on each association that works, and, once the
//! hub knows it, on each that comes later.

use super::choice::rank;
use super::client::{Client, Common, Leg};
use super::uplink::Uplink;
use super::{Health, Status};
use crate::CloseReason;
use crate::config::{HubAddress, Tunnel};
use crate::operate::state::HubState;
use crate::tunnel::bond::Bond;
use crate::tunnel::codec::{Subflow, encode_subflow};
use crate::tunnel::credentials::Keys;
use crate::tunnel::stream::{Receiver, Sender};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// How long a connection waits for a stream of another WAN when it has one.
const TOGETHER: Duration = Duration::from_millis(20);

/// Time between looks for connections that do not use an association that works.
const JOIN: Duration = Duration::from_secs(1);
/// Round trips that differ by less are alike to flows of UDP.
const NEAR: Duration = Duration::from_millis(50);
/// Bonded connections that are remembered before those that have ended are looked for.
const FULL: usize = 64;

/// The associations with one hub.
#[derive(Debug)]
pub(super) struct Group {
    hub: HubAddress,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    clients: Vec<Client>,
    status: watch::Sender<Status>,
    outage: Duration,
    common: Common,
    /// Bonded connections that may last, each with the process of the hub that has it.
    bonds: Mutex<Vec<(Weak<Bond>, u64)>>,
    /// Number of them at which those that have ended are taken out.
    full: AtomicUsize,
    /// An association may have come.
    changed: Notify,
    /// The place of the one that UDP uses.
    udp: AtomicUsize,
}

impl Group {
    /// Begins to connect over all WANs. It is called in a runtime of tokio.
    pub(super) fn start(tunnel: &Tunnel, hub: &HubAddress, common: &Common) -> Group {
        let uplinks = common.uplinks.iter();
        let start = |uplink: &Arc<Uplink>| Client::start(tunnel, hub, common, uplink);
        let clients: Vec<Client> = uplinks.map(start).collect();
        let shared = Arc::new(Shared {
            clients,
            status: watch::Sender::new(Status::new()),
            outage: tunnel.outage,
            common: common.clone(),
            bonds: Mutex::default(),
            full: AtomicUsize::new(FULL),
            changed: Notify::new(),
            udp: AtomicUsize::new(0),
        });
        let places = 0..shared.clients.len();
        let follow = |place| tokio::spawn(follow(Arc::clone(&shared), place));
        let mut tasks: Vec<_> = places.map(follow).collect();
        if shared.clients.len() > 1 {
            tasks.push(tokio::spawn(keep_joined(Arc::clone(&shared))));
        }
        Group {
            hub: hub.clone(),
            tasks,
            shared,
        }
    }

    /// Where the hub is, as the configuration writes it.
    pub(super) const fn hub(&self) -> &HubAddress {
        &self.hub
    }

    /// Its associations, over the WANs in the order of the configuration.
    pub(super) fn clients(&self) -> &[Client] {
        &self.shared.clients
    }

    /// The association that flows of UDP use.
    pub(super) fn owner(&self) -> usize {
        self.shared.for_udp().owner()
    }

    /// Says whether another hub answers, so that attempts to reach this one may be rare.
    pub(super) fn relax(&self, relaxed: bool) {
        for client in self.clients() {
            client.relax(relaxed);
        }
    }

    /// Whether the hub has handed over to another process of it.
    pub(super) fn is_handed_over(&self) -> bool {
        self.clients().iter().any(Client::is_handed_over)
    }

    /// Lets the associations end with the process that they are with.
    pub(super) fn finish(&self) {
        for client in self.clients() {
            client.finish();
        }
    }

    /// Tells the process that has handed over that nothing new comes to it.
    pub(super) fn tell_moved(&self) {
        for client in self.clients() {
            client.tell_moved();
        }
    }

    /// Whether all have ended, and none follows.
    pub(super) fn is_over(&self) -> bool {
        self.clients().iter().all(Client::is_over)
    }

    /// Gives up what stands with a hub whose key is not among `keys`.
    pub(super) fn hold_to(&self, keys: &Keys) {
        for client in self.clients() {
            client.hold_to(keys);
        }
    }

    /// How the hub answers over the best of its WANs, as it changes.
    pub(super) fn status(&self) -> watch::Receiver<Status> {
        self.shared.status.subscribe()
    }

    /// What is shown of its associations; `used` where it takes new connections.
    pub(super) fn shown(&self, used: bool) -> impl Iterator<Item = HubState> {
        let show = move |client: &Client| {
            let status = client.status().borrow().clone();
            HubState {
                hub: self.hub.to_string(),
                wan: client.wan().map(str::to_owned),
                address: client.address(),
                health: status.health,
                since: status.since,
                rtt: status.rtt.filter(|_| status.health != Health::Down),
                reason: status.reason,
                used,
            }
        };
        self.clients().iter().map(show)
    }

    /// Opens a connection; waits up to `patience` for the hub to answer.
    ///
    /// # Errors
    /// It does not.
    pub(super) async fn open(&self, patience: Duration) -> Result<(Sender, Receiver), CloseReason> {
        let shared = &self.shared;
        if let [only] = self.clients() {
            return only.open(patience).await;
        }
        let mut status = self.status();
        let open = async {
            loop {
                status.borrow_and_update();
                match shared.bond().await {
                    Some(opened) => return Ok(opened),
                    None if !shared.best().bonds() && shared.best().status().borrow().serves() => {
                        // A hub of an earlier version, or one that answers over TLS alone.
                        return shared.best().open(patience).await;
                    }
                    None => status.changed().await.map_err(|_| CloseReason::PeerGone)?,
                }
            }
        };
        tokio::time::timeout(patience, open)
            .await
            .unwrap_or(Err(CloseReason::PeerGone))
    }

    /// Closes the associations and makes no others; connections that are open are cut.
    pub(super) async fn stop(&self) {
        self.abort();
        let bonds = std::mem::take(&mut *self.shared.lock());
        for bond in bonds.iter().filter_map(|(bond, _)| bond.upgrade()) {
            bond.fail();
        }
        for client in self.clients() {
            client.stop().await;
        }
    }

    fn abort(&self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<(Weak<Bond>, u64)>> {
        self.bonds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The association that works best: of those that do, the one with the shortest round trip.
    fn best(&self) -> &Client {
        let order = |client: &&Client| {
            let status = client.status();
            let status = status.borrow();
            (rank(status.health), status.rtt.unwrap_or(Duration::MAX))
        };
        // A terminal has a link.
        self.clients
            .iter()
            .min_by_key(order)
            .unwrap_or(&self.clients[0])
    }

    /// Shows how the hub answers over the best of its WANs.
    fn show(&self) {
        let best = self.best().status().borrow().clone();
        self.status.send_if_modified(|shown| {
            let changed = *shown != best;
            *shown = best;
            changed
        });
    }

    /// Opens a bonded connection over the associations that work; `None` where none does that carries
    /// them.
    async fn bond(&self) -> Option<(Sender, Receiver)> {
        let mut usable: Vec<&Client> = self.clients.iter().filter(|it| it.bonds()).collect();
        usable.sort_by_key(|it| it.status().borrow().rtt.unwrap_or(Duration::MAX));
        let mut legs = Vec::new();
        let several = usable.len() > 1;
        for client in usable {
            // Streams are there at once unless the hub allows no more of them.
            let leg = client.leg();
            let leg = match several {
                true => tokio::time::timeout(TOGETHER, leg).await.ok().flatten(),
                false => leg.await,
            };
            legs.extend(leg);
        }
        let hub = legs.first()?.hub;
        let budget = self.common.budget();
        let (bond, sender, receiver) = Bond::open(budget, self.outage);
        for leg in legs.into_iter().filter(|leg| leg.hub == hub) {
            begin(&bond, leg, true);
        }
        let mut bonds = self.lock();
        if bonds.len() >= self.full.load(Ordering::Relaxed) {
            bonds.retain(|(bond, _)| bond.strong_count() > 0);
            let full = (2 * bonds.len()).max(FULL);
            self.full.store(full, Ordering::Relaxed);
        }
        bonds.push((Arc::downgrade(&bond), hub));
        Some((sender, receiver))
    }

    /// Adds the associations that work to the connections that are open and do not use them: one that has
    /// come back, that is new, or that had no room for a stream before.
    async fn join(&self) {
        let open: Vec<_> = self.lock().clone();
        for client in self.clients.iter().filter(|it| it.bonds()) {
            let Some(path) = client.path() else { continue };
            for (bond, hub) in &open {
                let Some(bond) = bond.upgrade() else { continue };
                if !bond.is_open() || bond.uses(&path) {
                    continue;
                }
                let leg = tokio::time::timeout(TOGETHER, client.leg()).await;
                let Some(leg) = leg.ok().flatten() else { break };
                if leg.hub == *hub {
                    begin(&bond, leg, false);
                }
            }
        }
    }

    /// The association that flows of UDP use: they stay while it works as well as any, unless another has
    /// become far better, since a change gives them other ports at the hub.
    fn for_udp(&self) -> &Client {
        let best = self.best();
        let place = self.udp.load(Ordering::Relaxed);
        let Some(used) = self.clients.get(place) else {
            return best;
        };
        let of = |client: &Client| {
            let status = client.status().borrow().clone();
            (rank(status.health), status.rtt.unwrap_or(Duration::MAX))
        };
        let ((used_rank, used_rtt), (best_rank, best_rtt)) = (of(used), of(best));
        if used_rank <= best_rank
            && used_rtt
                <= best_rtt
                    .saturating_mul(2)
                    .max(best_rtt.saturating_add(NEAR))
        {
            return used;
        }
        let place = self.clients.iter().position(|it| std::ptr::eq(it, best));
        self.udp.store(place.unwrap_or(0), Ordering::Relaxed);
        best
    }
}

/// Begins a subflow.
fn begin(bond: &Arc<Bond>, leg: Leg, opens: bool) {
    let request = encode_subflow(&Subflow {
        opens,
        id: bond.id(),
        hub: leg.hub,
        window: bond.window(),
    });
    bond.attach(leg.sender, leg.receiver, &leg.path, Some(request));
}

/// Follows one association until it is cancelled.
async fn follow(shared: Arc<Shared>, place: usize) {
    let Some(client) = shared.clients.get(place) else {
        return;
    };
    let mut status = client.status();
    loop {
        shared.show();
        shared.changed.notify_one();
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// Keeps connections on all associations that work until it is cancelled.
async fn keep_joined(shared: Arc<Shared>) {
    loop {
        let _ = tokio::time::timeout(JOIN, shared.changed.notified()).await;
        shared.join().await;
    }
}
