//! The terminal's side: flows that interception and clients of SOCKS5 bring, and what comes back for them.

use super::flow::{End, Face, Flow};
use super::frame::{self, Frame, Number};
use super::parts::Parts;
use super::socket;
use super::table::Table;
use crate::config::Config;
use crate::intercept::Plan;
use crate::operate::SharedState;
use crate::tunnel::codec::{self, MOST_OPEN};
use crate::tunnel::sharing::{Datagram, Gate, Subscriber};
use crate::usage::{Class, Holder};
use crate::{Destination, Open};
use bytes::{Bytes, BytesMut};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::UdpSocket;

/// A flow that begins.
#[derive(Debug)]
pub struct Arrival {
    /// A socket that is connected to the client, who sees the server's address there.
    pub socket: UdpSocket,
    /// The client.
    pub client: SocketAddr,
    /// Where its datagrams go.
    pub server: SocketAddr,
    /// The traffic class of the first datagram, without the bits of ECN.
    pub tos: u8,
    /// Whether the hub is to send from the client's address.
    pub keep_source: bool,
}

/// The flows of a terminal.
#[derive(Debug)]
pub(crate) struct Entrance {
    pub(super) state: Arc<SharedState>,
    flows: Mutex<Flows>,
    ways: Mutex<Ways>,
}

/// The associations that stand.
#[derive(Debug, Default)]
struct Ways {
    all: Vec<Way>,
    /// The owner of the one that flows go over.
    preferred: usize,
    last: u64,
}

#[derive(Debug, Default)]
struct Flows {
    by_number: Table<Entry>,
    by_ends: HashMap<(SocketAddr, SocketAddr), Arc<Entry>>,
    last: Number,
    parts: Parts,
}

/// What begins a flow.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) face: Face,
    pub(super) client: SocketAddr,
    pub(super) server: Destination,
    pub(super) tos: u8,
    pub(super) keep_source: bool,
}

/// A flow, and what the hub has to know of it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) flow: Flow,
    server: Destination,
    tos: u8,
    open: Vec<u8>,
    /// The association over which the hub has said that it knows the flow; 0: none.
    known: AtomicU64,
    ended: AtomicBool,
}

impl Entry {
    /// Whether it carries nothing any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// Its ends, where interception has brought it.
    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        match self.server {
            Destination::Address(server) if self.flow.has_own_socket() => {
                Some((self.flow.peer, server))
            }
            _ => None,
        }
    }
}

impl AsRef<Flow> for Entry {
    fn as_ref(&self) -> &Flow {
        &self.flow
    }
}

/// An association.
#[derive(Clone, Debug)]
struct Way {
    /// Its number, which no other has.
    association: u64,
    /// The client of its hub.
    owner: usize,
    gate: Arc<Gate>,
}

/// An association that stands.
#[derive(Debug)]
pub(crate) struct Opened {
    entrance: Arc<Entrance>,
    association: u64,
}

