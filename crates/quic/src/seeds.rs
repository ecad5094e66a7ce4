//! Where quinn-proto would draw from the system's generator, seeded streams.

use bentpipe_random::Stream;
use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use std::time::Duration;

/// Length of connection ids, bytes, as quinn's default.
pub(crate) const ID_LENGTH: usize = 8;

fn fill(stream: &mut Stream, out: &mut [u8]) {
    for part in out.chunks_mut(8) {
        let bits = stream.bits().to_le_bytes();
        part.copy_from_slice(&bits[..part.len()]);
    }
}

/// The seed of an endpoint's own generator.
pub(crate) fn endpoint(seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    fill(&mut Stream::new(seed, "quic endpoint"), &mut bytes);
    bytes
}

/// The id that a client's first packets carry for the server (RFC 9000, section 7.2).
pub(crate) fn first_destination(seed: u64) -> ConnectionId {
    // Twenty bytes, as quinn has them.
    let mut id = [0; 20];
    fill(&mut Stream::new(seed, "quic first destination"), &mut id);
    ConnectionId::new(&id)
}

/// Connection ids from a seeded stream.
#[derive(Debug)]
pub(crate) struct Ids(Stream);

impl Ids {
    pub(crate) fn new(seed: u64) -> Ids {
        Ids(Stream::new(seed, "quic connection ids"))
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; ID_LENGTH];
        fill(&mut self.0, &mut id);
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        ID_LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The key of stateless reset tokens: a token is drawn from the stream of its connection id.
#[derive(Debug)]
pub(crate) struct ResetKey(pub(crate) u64);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        fill(&mut Stream::new(self.0, &format!("{data:?}")), signature);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        (expected == signature).then_some(()).ok_or(CryptoError)
    }
}

/// The key of address validation tokens, of which none is issued.
#[derive(Debug)]
pub(crate) struct TokenKey;

impl HandshakeTokenKey for TokenKey {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(NoTokens)
    }
}

#[derive(Debug)]
struct NoTokens;

impl AeadKey for NoTokens {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(CryptoError)
    }
}
