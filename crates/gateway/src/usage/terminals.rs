//! What a hub carries for each of its terminals, and the cap of one that UDP does not reach. Over QUIC the
//! shaper holds it to its cap.

use super::level::Level;
use super::totals::Totals;
use crate::config::Config;
use bentpipe_units::Rate;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// One terminal of a hub.
#[derive(Debug)]
pub(crate) struct Terminal {
    key: String,
    pub(super) totals: Totals,
    /// Connections that are open.
    pub(super) open: AtomicU64,
    /// Bits per second; 0 is no cap.
    cap: AtomicU64,
    level: Mutex<Level>,
}

impl Terminal {
    pub(super) fn new(key: String, config: &Config) -> Terminal {
        let terminal = Terminal {
            key,
            totals: Totals::default(),
            open: AtomicU64::new(0),
            cap: AtomicU64::new(0),
            level: Mutex::new(Level::new(Instant::now())),
        };
        terminal.renew(config);
        terminal
    }

    /// Another configuration holds.
    pub(super) fn renew(&self, config: &Config) {
        let (_, cap) = config.terminal_terms(&self.key);
        self.cap
            .store(cap.map_or(0, |cap| cap.bps().max(1)), Relaxed);
    }

    /// Takes so many bytes of what may be sent, or says when to ask again.
    fn take(&self, bytes: usize, now: Instant) -> Option<Instant> {
        let cap = match self.cap.load(Relaxed) {
            0 => return None,
            cap => Rate::from_bps(cap),
        };
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = level.wait(cap, now);
        if wait.is_none() {
            level.bytes -= bytes as f64;
        }
        wait
    }

    /// Waits until so many bytes may be sent.
    pub(crate) async fn pace(&self, bytes: usize) {
        while let Some(until) = self.take(bytes, Instant::now()) {
            tokio::time::sleep_until(until.into()).await;
        }
    }

    pub(super) fn status(&self, config: &Config) -> Value {
        let (weight, cap) = config.terminal_terms(&self.key);
        let [sent, received, connections] = self.totals.read();
        json!({
            "terminal": self.key,
            "name": config.terminal(&self.key).and_then(|it| it.name.clone()),
            "weight": weight,
            "cap_bits_per_second": cap.map(Rate::bps),
            "connections_active": self.open.load(Relaxed),
            "connections": connections,
            "bytes_sent": sent,
            "bytes_received": received,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;
    use std::time::Duration;

    #[test]
    fn a_cap_holds_from_the_reload_that_sets_it() {
        let config = |keys: &str| {
            let text = format!("role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n{keys}");
            config_from_str(&text).unwrap_or_else(|errors| panic!("{errors}"))
        };
        let terminal = Terminal::new("k".to_owned(), &config(""));
        let begin = Instant::now();
        assert!((0..1000).all(|_| terminal.take(16_000, begin).is_none()));
        terminal.renew(&config("[[terminal]]\nkey = \"k\"\ncap = \"8 Mbit/s\"\n"));
        let mut sent = 0;
        for millis in 0..10_000 {
            let now = begin + Duration::from_millis(millis);
            while terminal.take(16_000, now).is_none() {
                sent += 16_000;
            }
        }
        assert!((9_950_000..10_100_000).contains(&sent), "{sent}");
    }
}
