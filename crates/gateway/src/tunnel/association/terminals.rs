//! The associations of a hub with its terminals.

use crate::tunnel::bond;
use crate::tunnel::budget::Budget;
use crate::tunnel::codec::Hello;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::moving::{Streams, Tag};
use crate::tunnel::sharing::Gate;
use crate::tunnel::stream::{Receiver, Sender};
use quinn::Connection;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An association with a terminal that is authenticated.
#[derive(Clone, Debug)]
pub struct Association {
    /// Public key of the terminal.
    pub peer: PublicKey,
    /// Time at which it was established.
    pub since: Instant,
    /// The QUIC connection to the terminal.
    pub connection: Connection,
    pub(super) hello: Hello,
    pub(super) gate: Arc<Gate>,
    pub(super) budget: Arc<Budget>,
    pub(super) streams: Arc<Streams>,
    pub(super) path: Arc<bond::Path>,
    /// The terminal sends new connections elsewhere.
    pub(super) moved: Arc<AtomicBool>,
}

impl Association {
    /// The next connection of a client, and the index of its stream; `None` when the association is
    /// lost.
    pub async fn accept(&self) -> Option<(Sender, Receiver, u64)> {
        let (send, receive) = self.connection.accept_bi().await.ok()?;
        let index = send.id().index();
        let route = self.streams.add(index);
        let sender = Sender::quic(send)
            .shared(&self.gate)
            .budgeted(&self.budget)
            .routed(&route);
        let receiver = Receiver::quic(receive)
            .budgeted(&self.budget)
            .routed(&route);
        Some((sender, receiver, index))
    }

    /// The same as bonded connections see it.
    pub(crate) const fn path(&self) -> &Arc<bond::Path> {
        &self.path
    }

    /// Its streams.
    pub(crate) const fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// Current address of the terminal.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.connection.remote_address()
    }
}

/// Associations by terminal: one each, and those that earlier processes of the same terminal drain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Associations(Arc<Mutex<HashMap<PublicKey, Vec<Association>>>>);

impl Associations {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PublicKey, Vec<Association>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The streams of a terminal's association.
    pub(crate) fn streams(&self, peer: &PublicKey, tag: Tag) -> Option<Arc<Streams>> {
        let all = self.lock();
        let mut of_peer = all.get(peer)?.iter().map(Association::streams);
        of_peer.find(|streams| streams.tag() == tag).cloned()
    }
}
