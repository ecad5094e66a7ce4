//! A cryptographic session without ciphers, of TLS 1.3's lengths.
//!
//! The flights are those of a full handshake (RFC 8446, section 2; RFC 9001, section 4) and carry
//! the transport parameters as the real one does (RFC 9001, section 8.2):
//!
//! | message | space | bytes |
//! |---|---|---|
//! | ClientHello | Initial | 280 and the transport parameters |
//! | ServerHello | Initial | 90 |
//! | EncryptedExtensions | Handshake | 15 and the transport parameters |
//! | Certificate | Handshake | [`Lengths::certificate`] |
//! | CertificateVerify | Handshake | 80 (ECDSA on P-256) |
//! | Finished | Handshake, both ways | 36 (SHA-256) |
//! | NewSessionTicket | 1-RTT | 250, once |
//!
//! A client that has a ticket of an earlier connection ([`Resumption`]) names it in its hello, 300 bytes
//! more with the binder, and gets no certificates; it may send data at once, as 0-RTT packets (RFC
//! 9001, section 4.6). The transport parameters that it remembers are its own: both ends of a
//! connection here have the same limits.
//!
//! ClientHello is one with a key share of X25519 alone; its packet is
//! padded to 1200 bytes anyway. A packet's tag takes 16 bytes (RFC 9001, section 5.3). In it stand
//! the packet number and the key that sealed the packet, so that a packet which is opened with
//! another key or taken for another number fails as it would with a cipher. Header protection
//! (section 5.4) leaves the bytes as they are; it takes a sample of 16 bytes, which sets the
//! shortest packet.

mod flights;
mod keys;
#[cfg(feature = "tls")]
mod tls;

pub use flights::Flights;
pub(crate) use keys::{TAG, number_in};

use crate::settings::{Settings, SettingsError};
use bytes::Buf;
use keys::{Level, early, keys, pair};
use quinn_proto::crypto::{
    ClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig,
    Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::Arc;

/// Type and length of a handshake message, bytes (RFC 8446, section 4).
const MESSAGE_HEADER: usize = 4;
const CLIENT_HELLO: usize = 280;
const SERVER_HELLO: usize = 90;
const ENCRYPTED_EXTENSIONS: usize = 15;
const CERTIFICATE_VERIFY: usize = 80;
const FINISHED: usize = 36;
const NEW_SESSION_TICKET: usize = 250;
/// What a ClientHello with a ticket has more: the ticket, its binder and the extensions around them.
const TICKET_AND_BINDER: usize = 300;

/// Types of handshake messages (RFC 8446, section 4).
mod message {
    pub(super) const CLIENT_HELLO: u8 = 1;
    pub(super) const SERVER_HELLO: u8 = 2;
    pub(super) const NEW_SESSION_TICKET: u8 = 4;
    pub(super) const ENCRYPTED_EXTENSIONS: u8 = 8;
    pub(super) const CERTIFICATE: u8 = 11;
    pub(super) const CERTIFICATE_VERIFY: u8 = 15;
    pub(super) const FINISHED: u8 = 20;
}

/// Lengths that differ among servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The Certificate message, bytes: the chain that a server sends. Two ECDSA certificates of a
    /// public authority take some 2 kB to 3 kB.
    pub certificate: usize,
}

impl Default for Lengths {
    /// A chain of 2,800 bytes, with which the server's first flight takes about 3 kB and so fits in
    /// three times the client's first packet (RFC 9000, section 8.1).
    fn default() -> Lengths {
        Lengths { certificate: 2_800 }
    }
}

/// What a client has of an earlier connection to the same server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resumption {
    /// Nothing: the handshake has certificates.
    #[default]
    None,
    /// A ticket: the server proves by it who it is (RFC 8446, section 2.2).
    OneRtt,
    /// A ticket, and data leave with the first flight (RFC 8446, section 2.3).
    ZeroRtt,
}

/// What protects packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ciphers {
    /// Nothing: the session without ciphers.
    #[default]
    None,
    /// TLS 1.3 by rustls and ring, with AES-128-GCM. The cargo feature `tls` builds it in.
    Tls,
}

/// The session of either side.
pub(crate) struct Sessions {
    pub(crate) client: Arc<dyn ClientConfig>,
    pub(crate) server: Arc<dyn ServerConfig>,
}

