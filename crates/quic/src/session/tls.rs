//! TLS 1.3 with its ciphers, by rustls and ring: what the session without them is held against.
//!
//! The lengths are those of [`super`]: one suite (AES-128-GCM with SHA-256), one key share (X25519), a
//! chain of the configured length, one ticket. The certificate is a fixed one of Ed25519, whose
//! signatures always have as many bytes; its secret is public and it proves nothing. rustls and ring draw
//! keys from the system's generator and take no other, so ciphertext differs from run to run; times and
//! lengths do not.

use super::{Lengths, NEW_SESSION_TICKET};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{ClientConfig, ServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::ring::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ProducesTickets;
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;

const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.der");
const KEY: &[u8] = include_bytes!("tls/key.der");

/// What the server's flight has besides the second certificate, less what the session without ciphers
/// has besides its chain, bytes: headers, the fixed certificate, a signature of Ed25519 for one of
/// ECDSA, other extensions.
const AROUND: usize = CERTIFICATE.len() + 9;
/// What a NewSessionTicket has besides the ticket, bytes (RFC 8446, section 4.6.1).
const AROUND_TICKET: usize = 49;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![kx_group::X25519],
        ..default_provider()
    })
}

/// The client's session.
///
/// # Errors
/// rustls refuses the settings.
pub(crate) fn client() -> Result<Arc<dyn ClientConfig>, rustls::Error> {
    let provider = provider();
    let algorithms = provider.signature_verification_algorithms;
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(algorithms)))
        .with_no_client_auth();
    let config = QuicClientConfig::try_from(config);
    Ok(Arc::new(
        config.map_err(|e| rustls::Error::General(e.to_string()))?,
    ))
}

/// The server's session.
///
/// # Errors
/// rustls refuses the settings.
pub(crate) fn server(lengths: Lengths) -> Result<Arc<dyn ServerConfig>, rustls::Error> {
    // The chain is as long as it should be; nobody looks at its second certificate.
    let rest = lengths.certificate.saturating_sub(AROUND);
    let chain = vec![
        CertificateDer::from(CERTIFICATE),
        CertificateDer::from(vec![0; rest]),
    ];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.send_tls13_tickets = 1;
    config.ticketer = Arc::new(Tickets);
    let config = QuicServerConfig::try_from(config);
    Ok(Arc::new(
        config.map_err(|e| rustls::Error::General(e.to_string()))?,
    ))
}

/// Tickets of a fixed length that are worth nothing.
#[derive(Debug)]
struct Tickets;

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        86_400
    }

    fn encrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
        Some(vec![0; NEW_SESSION_TICKET - AROUND_TICKET])
    }

    fn decrypt(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Takes any certificate, after the work of checking the signature.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