impl Opened {
    /// Its number, which no other has.
    pub(crate) const fn association(&self) -> u64 {
        self.association
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut ways = lock(&self.entrance.ways);
        let gone = self.association;
        ways.all.retain(|way| way.association != gone);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entrance {
    pub(crate) fn new(state: &Arc<SharedState>) -> Arc<Entrance> {
        Arc::new(Entrance {
            state: Arc::clone(state),
            flows: Mutex::default(),
            ways: Mutex::default(),
        })
    }

    /// An association of this owner stands whose hub carries UDP, until what is returned is dropped.
    /// Flows then go on with the next one.
    pub(crate) fn open(self: &Arc<Entrance>, owner: usize, gate: Arc<Gate>) -> Opened {
        let mut ways = lock(&self.ways);
        ways.last += 1;
        let association = ways.last;
        ways.all.push(Way {
            association,
            owner,
            gate,
        });
        Opened {
            entrance: Arc::clone(self),
            association,
        }
    }

    /// Flows go over the association of this owner from now on.
    pub(crate) fn prefer(&self, owner: usize) {
        lock(&self.ways).preferred = owner;
    }

    /// The association that flows go over.
    fn way(&self) -> Option<Way> {
        let ways = lock(&self.ways);
        let preferred = |way: &&Way| way.owner == ways.preferred;
        ways.all.iter().find(preferred).cloned()
    }

    /// Whether UDP is carried now.
    pub(crate) fn is_open(&self) -> bool {
        self.way().is_some()
    }

    /// Takes a datagram that an association has brought.
    pub(crate) fn take(&self, association: u64, datagram: Bytes) {
        let Ok(frame) = frame::decode(datagram) else {
            return;
        };
        let Some(frame) = lock(&self.flows).parts.join(frame) else {
            return;
        };
        let find = |number| lock(&self.flows).by_number.get(number).map(Arc::clone);
        match frame {
            Frame::Data { flow, payload } => match find(flow) {
                Some(entry) => {
                    entry.known.store(association, Relaxed);
                    let counters = &self.state.counters;
                    counters.udp_from_satellite.increment();
                    counters.bytes_udp_from_satellite.add(payload.len() as u64);
                    if !entry.flow.send(&payload) {
                        counters.udp_dropped.increment();
                    }
                }
                // Its end is told so that the hub does not go on to send.
                None => self.tell_unknown(association, flow),
            },
            Frame::Known(flow) => {
                if let Some(entry) = find(flow) {
                    entry.known.store(association, Relaxed);
                }
            }
            Frame::Unknown(flow) => {
                if let Some(entry) = find(flow) {
                    entry.known.store(0, Relaxed);
                }
            }
            Frame::Open { .. } | Frame::Part { .. } => {}
        }
    }

    /// Tells the hub of an association that a flow has ended.
    fn tell_unknown(&self, association: u64, flow: Number) {
        let ways = lock(&self.ways);
        let way = ways.all.iter().find(|way| way.association == association);
        if let Some(way) = way.cloned() {
            drop(ways);
            let datagram = Datagram::between_boxes(frame::about(flow, false));
            way.gate.push(Subscriber::default(), flow, datagram);
        }
    }

    /// Serves the flow of `arrival` from its first datagram to its end.
    pub(crate) fn serve(self: &Arc<Entrance>, arrival: Arrival, first: &[u8]) {
        let beginning = Beginning {
            face: Face::Own(arrival.socket),
            client: arrival.client,
            server: arrival.server.into(),
            tos: arrival.tos,
            keep_source: arrival.keep_source,
        };
        if let Some(entry) = self.begin(beginning) {
            self.send(&entry, first);
        }
    }

    /// Begins a flow, which goes on until its end.
    pub(super) fn begin(self: &Arc<Entrance>, beginning: Beginning) -> Option<Arc<Entry>> {
        let entry = self.enter(beginning)?;
        let begun = Arc::clone(&entry);
        let entrance = Arc::clone(self);
        tokio::spawn(async move {
            let idle = entrance.state.config().udp.idle;
            let read = |payload: &[u8]| entrance.send(&entry, payload);
            let end = entry.flow.run(idle, read).await;
            entrance.leave(&entry);
            let ends = (Some(entry.flow.peer), entry.server.to_string());
            let record = || entry.flow.record(ends, None, end);
            entrance.state.record(record);
            if end == End::Refused {
                // The client's port is closed.
                let known = entry.known.load(Relaxed);
                entrance.tell_unknown(known, entry.flow.number);
            }
        });
        Some(begun)
    }

    fn enter(&self, beginning: Beginning) -> Option<Arc<Entry>> {
        let config = self.state.config();
        let Beginning {
            face,
            client,
            server: destination,
            tos,
            keep_source,
        } = beginning;
        let subscriber = Subscriber::of(client.ip(), &config.subscribers);
        let (server, dscp) = (destination.clone(), Some(tos >> 2));
        let (subscribers, priority) = (&config.subscribers, &config.priority);
        let urgency = subscribers.urgency(&destination, dscp, priority);
        let open = Open {
            destination,
            source: keep_source.then_some(client),
            subscriber: subscriber.net().map(|net| net.address()),
            urgency: Some(urgency),
            confirm: false,
        };
        let mut encoded = Vec::with_capacity(MOST_OPEN);
        // An address is always encoded, and so is what the listener takes for a name.
        codec::encode(&open, &mut encoded).ok()?;
        let holder = Holder {
            terminal: None,
            subscriber,
        };
        let member = self.state.usages().join(holder, Class::Udp, &config);
        let divisible = !config.udp.whole.contains(server.port());
        let mut flows = lock(&self.flows);
        let number = flows.free_number();
        let entry = Arc::new(Entry {
            flow: Flow::new(number, face, client, subscriber, member, divisible),
            server,
            tos,
            open: encoded,
            known: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let counters = &self.state.counters;
        if flows.insert(&entry, super::most(&config)) {
            counters.udp_flows_forgotten.increment();
        }
        drop(flows);
        counters.udp_flows.increment();
        counters.udp_flows_active.increment();
        Some(entry)
    }

    fn leave(&self, entry: &Arc<Entry>) {
        entry.ended.store(true, Relaxed);
        lock(&self.flows).remove(entry);
        self.state.counters.udp_flows_active.subtract(1);
    }

    /// Sends a datagram of a client to the hub.
    pub(super) fn send(&self, entry: &Entry, payload: &[u8]) {
        let Some(way) = self.way() else {
            self.state.counters.udp_dropped.increment();
            return;
        };
        let flow = &entry.flow;
        if !flow.member.admits(payload.len() as u64) {
            self.state.counters.udp_dropped.increment();
            return;
        }
        let length = frame::DATA_HEADER + 1 + entry.open.len() + payload.len();
        let mut datagram = BytesMut::with_capacity(length);
        if entry.known.load(Relaxed) == way.association {
            frame::put_data(flow.number, &mut datagram);
        } else {
            frame::put_open(flow.number, entry.tos, &entry.open, &mut datagram);
        }
        datagram.extend_from_slice(payload);
        let datagram = flow.datagram(datagram.freeze());
        way.gate.push(flow.subscriber, flow.number, datagram);
    }

    /// Takes what the rules bring to the gateway's own socket, for as long as that works.
    async fn intercept(self: Arc<Entrance>, listening: UdpSocket) {
        let mut buffer = vec![0; socket::MOST];
        loop {
            let came = match socket::receive(&listening, &mut buffer).await {
                Ok(came) => came,
                Err(error) => {
                    tracing::debug!(%error, "a datagram that was intercepted is lost");
                    // Where the socket itself is broken, this must not spin.
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                    continue;
                }
            };
            let payload = buffer.get(..came.length).unwrap_or_default();
            let ends = (came.client, came.server);
            let known = lock(&self.flows).by_ends.get(&ends).map(Arc::clone);
            if let Some(entry) = known {
                // It came before the flow had its socket.
                self.send(&entry, payload);
                continue;
            }
            match socket::facing(came.client, came.server) {
                Ok(socket) => {
                    let config = self.state.config();
                    let arrival = Arrival {
                        socket,
                        client: came.client,
                        server: came.server,
                        tos: came.tos,
                        keep_source: config.intercept.as_ref().is_some_and(|it| it.keep_source),
                    };
                    self.serve(arrival, payload);
                }
                Err(error) => {
                    self.state.counters.udp_dropped.increment();
                    tracing::warn!(%error, server = %came.server, "a flow of UDP cannot be carried");
                }
            }
        }
    }

    /// Listens where the rules of `plan` send UDP, until the tasks that it returns are dropped.
    ///
    /// # Errors
    /// A socket cannot be had.
    pub(crate) fn listen(
        self: &Arc<Entrance>,
        plan: &Plan,
    ) -> io::Result<tokio::task::JoinSet<()>> {
        let mut tasks = tokio::task::JoinSet::new();
        if !carries(&self.state.config()) {
            return Ok(tasks);
        }
        for address in plan.listeners() {
            tasks.spawn(Arc::clone(self).intercept(socket::intercepting(address)?));
        }
        Ok(tasks)
    }
}

/// Whether interception brings UDP.
fn carries(config: &Config) -> bool {
    config.intercept.is_some() && config.udp.carries()
}

impl Flows {
    fn free_number(&mut self) -> Number {
        loop {
            self.last = self.last.wrapping_add(1);
            if self.by_number.get(self.last).is_none() {
                return self.last;
            }
        }
    }

    /// Adds a flow; true where another is forgotten for it.
    fn insert(&mut self, entry: &Arc<Entry>, most: usize) -> bool {
        let forgotten = self.by_number.insert(entry, most);
        if let Some(forgotten) = &forgotten {
            self.remove(forgotten);
        }
        if let Some(ends) = entry.ends() {
            self.by_ends.insert(ends, Arc::clone(entry));
        }
        forgotten.is_some()
    }

    fn remove(&mut self, entry: &Arc<Entry>) {
        self.by_number.remove(entry);
        let Some(ends) = entry.ends() else {
            return;
        };
        let known = self.by_ends.get(&ends);
        if known.is_some_and(|known| Arc::ptr_eq(known, entry)) {
            self.by_ends.remove(&ends);
        }
    }
}
