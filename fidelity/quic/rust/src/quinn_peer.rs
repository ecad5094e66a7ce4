//! quinn, with TLS by rustls and its own congestion controls.

use crate::{ALPN, Arguments, IDLE, Result, Seen};
use bytes::Bytes;
use quinn::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use std::net::SocketAddr;
use std::sync::Arc;

/// Data of streams: zeros.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

fn transport(arguments: &Arguments) -> Result<Arc<TransportConfig>> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(Some(IDLE.try_into()?));
    if arguments.window > 0 {
        config.stream_receive_window(VarInt::from_u64(arguments.window)?);
        config.receive_window(VarInt::from_u64(arguments.window)?);
        config.send_window(arguments.window);
    }
    let control: Option<Arc<dyn ControllerFactory + Send + Sync>> = match arguments.control.as_str()
    {
        "" => None,
        "cubic" => Some(Arc::new(CubicConfig::default())),
        "reno" => Some(Arc::new(NewRenoConfig::default())),
        other => return Err(format!("quinn has no {other}").into()),
    };
    if let Some(control) = control {
        config.congestion_controller_factory(control);
    }
    Ok(Arc::new(config))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn endpoint(config: Option<ServerConfig>, address: SocketAddr) -> Result<Endpoint> {
    let socket = crate::socket(address)?;
    let runtime = Arc::new(quinn::TokioRuntime);
    Ok(Endpoint::new(
        EndpointConfig::default(),
        config,
        socket,
        runtime,
    )?)
}

#[tokio::main(flavor = "current_thread")]
pub async fn serve(arguments: &Arguments) -> Result<()> {
    let chain = CertificateDer::pem_file_iter(&arguments.certificate)?
        .collect::<std::result::Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(&arguments.key)?;
    let secrets = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth();
    let mut secrets = secrets.with_single_cert(chain, key)?;
    secrets.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(secrets)?));
    config.transport_config(transport(arguments)?);
    let endpoint = endpoint(Some(config), arguments.address)?;
    while let Some(incoming) = endpoint.accept().await {
        let connection = incoming.await?;
        let (mut send, mut receive) = connection.accept_bi().await?;
        let request: [u8; 8] = receive.read_to_end(8).await?.as_slice().try_into()?;
        let mut left = u64::from_be_bytes(request);
        while left > 0 {
            let part = left.min(ZEROS.len() as u64) as usize;
            send.write_chunk(Bytes::from_static(&ZEROS[..part])).await?;
            left -= part as u64;
        }
        send.finish()?;
        connection.closed().await;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
pub async fn ask(arguments: &Arguments) -> Result<()> {
    let secrets = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let mut secrets = secrets
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
        .with_no_client_auth();
    secrets.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(secrets)?));
    config.transport_config(transport(arguments)?);
    let endpoint = endpoint(None, SocketAddr::from(([0, 0, 0, 0], 0)))?;
    let mut seen = Seen::new();
    let connection = endpoint
        .connect_with(config, arguments.address, "server")?
        .await?;
    seen.connected();
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(&arguments.size.to_be_bytes()).await?;
    send.finish()?;
    while let Some(chunk) = receive.read_chunk(usize::MAX, true).await? {
        seen.took(chunk.bytes.len());
    }
    seen.completed();
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    Ok(())
}

/// Takes any certificate: the peers are in one network that nobody else is in.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let provider = rustls::crypto::ring::default_provider();
        provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
