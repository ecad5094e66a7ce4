//! The datagrams of a SOCKS5 client (RFC 1928, section 7), while its connection stands.

use super::entrance::{Beginning, Entrance, Entry};
use super::flow::Face;
use super::socket;
use crate::config::Action;
use crate::entry::datagram;
use crate::{CloseReason, Destination};
use socket2::SockRef;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;

/// Destinations of one association at a time; beyond that, the one that was silent longest is forgotten.
const FLOWS: usize = 256;
/// Longest header: of a name.
const HEADER: usize = 3 + 2 + 255 + 2;

/// A client's association: its socket, and its flows by their destinations.
#[derive(Debug)]
pub(crate) struct Association {
    entrance: Arc<Entrance>,
    socket: Arc<UdpSocket>,
    /// From where the client sends; the port is zero where it does not say it.
    expected: SocketAddr,
    /// From where it has sent first: nobody else is answered, or sends in its name.
    client: Option<SocketAddr>,
    flows: HashMap<Destination, Arc<Entry>>,
}

impl Association {
    /// An association whose datagrams go to `local`, for the client at `address`, which says that it
    /// will send from `said`. Where it knows its address there, its port is held to as well.
    ///
    /// # Errors
    /// UDP is not carried, or not now, or no socket can be had.
    pub(crate) fn new(
        entrance: &Arc<Entrance>,
        local: IpAddr,
        address: IpAddr,
        said: SocketAddr,
    ) -> Result<Association, CloseReason> {
        let udp = &entrance.state.config().udp;
        if !udp.carries() && !udp.passes() {
            return Err(CloseReason::Forbidden);
        }
        if !entrance.is_open() {
            return Err(CloseReason::PeerGone);
        }
        let address = address.to_canonical();
        let knows = said.ip().to_canonical() == address;
        let socket = socket::at(local.to_canonical());
        Ok(Association {
            entrance: Arc::clone(entrance),
            socket: Arc::new(socket.map_err(|error| CloseReason::from_io(&error))?),
            expected: SocketAddr::new(address, if knows { said.port() } else { 0 }),
            client: None,
            flows: HashMap::new(),
        })
    }

    /// Where the client is to send.
    ///
    /// # Errors
    /// Of the socket.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Carries the client's datagrams until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut buffer = vec![0; HEADER + socket::MOST];
        loop {
            let (length, source) = match self.socket.recv_from(&mut buffer).await {
                Ok(came) => came,
                Err(error) => {
                    tracing::debug!(%error, "a datagram of a SOCKS client is lost");
                    // Where the socket itself is broken, this must not spin.
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                }
            };
            let taken = buffer.get(..length).unwrap_or_default();
            if !self.is_client(source) || !self.take(source, taken) {
                self.entrance.state.counters.udp_dropped.increment();
            }
        }
    }

    /// Whether a datagram from `source` is the client's.
    fn is_client(&mut self, source: SocketAddr) -> bool {
        if let Some(client) = self.client {
            return socket::is_from(source, client);
        }
        let fits = source.ip().to_canonical() == self.expected.ip()
            && [0, source.port()].contains(&self.expected.port());
        if fits {
            self.client = Some(source);
            // The kernel then drops those of others, and tells where the client has closed its port.
            if let Err(error) = SockRef::from(&*self.socket).connect(&source.into()) {
                tracing::debug!(%error, "the socket of a SOCKS client is not connected to it");
            }
        }
        fits
    }

    /// Takes a datagram with its header; false where it goes nowhere.
    fn take(&mut self, client: SocketAddr, datagram: &[u8]) -> bool {
        let (to, begin) = match datagram::read(datagram) {
            Ok(read) => read,
            Err(why) => {
                tracing::debug!(%client, %why, "a datagram of a SOCKS client is dropped");
                return false;
            }
        };
        let payload = datagram.get(begin..).unwrap_or_default();
        let known = self.flows.get(&to).filter(|entry| !entry.has_ended());
        let entry = match known.map(Arc::clone) {
            Some(entry) => entry,
            None => match self.begin(client, to, payload.len()) {
                Some(entry) => entry,
                None => return false,
            },
        };
        entry.flow.note_sent(payload.len());
        self.entrance.send(&entry, payload);
        true
    }

    /// Begins the flow to a destination with a datagram of this length.
    fn begin(&mut self, client: SocketAddr, to: Destination, length: usize) -> Option<Arc<Entry>> {
        // Nothing of such a client passes beside the gateway: what the rules let pass is carried.
        let config = self.entrance.state.config();
        if config.udp.action(to.port(), length) == Action::Block {
            return None;
        }
        if self.flows.len() >= FLOWS {
            self.make_room();
        }
        let face = Face::Shared {
            socket: Arc::clone(&self.socket),
            header: datagram::header(&to),
        };
        let entry = self.entrance.begin(Beginning {
            face,
            client,
            server: to.clone(),
            tos: 0,
            keep_source: false,
        })?;
        self.flows.insert(to, Arc::clone(&entry));
        Some(entry)
    }

    /// Takes out flows that have ended or, where there are none, the one that was silent longest.
    fn make_room(&mut self) {
        self.flows.retain(|_, entry| !entry.has_ended());
        if self.flows.len() < FLOWS {
            return;
        }
        let oldest = self.flows.iter().min_by_key(|(_, entry)| entry.flow.used());
        if let Some((to, _)) = oldest {
            let to = to.clone();
            if let Some(entry) = self.flows.remove(&to) {
                entry.flow.forget();
            }
        }
    }
}

impl Drop for Association {
    fn drop(&mut self) {
        for entry in self.flows.values() {
            entry.flow.forget();
        }
    }
}
