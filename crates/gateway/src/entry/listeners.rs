//! The listening sockets that a configuration asks for.

use super::listener::{Kind, Listener, Settings};
use super::users::{Users, UsersError};
use crate::config::{self, Config};
use crate::intercept::Plan;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Why a socket cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The kernel refuses it.
    #[error("{what} at {address}: {error}{}", help(*.kind, .error))]
    Socket {
        /// Purpose, for messages.
        what: &'static str,
        /// Kind of the listener.
        kind: Kind,
        /// Where it should listen.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
    /// The file of users is wrong.
    #[error(transparent)]
    Users(#[from] UsersError),
}

fn help(kind: Kind, error: &io::Error) -> &'static str {
    match (kind, error.kind()) {
        (Kind::Transparent, io::ErrorKind::PermissionDenied) => {
            "; interception needs CAP_NET_ADMIN: run as root, or through the systemd unit, which \
             grants it"
        }
        (Kind::Transparent, io::ErrorKind::AddrInUse) => {
            "; another gateway may run: stop it, or choose another `port` in `[intercept]`"
        }
        (_, io::ErrorKind::AddrInUse) => "; stop what listens there, or choose another `listen`",
        _ => "",
    }
}

/// Listens wherever the configuration asks for it, on sockets of `handed` where
/// one fits, on new ones otherwise. Those of `handed` that fit nothing are closed.
///
/// # Errors
/// The listener that failed, and the remedy.
pub fn listeners(
    config: &Config,
    plan: Option<&Plan>,
    handed: Vec<Listener>,
) -> Result<Vec<Listener>, ListenError> {
    let mut handed = handed;
    let mut listen = |kind, what, address| {
        let fits = |it: &Listener| it.kind() == kind && it.address() == address;
        if let Some(at) = handed.iter().position(fits) {
            return Ok(handed.swap_remove(at));
        }
        Listener::bind(kind, address).map_err(|error| ListenError::Socket {
            what,
            kind,
            address,
            error,
        })
    };
    let mut found = Vec::new();
    for address in plan.iter().flat_map(|plan| plan.listeners()) {
        found.push(listen(Kind::Transparent, "interception", address)?);
    }
    for (kind, what, asked) in [
        (Kind::Socks, "SOCKS5", &config.socks),
        (Kind::Connect, "HTTP CONNECT", &config.connect),
    ] {
        if let Some(asked) = asked {
            let listener = listen(kind, what, asked.listen)?;
            found.push(listener.with(settings(asked)?));
        }
    }
    Ok(found)
}

fn settings(asked: &config::Listener) -> Result<Settings, UsersError> {
    let users = asked.users.as_deref().map(Users::read).transpose()?;
    Ok(Settings {
        answer: asked.answer,
        users: users.map(Arc::new),
    })
}