impl Sessions {
    /// Those with these settings.
    ///
    /// # Errors
    /// There is no such session.
    pub(crate) fn new(settings: &Settings) -> Result<Sessions, SettingsError> {
        match (settings.ciphers, settings.resumption) {
            (Ciphers::None, resumption) => {
                let plain = Arc::new(Config {
                    lengths: settings.lengths,
                    resumption,
                });
                Ok(Sessions {
                    client: plain.clone(),
                    server: plain,
                })
            }
            (Ciphers::Tls, Resumption::None) => Sessions::tls(settings.lengths),
            (Ciphers::Tls, _) => Err(SettingsError::Resumption),
        }
    }

    #[cfg(feature = "tls")]
    fn tls(lengths: Lengths) -> Result<Sessions, SettingsError> {
        let failed = |error: rustls::Error| SettingsError::Tls(error.to_string());
        Ok(Sessions {
            client: tls::client().map_err(failed)?,
            server: tls::server(lengths).map_err(failed)?,
        })
    }

    #[cfg(not(feature = "tls"))]
    fn tls(_: Lengths) -> Result<Sessions, SettingsError> {
        Err(SettingsError::NoTls)
    }
}

/// The session's configuration, for either side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Lengths that differ among servers.
    pub lengths: Lengths,
    /// What the client has of an earlier connection.
    pub resumption: Resumption,
}

impl ClientConfig for Config {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Plain::new(Side::Client, *self, params)))
    }
}

impl ServerConfig for Config {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys(Level::Initial, Side::Server))
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Plain::new(Side::Server, *self, params))
    }
}

/// What a side does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Client: send ClientHello.
    SayHello,
    /// Wait for the other's hello.
    AwaitHello,
    /// Server: ServerHello is due; with it come the handshake keys.
    AnswerHello,
    /// Client: ServerHello has come and the handshake keys are due.
    TakeHandshakeKeys,
    /// Server: the rest of its flight is due; with it come the 1-RTT keys.
    Prove,
    /// Wait for the other's Finished.
    AwaitFinished,
    /// Client: its Finished is due; with it come the 1-RTT keys.
    Finish,
    /// Server: a session ticket is due.
    IssueTicket,
    Done,
}

/// A session.
#[derive(Debug)]
struct Plain {
    side: Side,
    config: Config,
    params: Vec<u8>,
    peer: Option<Vec<u8>>,
    next: Next,
    /// Handshake bytes that are no whole message yet.
    incoming: Vec<u8>,
    /// Key updates so far.
    updates: u32,
}

impl Plain {
    fn new(side: Side, config: Config, params: &TransportParameters) -> Plain {
        let mut bytes = Vec::new();
        params.write(&mut bytes);
        let remembers = side.is_client() && config.resumption == Resumption::ZeroRtt;
        Plain {
            side,
            config,
            peer: remembers.then(|| bytes.clone()),
            params: bytes,
            next: match side {
                Side::Client => Next::SayHello,
                Side::Server => Next::AwaitHello,
            },
            incoming: Vec::new(),
            updates: 0,
        }
    }

    /// A whole message has come.
    fn take(&mut self, kind: u8, body: &[u8]) -> Result<(), TransportError> {
        match (self.side, kind, self.next) {
            (Side::Server, message::CLIENT_HELLO, Next::AwaitHello) => {
                self.peer = Some(parameters(body)?);
                self.next = Next::AnswerHello;
            }
            (Side::Client, message::SERVER_HELLO, Next::AwaitHello) => {
                self.next = Next::TakeHandshakeKeys;
            }
            (Side::Client, message::ENCRYPTED_EXTENSIONS, _) => {
                self.peer = Some(parameters(body)?);
            }
            (Side::Client, message::FINISHED, Next::TakeHandshakeKeys | Next::AwaitFinished) => {
                self.next = Next::Finish;
            }
            (Side::Server, message::FINISHED, Next::AwaitFinished) => {
                self.next = Next::IssueTicket;
            }
            (
                Side::Client,
                message::CERTIFICATE | message::CERTIFICATE_VERIFY | message::NEW_SESSION_TICKET,
                _,
            ) => {}
            _ => {
                let reason = format!("unexpected handshake message {kind}");
                return Err(violation(reason));
            }
        }
        Ok(())
    }
}

