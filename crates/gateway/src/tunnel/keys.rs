//! Keys of the boxes: an Ed25519 key pair for each, and TLS 1.3 in which both
//! sides present raw public keys (RFC 7250) and accept only those configured.
//!
//! There are no certificates, names or dates: a box is its public key. A private
//! key is a PKCS#8 file in PEM (RFC 5958, RFC 7468) that only its owner may read;
//! a public key is one printable word, `bpk1-` and the 32 bytes in base64url.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring as provider,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime, alg_id,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, public_key_to_spki};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    SignatureScheme,
};
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The application protocol (RFC 7301) with its version.
pub const ALPN: &[u8] = b"bentpipe/1";
/// The name that a terminal sends as the server's (SNI); the key identifies the
/// hub, not the name.
pub(crate) const SERVER_NAME: &str = "bentpipe.invalid";

const PREFIX: &str = "bpk1-";
/// Larger than any PKCS#8 file with an Ed25519 key.
const MOST_FILE: u64 = 16 * 1024;

/// A public key that is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a public key is `bpk1-` and 43 characters, as `bentpipe gateway keys` prints it")]
pub struct NotAKey;

/// The public key of a box: 32 bytes of Ed25519 (RFC 8032).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'static> {
        public_key_to_spki(&alg_id::ED25519, self.0)
    }

    /// The key that a peer presented in its handshake, as rustls and quinn hand it
    /// out: the only "certificate" is a `SubjectPublicKeyInfo` (RFC 7250).
    pub(crate) fn of_peer(certificates: &[CertificateDer<'_>]) -> Option<PublicKey> {
        let spki: &[u8] = certificates.first()?.as_ref();
        // The 32 bytes are the last of the structure (RFC 8410).
        let bytes: [u8; 32] = spki.get(spki.len().checked_sub(32)?..)?.try_into().ok()?;
        let key = PublicKey(bytes);
        (key.spki().as_ref() == spki).then_some(key)
    }
}

impl PublicKey {
    /// The key of the box at the other end of a QUIC connection whose handshake is complete.
    pub(crate) fn of_connection(connection: &quinn::Connection) -> Option<PublicKey> {
        let identity = connection.peer_identity()?;
        let keys = identity.downcast::<Vec<CertificateDer<'static>>>().ok()?;
        PublicKey::of_peer(&keys)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<PublicKey, NotAKey> {
        let text = text.trim().strip_prefix(PREFIX).ok_or(NotAKey)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| NotAKey)?;
        Ok(PublicKey(bytes.try_into().map_err(|_| NotAKey)?))
    }
}

/// Why a private key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// Others than the owner may read it.
    #[error(
        "{}: mode {mode:04o} lets others than its owner read the private key; `chmod 600` it",
        path.display()
    )]
    Exposed {
        /// Path of the file.
        path: PathBuf,
        /// Its file mode bits.
        mode: u32,
    },
    /// The file holds no Ed25519 key.
    #[error(
        "{}: no private key of Ed25519 in PKCS#8 and PEM; `bentpipe gateway keys` makes one",
        path.display()
    )]
    Malformed {
        /// Path of the file.
        path: PathBuf,
    },
    /// A peer's key in the configuration.
    #[error("`{text}`: {error}")]
    Peer {
        /// The text in the configuration.
        text: String,
        /// Description of the error.
        error: NotAKey,
    },
    /// The system has no randomness, or TLS rejects the key.
    #[error("the key cannot be used: {0}")]
    Unusable(String),
}

/// The key pair of this box.
pub struct Identity {
    pkcs8: Vec<u8>,
    public: PublicKey,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public)
    }
}

