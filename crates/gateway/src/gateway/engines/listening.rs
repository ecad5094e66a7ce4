//! The listeners of a terminal for SOCKS and CONNECT, which a reload may change.

use super::{Carrier, Engines, carry};
use crate::config::Config;
use crate::entry::{self, Kind, Listener};
use crate::gateway::RunError;
use crate::gateway::successors::Successors;
use crate::operate::SharedState;
use crate::terminal::Terminal;
use std::sync::Arc;
use std::time::Duration;

/// How often a socket is tried whose address another one of this process has just left.
const TRIES: u32 = 50;
/// Time between.
const PAUSE: Duration = Duration::from_millis(20);

impl Engines {
    /// Listens as the configuration in force asks for, in place of `old`. A socket whose address stays
    /// is kept, and no connection is refused there; users and answers hold for new requests. Where a
    /// socket cannot be had, all stay as they were.
    pub(in crate::gateway) async fn relisten(
        &mut self,
        state: &Arc<SharedState>,
        old: &Config,
        successors: Option<&Successors>,
    ) {
        let Carrier::Terminal(terminal) = &self.carrier else {
            return;
        };
        let terminal = Arc::clone(terminal);
        let new = state.config();
        // The names and passwords may have changed in their file.
        let reads = [&new.socks, &new.connect];
        let reads = reads
            .iter()
            .any(|it| it.as_ref().is_some_and(|it| it.users.is_some()));
        if !reads && (&old.socks, &old.connect) == (&new.socks, &new.connect) {
            return;
        }
        if let Err(first) = self.listen(state, &terminal, &new) {
            // The same port at another address is taken while the old socket listens.
            self.leave(&new);
            self.share(successors);
            let mut error = Some(first);
            for _ in 0..TRIES {
                tokio::time::sleep(PAUSE).await;
                error = self.listen(state, &terminal, &new).err();
                if error.is_none() {
                    break;
                }
            }
            if let Some(error) = error {
                tracing::error!("the listeners stay as they were: {error}");
                if let Err(error) = self.listen(state, &terminal, old) {
                    tracing::error!("and cannot be had again: {error}");
                }
            }
        }
        self.share(successors);
    }

    /// Listens as `config` asks for, with the sockets that there are where one fits.
    fn listen(
        &mut self,
        state: &Arc<SharedState>,
        terminal: &Arc<Terminal>,
        config: &Config,
    ) -> Result<(), RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::start("a listener", error);
        let asked = self
            .listeners
            .iter()
            .filter(|it| it.kind() != Kind::Transparent);
        let there: Result<Vec<_>, _> = asked.map(Listener::try_clone).collect();
        let there = there.map_err(|error| failed(&error))?;
        let listeners = entry::listeners(config, None, there).map_err(|error| failed(&error))?;
        let kept: Result<Vec<_>, _> = listeners.iter().map(Listener::try_clone).collect();
        let kept = kept.map_err(|error| failed(&error))?;
        let serving = carry(state, terminal, listeners)?;
        self.retain(|listener| listener.kind() == Kind::Transparent);
        self.listeners.extend(kept);
        self.serving.extend(serving);
        Ok(())
    }

    /// Closes the sockets that `config` does not ask for.
    fn leave(&mut self, config: &Config) {
        let (socks, connect) = (&config.socks, &config.connect);
        self.retain(|listener| {
            let asked = match listener.kind() {
                Kind::Transparent => return true,
                Kind::Socks => socks,
                Kind::Connect => connect,
            };
            asked
                .as_ref()
                .is_some_and(|it| it.listen == listener.address())
        });
    }

    fn retain(&mut self, keeps: impl Fn(&Listener) -> bool) {
        let listeners = std::mem::take(&mut self.listeners);
        let serving = std::mem::take(&mut self.serving);
        for (listener, serving) in listeners.into_iter().zip(serving) {
            if keeps(&listener) {
                self.listeners.push(listener);
                self.serving.push(serving);
            }
        }
    }

    /// A process that takes over gets the sockets that there are now.
    fn share(&self, successors: Option<&Successors>) {
        if let Some(successors) = successors {
            match self.estate() {
                Ok(estate) => successors.renew(estate),
                Err(error) => tracing::error!(%error, "a process that takes over gets old sockets"),
            }
        }
    }
}
