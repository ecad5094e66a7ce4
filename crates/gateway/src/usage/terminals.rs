//! What a hub carries for each of its terminals, and the cap of each over TLS. Over QUIC the shaper keeps it.

use super::level::Level;
use super::totals::Totals;
use crate::config::Config;
use bentpipe_units::Rate;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// What one connection may send before the next has its turn, as time at the cap; and its limits, bytes.
const TURN: Duration = Duration::from_millis(10);
const LIMITS: (usize, usize) = (1_500, 64 << 10);

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

    /// The cap.
    fn cap(&self) -> Option<Rate> {
        match self.cap.load(Relaxed) {
            0 => None,
            cap => Some(Rate::from_bps(cap)),
        }
    }

    /// Waits until something may be sent, after those that have asked before; returns how many bytes, which
    /// are then counted, of so many.
    pub(crate) async fn pace(&self, most: usize) -> usize {
        let mut level = self.level.lock().await;
        while let Some(cap) = self.cap() {
            match level.wait(cap, Instant::now()) {
                None => {
                    let turn = cap.bps_f64() / 8.0 * TURN.as_secs_f64();
                    let bytes = (turn as usize).clamp(LIMITS.0, LIMITS.1).min(most);
                    level.bytes -= bytes as f64;
                    return bytes;
                }
                Some(until) => tokio::time::sleep_until(until.into()).await,
            }
        }
        most
    }

    /// Whether the configuration has it, or it has connections still.
    pub(super) fn is_there(&self, config: &Config) -> bool {
        let tunnel = config.tunnel.as_ref();
        let listed = tunnel.is_some_and(|it| it.peers.contains(&self.key));
        listed || self.open.load(Relaxed) > 0
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
    use std::sync::Arc;

    #[tokio::test]
    async fn a_cap_holds_from_the_reload_that_sets_it() {
        let config = |keys: &str| {
            let text = format!("role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n{keys}");
            config_from_str(&text).unwrap_or_else(|errors| panic!("{errors}"))
        };
        let terminal = Arc::new(Terminal::new("k".to_owned(), &config("")));
        assert_eq!(terminal.pace(1 << 20).await, 1 << 20);
        terminal.renew(&config("[[terminal]]\nkey = \"k\"\ncap = \"8 Mbit/s\"\n"));
        // Two connections, of which neither waits for more than a turn of the other.
        let one = |terminal: Arc<Terminal>| async move {
            let (began, mut sent) = (Instant::now(), 0);
            while began.elapsed() < Duration::from_millis(500) {
                let bytes = terminal.pace(256 << 10).await;
                assert_eq!(bytes, 10_000);
                sent += bytes;
            }
            sent
        };
        let (a, b) = tokio::join!(one(Arc::clone(&terminal)), one(terminal));
        assert!((450_000..580_000).contains(&(a + b)), "{a} and {b}");
        assert!(a.abs_diff(b) <= 30_000, "{a} and {b}");
    }
}
