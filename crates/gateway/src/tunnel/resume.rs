//! Careful Resume (RFC 9959): the capacity of the path, remembered across restarts for the
//! transport `careful-resume` on links whose rate is measured.
//!
//! One small file in the service's state folder (`$STATE_DIRECTORY`, which systemd sets) for each
//! other box. It is written atomically. A file that is older than an hour or cannot be read is
//! ignored (section 2.1: paths change); the transport itself checks that the round trip is similar,
//! jumps to half of the saved window only, and takes it back if that was too much.

use bentpipe_cc::Parameters;
use bentpipe_units::{Duration as Span, Rate};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The transport that uses it.
pub(super) const TRANSPORT: &str = "careful-resume";
/// Nothing older is used.
const LIFETIME: Duration = Duration::from_secs(3600);
/// Time between two writes.
const INTERVAL: Duration = Duration::from_secs(30);
/// The saved window is in packets of this size.
const PACKET: f64 = 1452.0;

/// Saved parameters of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Saved {
    /// Largest rate that was delivered for a second, bit/s.
    rate: u64,
    /// Smallest round trip, nanoseconds.
    rtt: u64,
    /// Unix time, seconds.
    at: u64,
}

/// The memory of one path.
#[derive(Debug)]
pub(super) struct Memory {
    file: PathBuf,
    /// The best since the last write, and when that was.
    best: Mutex<(Rate, Option<Instant>)>,
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl Memory {
    /// The memory of the path to `peer`, where the service has a state folder.
    pub(super) fn of(peer: &str) -> Option<Memory> {
        let folder = std::env::var_os("STATE_DIRECTORY")?;
        Some(Memory::at(Path::new(&folder), peer))
    }

    fn at(folder: &Path, peer: &str) -> Memory {
        let name = peer.replace([':', '[', ']'], "-");
        Memory {
            file: folder.join(format!("path-{name}.json")),
            best: Mutex::new((Rate::ZERO, None)),
        }
    }

    /// Parameters of the transport, where something useful is known.
    pub(super) fn parameters(&self) -> Option<Parameters> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let saved: Saved = serde_json::from_str(&text).ok()?;
        let age = seconds_now().checked_sub(saved.at)?;
        if age > LIFETIME.as_secs() || saved.rate == 0 || saved.rtt == 0 {
            return None;
        }
        let rtt = Span::from_nanos(saved.rtt);
        let window = saved.rate as f64 / 8.0 * rtt.as_secs() / PACKET;
        if window < 20.0 {
            return None;
        }
        Some(
            Parameters::new()
                .with("saved_cwnd", window)
                .with("saved_rtt", rtt),
        )
    }

    /// Notes a second's rate; writes now and then.
    pub(super) fn note(&self, delivered: Rate, rtt: Option<Span>) {
        let Some(rtt) = rtt else { return };
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.0 = best.0.max(delivered);
        let due = best.1.is_none_or(|last| last.elapsed() >= INTERVAL);
        if !due || best.0 == Rate::ZERO {
            return;
        }
        let saved = Saved {
            rate: best.0.bps(),
            rtt: rtt.as_nanos(),
            at: seconds_now(),
        };
        *best = (Rate::ZERO, Some(Instant::now()));
        drop(best);
        if let Err(error) = self.write(&saved) {
            tracing::debug!(file = %self.file.display(), %error, "cannot save what the path carries");
        }
    }

    fn write(&self, saved: &Saved) -> std::io::Result<()> {
        let fresh = self.file.with_extension("new");
        std::fs::write(&fresh, serde_json::to_string(saved)?)?;
        std::fs::rename(&fresh, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_cc::build;

    #[test]
    fn what_a_path_carried_is_there_after_a_restart_for_an_hour() {
        let folder = tempfile::tempdir().unwrap();
        let peer = "[2001:db8::1]:4433";
        let memory = Memory::at(folder.path(), peer);
        assert_eq!(memory.parameters(), None);
        memory.note(Rate::from_mbps(20), None);
        assert_eq!(memory.parameters(), None);
        memory.note(Rate::from_mbps(20), Some(Span::from_millis(550)));
        let parameters = Memory::at(folder.path(), peer).parameters().unwrap();
        assert!(build(TRANSPORT, &parameters).is_ok());
        // 20 Mbit/s for 550 ms are 947 packets.
        let old = Saved {
            rate: 20_000_000,
            rtt: 550_000_000,
            at: seconds_now() - LIFETIME.as_secs() - 10,
        };
        memory.write(&old).unwrap();
        assert_eq!(memory.parameters(), None);
        std::fs::write(&memory.file, "{").unwrap();
        assert_eq!(memory.parameters(), None);
    }
}
