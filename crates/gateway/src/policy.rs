//! stand-in
use crate::{Cut, Destination};
use std::net::SocketAddr;
pub(crate) async fn resolve(destination: &Destination) -> Result<Vec<SocketAddr>, Cut> {
    match destination {
        Destination::Address(address) => Ok(vec![*address]),
        Destination::Name { host, port } => tokio::net::lookup_host((host.as_str(), *port))
            .await
            .map(Iterator::collect)
            .map_err(|_| Cut::NoSuchName),
    }
}