impl Identity {
    /// Makes a new key pair.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn generate() -> Result<Identity, KeyError> {
        let random = ring::rand::SystemRandom::new();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random)
            .map_err(|error| KeyError::Unusable(error.to_string()))?;
        Identity::from_pkcs8(pkcs8.as_ref()).map_err(KeyError::Unusable)
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Identity, String> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).map_err(|e| e.to_string())?;
        let public = pair.public_key().as_ref().try_into();
        Ok(Identity {
            pkcs8: pkcs8.to_vec(),
            public: PublicKey(public.map_err(|_| "not 32 bytes".to_owned())?),
        })
    }

    /// Reads the key pair from its file.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it holds no Ed25519 key.
    pub fn read(path: &Path) -> Result<Identity, KeyError> {
        let failed = |error| KeyError::File {
            path: path.to_owned(),
            error,
        };
        let mut file = fs::File::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed {
                path: path.to_owned(),
                mode,
            });
        }
        let mut pem = Vec::new();
        (&mut file)
            .take(MOST_FILE)
            .read_to_end(&mut pem)
            .map_err(failed)?;
        let malformed = || KeyError::Malformed {
            path: path.to_owned(),
        };
        let der = PrivatePkcs8KeyDer::from_pem_slice(&pem).map_err(|_| malformed())?;
        Identity::from_pkcs8(der.secret_pkcs8_der()).map_err(|_| malformed())
    }

    /// Writes the key pair to a new file of mode 0600; a file that exists stays.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let failed = |error| KeyError::File {
            path: path.to_owned(),
            error,
        };
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let mut pem = String::from("-----BEGIN PRIVATE KEY-----\n");
        let text = STANDARD.encode(&self.pkcs8);
        for line in text.as_bytes().chunks(64) {
            pem.extend(line.iter().map(|&byte| char::from(byte)));
            pem.push('\n');
        }
        pem.push_str("-----END PRIVATE KEY-----\n");
        file.write_all(pem.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)
    }

    /// The public key, which the other box is configured with.
    #[must_use]
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// A secret of this box for one purpose, the same after each start.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.pkcs8);
        let mut secret = [0; 32];
        secret.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        secret
    }

    fn certified(&self) -> Result<Arc<CertifiedKey>, KeyError> {
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.pkcs8.clone()));
        let key = provider::sign::any_supported_type(&der)
            .map_err(|error| KeyError::Unusable(error.to_string()))?;
        let spki = CertificateDer::from(self.public.spki().as_ref().to_vec());
        Ok(Arc::new(CertifiedKey::new(vec![spki], key)))
    }

    /// TLS of the terminal's side: it accepts a hub with one of the keys `peers`.
    ///
    /// # Errors
    /// The key is unusable.
    pub fn client(&self, peers: &[PublicKey]) -> Result<rustls::ClientConfig, KeyError> {
        let mut config = rustls::ClientConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| KeyError::Unusable(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned::new(peers)))
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
                self.certified()?,
            )));
        config.alpn_protocols = vec![ALPN.to_vec()];
        // Nothing is sent before both sides are authenticated, so a session that is
        // resumed gains nothing.
        config.resumption = rustls::client::Resumption::disabled();
        config.enable_sni = false;
        Ok(config)
    }

    /// TLS of the hub's side: it accepts terminals with the keys `peers`.
    ///
    /// # Errors
    /// The key is unusable.
    pub fn server(&self, peers: &[PublicKey]) -> Result<rustls::ServerConfig, KeyError> {
        let mut config = rustls::ServerConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| KeyError::Unusable(error.to_string()))?
            .with_client_cert_verifier(Arc::new(Pinned::new(peers)))
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
                self.certified()?,
            )));
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config)
    }
}

/// Reads the peers' public keys of a configuration.
///
/// # Errors
/// The first that is none.
pub fn peers(texts: &[String]) -> Result<Vec<PublicKey>, KeyError> {
    let parse = |text: &String| {
        text.parse().map_err(|error| KeyError::Peer {
            text: text.clone(),
            error,
        })
    };
    texts.iter().map(parse).collect()
}

fn crypto() -> Arc<CryptoProvider> {
    Arc::new(provider::default_provider())
}

/// Accepts the raw public keys that are configured, and no others.
#[derive(Debug)]
struct Pinned {
    keys: Vec<PublicKey>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(keys: &[PublicKey]) -> Pinned {
        Pinned {
            keys: keys.to_vec(),
            algorithms: provider::default_provider().signature_verification_algorithms,
        }
    }

    /// The same error whatever is wrong, so that a stranger learns nothing; the
    /// alert that it is sent is `access_denied`.
    fn check(&self, key: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        let presented = PublicKey::of_peer(std::slice::from_ref(key));
        match presented {
            Some(presented) if more.is_empty() && self.keys.contains(&presented) => Ok(()),
            _ => {
                tracing::debug!(?presented, "a key that is not among the peers");
                Err(CertificateError::ApplicationVerificationFailure.into())
            }
        }
    }
}

const SCHEMES: [SignatureScheme; 1] = [SignatureScheme::ED25519];

fn no_tls12() -> Error {
    PeerIncompatible::Tls12NotOffered.into()
}

/// What both of rustls' verifiers ask alike: signatures of TLS 1.3 by raw keys.
macro_rules! checks_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _cert: &CertificateDer<'_>,
            _dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(no_tls12())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let spki = SubjectPublicKeyInfoDer::from(cert.as_ref());
            verify_tls13_signature_with_raw_key(message, &spki, dss, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            SCHEMES.to_vec()
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ServerCertVerified::assertion())
    }

    checks_signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, intermediates)?;
        Ok(ClientCertVerified::assertion())
    }

    checks_signatures!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_key_goes_through_its_file_and_its_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let made = Identity::generate().unwrap();
        made.write_new(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let read = Identity::read(&path).unwrap();
        assert_eq!(read.public(), made.public());
        assert_eq!(read.derive("reset"), made.derive("reset"));
        assert_ne!(read.derive("reset"), read.derive("token"));
        let text = made.public().to_string();
        assert_eq!(text.len(), 48);
        assert_eq!(text.parse(), Ok(made.public()));
        assert!(matches!(made.write_new(&path), Err(KeyError::File { .. })));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        Identity::generate().unwrap().write_new(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Identity::read(&path).unwrap_err();
        assert!(error.to_string().contains("mode 0640"), "{error}");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for text in [
            "",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        ] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(
                Identity::read(&path),
                Err(KeyError::Malformed { .. })
            ));
        }
        for text in ["", "bpk1-", "bpk1-AAAA", "bpk2-", "bpk1-\u{e9}"] {
            assert_eq!(text.parse::<PublicKey>(), Err(NotAKey));
        }
    }

    #[test]
    fn only_a_whole_public_key_is_a_peers() {
        let key = Identity::generate().unwrap().public();
        let spki = key.spki().as_ref().to_vec();
        assert_eq!(PublicKey::of_peer(&[spki.clone().into()]), Some(key));
        assert_eq!(PublicKey::of_peer(&[]), None);
        assert_eq!(PublicKey::of_peer(&[spki[1..].to_vec().into()]), None);
        assert_eq!(PublicKey::of_peer(&[vec![0; 8].into()]), None);
    }
}