/// Appends a message of `length` bytes in all, header included, and of the parameters beyond.
fn put(buf: &mut Vec<u8>, kind: u8, length: usize, params: &[u8]) {
    let body = length - MESSAGE_HEADER + params.len();
    buf.push(kind);
    buf.extend_from_slice(&(body as u32).to_be_bytes()[1..]);
    let end = buf.len() + body;
    if !params.is_empty() {
        // Their length takes two of the message's own bytes.
        buf.extend_from_slice(&(params.len() as u16).to_be_bytes());
        buf.extend_from_slice(params);
    }
    buf.resize(end, 0);
}

fn violation(reason: String) -> TransportError {
    TransportError {
        code: TransportErrorCode::PROTOCOL_VIOLATION,
        frame: None,
        reason,
    }
}

/// The transport parameters in a hello or in EncryptedExtensions.
fn parameters(mut body: &[u8]) -> Result<Vec<u8>, TransportError> {
    let length = match body.len() {
        0 | 1 => usize::MAX,
        _ => usize::from(body.get_u16()),
    };
    let found = body.get(..length).map(<[u8]>::to_vec);
    found.ok_or_else(|| violation("short transport parameters".to_owned()))
}

impl Session for Plain {
    fn initial_keys(&self, _: &ConnectionId, side: Side) -> Keys {
        keys(Level::Initial, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        (self.config.resumption == Resumption::ZeroRtt).then(early)
    }

    fn early_data_accepted(&self) -> Option<bool> {
        let accepts = self.config.resumption == Resumption::ZeroRtt;
        self.side.is_client().then_some(accepts)
    }

    fn is_handshaking(&self) -> bool {
        !matches!(self.next, Next::Finish | Next::IssueTicket | Next::Done)
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.incoming.extend_from_slice(buf);
        let incoming = std::mem::take(&mut self.incoming);
        let mut rest = &incoming[..];
        while let [kind, a, b, c, after @ ..] = rest {
            let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            let Some((body, further)) = after.split_at_checked(length) else {
                break;
            };
            self.take(*kind, body)?;
            rest = further;
        }
        self.incoming = rest.to_vec();
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(peer) = &self.peer else {
            return Ok(None);
        };
        let params = TransportParameters::read(self.side, &mut peer.as_slice())?;
        Ok(Some(params))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match self.next {
            Next::SayHello => {
                let length = match self.config.resumption {
                    Resumption::None => CLIENT_HELLO,
                    Resumption::OneRtt | Resumption::ZeroRtt => CLIENT_HELLO + TICKET_AND_BINDER,
                };
                put(buf, message::CLIENT_HELLO, length, &self.params);
                self.next = Next::AwaitHello;
                None
            }
            Next::AnswerHello => {
                put(buf, message::SERVER_HELLO, SERVER_HELLO, &[]);
                self.next = Next::Prove;
                Some(keys(Level::Handshake, self.side))
            }
            Next::TakeHandshakeKeys => {
                self.next = Next::AwaitFinished;
                Some(keys(Level::Handshake, self.side))
            }
            Next::Prove => {
                let extensions = ENCRYPTED_EXTENSIONS;
                put(buf, message::ENCRYPTED_EXTENSIONS, extensions, &self.params);
                if self.config.resumption == Resumption::None {
                    let certificate = self.config.lengths.certificate.max(MESSAGE_HEADER);
                    put(buf, message::CERTIFICATE, certificate, &[]);
                    put(buf, message::CERTIFICATE_VERIFY, CERTIFICATE_VERIFY, &[]);
                }
                put(buf, message::FINISHED, FINISHED, &[]);
                self.next = Next::AwaitFinished;
                Some(keys(Level::OneRtt(0), self.side))
            }
            Next::Finish => {
                put(buf, message::FINISHED, FINISHED, &[]);
                self.next = Next::Done;
                Some(keys(Level::OneRtt(0), self.side))
            }
            Next::IssueTicket => {
                put(buf, message::NEW_SESSION_TICKET, NEW_SESSION_TICKET, &[]);
                self.next = Next::Done;
                None
            }
            Next::AwaitHello | Next::AwaitFinished | Next::Done => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.updates += 1;
        Some(pair(Level::OneRtt(self.updates), self.side))
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], payload: &[u8]) -> bool {
        payload.ends_with(&[0; 16])
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
