//! The hub's side of one association: flows toward their servers.

use super::flow::{End, Face, Flow};
use super::frame::{self, Frame, Number};
use super::parts::Parts;
use super::socket;
use super::table::Table;
use crate::config::Action;
use crate::operate::SharedState;
use crate::operate::state::Ends;
use crate::policy::Policy;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::sharing::{Datagram, Gate, Subscriber};
use crate::usage::{Class, Holder};
use crate::{CloseReason, Destination, Open};
use bytes::{Bytes, BytesMut};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the hub says at most that it knows a flow to which nothing comes back.
const SAYS: Duration = Duration::from_millis(500);

/// Flows of a terminal whose servers' names are looked up at a time, and datagrams of each that wait.
const LOOKUPS: usize = 64;
const WAITING: usize = 8;

/// The flows of one terminal.
#[derive(Debug)]
pub(crate) struct Exit {
    state: Arc<SharedState>,
    policy: Policy,
    terminal: PublicKey,
    gate: Arc<Gate>,
    flows: Mutex<Flows>,
}

#[derive(Debug, Default)]
struct Flows {
    table: Table<Entry>,
    parts: Parts,
    /// What waits until the name of its server is known.
    waiting: HashMap<Number, Vec<Bytes>>,
    closed: bool,
}

/// A flow, and when the terminal was told of it.
#[derive(Debug)]
struct Entry {
    flow: Flow,
    /// The client, where the terminal says who it is.
    client: Option<SocketAddr>,
    _ends: Option<Ends>,
    told: Mutex<Option<Instant>>,
}

impl AsRef<Flow> for Entry {
    fn as_ref(&self) -> &Flow {
        &self.flow
    }
}

impl Exit {
    /// The flows of `terminal` over an association whose turns `gate` gives.
    pub(crate) fn new(
        state: &Arc<SharedState>,
        policy: &Policy,
        terminal: PublicKey,
        gate: &Arc<Gate>,
    ) -> Arc<Exit> {
        Arc::new(Exit {
            state: Arc::clone(state),
            policy: policy.clone(),
            terminal,
            gate: Arc::clone(gate),
            flows: Mutex::default(),
        })
    }

    fn flows(&self) -> MutexGuard<'_, Flows> {
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The association is lost, and all flows with it.
    pub(crate) fn close(&self) {
        let mut flows = self.flows();
        flows.closed = true;
        flows.waiting.clear();
        flows.table.clear();
    }

    /// Takes a datagram of the terminal.
    pub(crate) fn take(self: &Arc<Exit>, datagram: Bytes) {
        let Ok(frame) = frame::decode(datagram) else {
            return;
        };
        let Some(frame) = self.flows().parts.join(frame) else {
            return;
        };
        let find = |number| self.flows().table.get(number).map(Arc::clone);
        match frame {
            Frame::Data { flow, payload } => match find(flow) {
                Some(entry) => self.forward(&entry, &payload),
                None => self.tell(flow, false),
            },
            Frame::Open {
                flow,
                tos,
                open,
                payload,
            } => match find(flow) {
                Some(entry) => {
                    self.forward(&entry, &payload);
                    self.remind(&entry);
                }
                None => match open.destination {
                    Destination::Address(server) => {
                        match self.begin(flow, tos & !3, &open, server, payload.len()) {
                            Ok(entry) => self.forward(&entry, &payload),
                            Err(why) => self.refuse(&open, why),
                        }
                    }
                    Destination::Name { .. } => self.look_up(flow, tos & !3, open, payload),
                },
            },
            Frame::Unknown(flow) => {
                if let Some(entry) = find(flow) {
                    entry.flow.forget();
                }
            }
            Frame::Known(_) | Frame::Part { .. } => {}
        }
    }

    fn refuse(&self, open: &Open, why: CloseReason) {
        self.state.counters.udp_refused.increment();
        tracing::debug!(server = %open.destination, why = %why, "no flow of UDP");
    }

    /// Looks the name of a server up, and begins the flow with what has come meanwhile.
    fn look_up(self: &Arc<Exit>, number: Number, tos: u8, open: Open, payload: Bytes) {
        let mut flows = self.flows();
        let full = flows.waiting.len() >= LOOKUPS;
        match flows.waiting.get_mut(&number) {
            Some(waiting) if waiting.len() < WAITING => return waiting.push(payload),
            None if !full => flows.waiting.insert(number, vec![payload]),
            _ => return self.state.counters.udp_dropped.increment(),
        };
        drop(flows);
        let exit = Arc::clone(self);
        tokio::spawn(async move {
            let policy = exit.policy.under(&exit.state.config().policy);
            let found = policy.resolve(&open.destination).await;
            let mut flows = exit.flows();
            let waiting = flows.waiting.remove(&number).unwrap_or_default();
            // Another flow may have its number by now.
            let taken = flows.closed || flows.table.get(number).is_some();
            drop(flows);
            let Some(length) = waiting.first().map(Bytes::len).filter(|_| !taken) else {
                return;
            };
            let begin = |server: &SocketAddr| exit.begin(number, tos, &open, *server, length);
            let mut last = CloseReason::NoSuchName;
            let begun = match found {
                Ok(servers) => servers
                    .iter()
                    .find_map(|server| begin(server).map_err(|why| last = why).ok()),
                Err(why) => {
                    last = why;
                    None
                }
            };
            match begun {
                Some(entry) => waiting.iter().for_each(|one| exit.forward(&entry, one)),
                None => exit.refuse(&open, last),
            }
        });
    }

