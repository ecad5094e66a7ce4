//! Where one hub is: its name is looked up at each attempt, and each of its addresses is tried.

use crate::config::HubAddress;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long a name may take to resolve; after it the addresses hold that were found before.
const LOOKUP: Duration = Duration::from_secs(5);
/// How long what was found holds, so that a burst of connections asks once.
const FRESH: Duration = Duration::from_secs(1);
/// Addresses of a name that are tried.
const ADDRESSES: usize = 8;

/// Where a hub is.
#[derive(Debug)]
pub(crate) struct Target {
    hub: HubAddress,
    /// Time after which the next address is tried while one has not answered.
    stagger: Duration,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    addresses: Vec<SocketAddr>,
    looked_up: Option<Instant>,
    /// The one that answered last.
    answered: Option<SocketAddr>,
}

impl Target {
    pub(crate) fn new(hub: HubAddress, stagger: Duration) -> Arc<Target> {
        Arc::new(Target {
            hub,
            stagger,
            known: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As the configuration writes it.
    pub(crate) const fn hub(&self) -> &HubAddress {
        &self.hub
    }

    /// Notes that the hub has answered at this address: it is tried first from now on, and what goes
    /// over to the fallback has to reach the same box.
    pub(crate) fn answered(&self, address: SocketAddr) {
        self.lock().answered = Some(address);
    }

    /// The address that answered last, or one that may.
    pub(crate) fn last(&self) -> Option<SocketAddr> {
        let known = self.lock();
        let first = known.addresses.first().copied();
        known.answered.or_else(|| self.hub.address()).or(first)
    }

    /// The addresses to try, in this order; empty where the name has none.
    pub(crate) async fn addresses(&self) -> Vec<SocketAddr> {
        let Some(name) = self.hub.name() else {
            return self.hub.address().into_iter().collect();
        };
        let is_fresh = |at: Instant| at.elapsed() < FRESH;
        if !self.lock().looked_up.is_some_and(is_fresh) {
            let asked = (name.to_owned(), self.hub.port());
            let look_up = move || asked.to_socket_addrs().map(Vec::from_iter);
            let found = timeout(LOOKUP, tokio::task::spawn_blocking(look_up)).await;
            match found {
                Ok(Ok(Ok(found))) if !found.is_empty() => self.found(found),
                // The resolver may be behind the link that is out.
                failed => {
                    tracing::debug!(hub = %self.hub, ?failed, "the name is not resolved");
                    self.lock().looked_up = Some(Instant::now());
                }
            }
        }
        let known = self.lock();
        let mut addresses = known.addresses.clone();
        // A stable order otherwise: that of the resolver (RFC 6724).
        addresses.sort_by_key(|address| known.answered != Some(*address));
        addresses
    }

    fn found(&self, found: Vec<SocketAddr>) {
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in found {
            if addresses.len() < ADDRESSES && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let mut known = self.lock();
        if known.addresses != addresses {
            tracing::debug!(hub = %self.hub, ?addresses, "the name is resolved");
        }
        known.addresses = addresses;
        known.looked_up = Some(Instant::now());
    }

    /// Tries addresses until one answers: the next when one has failed, or has not answered in a
    /// while (RFC 8305, section 5); those that are behind are given up. `None` without an address.
    pub(crate) async fn first<T, E, F>(
        &self,
        addresses: Vec<SocketAddr>,
        attempt: impl Fn(SocketAddr) -> F,
    ) -> Option<Result<T, E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let mut left = addresses.into_iter();
        let mut running = JoinSet::new();
        let mut failed = None;
        loop {
            match left.next() {
                Some(address) => drop(running.spawn(attempt(address))),
                None if running.is_empty() => return failed.map(Err),
                None => {}
            }
            tokio::select! {
                done = running.join_next() => match done {
                    Some(Ok(Ok(made))) => return Some(Ok(made)),
                    Some(Ok(Err(error))) => failed = Some(error),
                    // It is over, or has panicked, which the runtime reports.
                    Some(Err(_)) | None => {}
                },
                () = sleep(self.stagger), if left.len() > 0 => {}
            }
        }
    }

    /// Longest time for an attempt, where one with a single address has so long.
    pub(crate) fn patience(&self, one: Duration, addresses: usize) -> Duration {
        let more = u32::try_from(addresses.saturating_sub(1)).unwrap_or(u32::MAX);
        one + self.stagger.saturating_mul(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Arc<Target> {
        Target::new(text.parse().unwrap(), Duration::from_secs(1))
    }

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, last], 4433))
    }

    #[tokio::test]
    async fn an_address_needs_no_look_up_and_a_name_does() {
        let fixed = target("192.0.2.7");
        assert_eq!(fixed.addresses().await, [at(7)]);
        assert_eq!(fixed.last(), Some(at(7)));
        let local = target("localhost:9000").addresses().await;
        assert!(!local.is_empty());
        assert!(
            local
                .iter()
                .all(|it| it.ip().is_loopback() && it.port() == 9000)
        );
        assert!(target("no-such-name.invalid").addresses().await.is_empty());
    }

    #[tokio::test]
    async fn what_was_known_holds_where_a_name_is_not_resolved() {
        let gone = target("no-such-name.invalid");
        gone.found(vec![at(1), at(2), at(1)]);
        gone.lock().looked_up = None;
        assert_eq!(gone.addresses().await, [at(1), at(2)]);
        gone.answered(at(2));
        assert_eq!(gone.addresses().await, [at(2), at(1)]);
        assert_eq!(gone.last(), Some(at(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn each_address_is_tried_and_none_is_waited_for() {
        let all = || (1..=4).map(at).collect::<Vec<_>>();
        let target = target("192.0.2.7");
        // The first is silent, the second refuses, the third answers, slowly.
        let attempt = |address: SocketAddr| async move {
            match address {
                it if it == at(1) => std::future::pending().await,
                it if it == at(2) => Err("refused"),
                it if it == at(3) => {
                    sleep(Duration::from_millis(700)).await;
                    Ok(address)
                }
                _ => unreachable!("{address} is not needed"),
            }
        };
        let begin = tokio::time::Instant::now();
        assert_eq!(target.first(all(), attempt).await, Some(Ok(at(3))));
        assert_eq!(begin.elapsed(), Duration::from_millis(1700));
        let refuse = |_| async { Err::<(), _>("refused") };
        assert_eq!(target.first(all(), refuse).await, Some(Err("refused")));
        assert_eq!(target.first(Vec::new(), refuse).await, None);
        assert_eq!(
            target.patience(Duration::from_secs(10), 3),
            Duration::from_secs(12)
        );
    }
}
