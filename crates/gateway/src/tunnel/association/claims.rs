//! Addresses of hubs, each for one association at a time.
//!
//! Two entries of the list may name the same box, by a name and its address for example. It would take
//! the second association for that of a new process, and give up the first, over and over.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The addresses at which an association stands or is tried.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims(Arc<Mutex<HashSet<SocketAddr>>>);

/// An address; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Claim {
    claims: Claims,
    address: SocketAddr,
}

impl Claims {
    fn lock(&self) -> MutexGuard<'_, HashSet<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an address unless it is taken.
    pub(super) fn take(&self, address: SocketAddr) -> Option<Claim> {
        let taken = self.lock().insert(address);
        taken.then(|| Claim {
            claims: self.clone(),
            address,
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.lock().remove(&self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_once() {
        let claims = Claims::default();
        let address = "192.0.2.7:4433".parse().unwrap();
        let first = claims.take(address).unwrap();
        assert!(claims.take(address).is_none());
        assert!(claims.take("192.0.2.7:4434".parse().unwrap()).is_some());
        drop(first);
        assert!(claims.take(address).is_some());
    }
}
