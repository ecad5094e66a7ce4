//! The key of this box and those of its peers, as they are now: a reload may change both.

use super::keys::{self, Identity, KeyError, PublicKey};
use crate::config::Tunnel;
use std::sync::{Arc, PoisonError, RwLock};

/// Keys that hold at one time.
#[derive(Debug)]
pub struct Keys {
    /// The key pair of this box.
    pub identity: Identity,
    /// The public keys of the boxes that it talks to.
    pub peers: Vec<PublicKey>,
}

impl Keys {
    /// Reads those of a configuration.
    ///
    /// # Errors
    /// The key file is unusable, or a peer's key is none.
    pub fn read(tunnel: &Tunnel) -> Result<Keys, KeyError> {
        Ok(Keys {
            identity: Identity::read(&tunnel.key)?,
            peers: keys::peers(&tunnel.peers)?,
        })
    }

    fn is_same(&self, other: &Keys) -> bool {
        self.identity.public() == other.identity.public() && self.peers == other.peers
    }
}

/// The keys that hold, shared by all who make or accept connections. Whoever asks for them at each
/// handshake follows a reload.
#[derive(Debug)]
pub(crate) struct Credentials(RwLock<Arc<Keys>>);

impl Credentials {
    pub(crate) fn new(keys: Keys) -> Arc<Credentials> {
        Arc::new(Credentials(RwLock::new(Arc::new(keys))))
    }

    /// Those that hold now.
    pub(crate) fn now(&self) -> Arc<Keys> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files again; what cannot be used changes nothing and is logged. Returns the new keys
    /// where they are others.
    pub(crate) fn renew(&self, tunnel: &Tunnel) -> Option<Arc<Keys>> {
        let read = match Keys::read(tunnel) {
            Ok(read) => Arc::new(read),
            Err(error) => {
                tracing::error!("the keys stay as they were: {error}");
                return None;
            }
        };
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if held.is_same(&read) {
            return None;
        }
        if held.identity.public() != read.identity.public() {
            tracing::info!(key = %read.identity.public(), "new associations use another key of this box");
        }
        *held = Arc::clone(&read);
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_cannot_be_used_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let own = Identity::generate().unwrap();
        own.write_new(&path("hub.key")).unwrap();
        let [one, two] = [(); 2].map(|()| Identity::generate().unwrap().public().to_string());
        let tunnel = |peers: &[&str]| {
            let text = format!("role = \"hub\"\n[tunnel]\npeers = {peers:?}\n");
            Config::read(&path("hub.toml"), &text)
                .unwrap()
                .tunnel
                .unwrap()
        };
        let held = Credentials::new(Keys::read(&tunnel(&[&one])).unwrap());
        assert!(held.renew(&tunnel(&[&one])).is_none());
        assert!(held.renew(&tunnel(&[&one, "bpk1-"])).is_none());
        let renewed = held.renew(&tunnel(&[&one, &two])).unwrap();
        assert_eq!(renewed.peers.len(), 2);
        assert_eq!(held.now().peers, renewed.peers);
        // Another key of the box itself, and a file that is gone.
        std::fs::remove_file(path("hub.key")).unwrap();
        assert!(held.renew(&tunnel(&[&one])).is_none());
        Identity::generate()
            .unwrap()
            .write_new(&path("hub.key"))
            .unwrap();
        let renewed = held.renew(&tunnel(&[&one, &two])).unwrap();
        assert_ne!(renewed.identity.public(), own.public());
    }
}