    fn forward(&self, entry: &Entry, payload: &[u8]) {
        let counters = &self.state.counters;
        counters.udp_from_satellite.increment();
        counters.bytes_udp_from_satellite.add(payload.len() as u64);
        if !entry.flow.send(payload) {
            counters.udp_dropped.increment();
        }
    }

    /// Says that a flow is known, which the terminal has not heard: nothing has come back yet.
    fn remind(&self, entry: &Entry) {
        let mut told = entry.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= SAYS) {
            *told = Some(Instant::now());
            self.tell(entry.flow.number, true);
        }
    }

    fn tell(&self, flow: Number, known: bool) {
        let datagram = Datagram::between_boxes(frame::about(flow, known));
        self.gate.push(Subscriber::default(), flow, datagram);
    }

    /// Begins a flow to `server`.
    fn begin(
        self: &Arc<Exit>,
        number: Number,
        tos: u8,
        open: &Open,
        server: SocketAddr,
        payload: usize,
    ) -> Result<Arc<Entry>, CloseReason> {
        let config = self.state.config();
        let policy = self.policy.under(&config.policy);
        let server = policy.check(server)?;
        if config.udp.action(server.port(), payload) != Action::Carry {
            return Err(CloseReason::Forbidden);
        }
        let most = super::most(&config);
        let counters = &self.state.counters;
        let active = usize::try_from(counters.udp_flows_active.get()).unwrap_or(usize::MAX);
        if active >= most && !self.flows().table.forget_oldest() {
            // Those of other terminals take all places.
            return Err(CloseReason::Limit);
        }
        let source = policy.source(open.source, config.intercept.as_ref());
        let ends = source.and_then(|source| self.state.take_ends((source, server)));
        let source = source.map(|source| match &ends {
            Some(_) => source,
            // Another flow has both ends, and the kernel could not tell their answers apart.
            None => (source.ip(), 0).into(),
        });
        let whole = config.udp.whole.contains(server.port());
        let socket = socket::toward(server, source, tos, whole);
        let socket = socket.map_err(|error| CloseReason::from_io(&error))?;
        let client = open.subscriber.or(open.source.map(|source| source.ip()));
        let subscriber = client.map(|client| Subscriber::of(client, &config.subscribers));
        let subscriber = subscriber.unwrap_or_default();
        let holder = Holder {
            terminal: Some(self.terminal),
            subscriber,
        };
        let member = self.state.usages().join(holder, Class::Udp, &config);
        let divisible = !whole;
        let entry = Arc::new(Entry {
            flow: Flow::new(
                number,
                Face::Own(socket),
                server,
                subscriber,
                member,
                divisible,
            ),
            client: open.source,
            _ends: ends,
            told: Mutex::new(None),
        });
        if self.flows().table.insert(&entry, most).is_some() {
            counters.udp_flows_forgotten.increment();
        }
        counters.udp_flows.increment();
        counters.udp_flows_active.increment();
        let (exit, kept) = (Arc::clone(self), Arc::clone(&entry));
        tokio::spawn(async move {
            let end = kept
                .flow
                .run(config.udp.idle, |payload| exit.send(&kept.flow, payload))
                .await;
            exit.flows().table.remove(&kept);
            exit.state.counters.udp_flows_active.subtract(1);
            let ends = (kept.client, kept.flow.peer.to_string());
            let record = || kept.flow.record(ends, Some(exit.terminal), end);
            exit.state.record(record);
            if end != End::Idle {
                // The next datagram begins it anew.
                exit.tell(kept.flow.number, false);
            }
        });
        Ok(entry)
    }

    /// Sends a datagram of a server to the terminal.
    fn send(&self, flow: &Flow, payload: &[u8]) {
        if !flow.member.admits(payload.len() as u64) {
            self.state.counters.udp_dropped.increment();
            return;
        }
        let mut datagram = BytesMut::with_capacity(frame::DATA_HEADER + payload.len());
        frame::put_data(flow.number, &mut datagram);
        datagram.extend_from_slice(payload);
        let datagram = flow.datagram(datagram.freeze());
        self.gate.push(flow.subscriber, flow.number, datagram);
    }
}
