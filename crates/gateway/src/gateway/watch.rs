//! Background tasks: they watch the rate file and the delivered rate, repeat
//! the self-check, and feed the watchdog.

use crate::config::RateSource;
use crate::operate::notify::Notify;
use crate::operate::state::Path as Reached;
use crate::operate::{Finding, Severity, SharedState, check};
use bentpipe_units::Rate;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Follows the rate file, where one is configured now or after a reload.
pub(super) fn watch_rate(state: &Arc<SharedState>) {
    let state = Arc::clone(state);
    tokio::spawn(async move {
        let mut last = None;
        loop {
            if let RateSource::File { path, .. } = &state.config().link.rate {
                let read = read_short(path);
                if let Some(text) = read.filter(|text| last.as_ref() != Some(text)) {
                    match crate::operate::control::read_rate(&text) {
                        Ok(rate) => {
                            if state.set_rate(rate) {
                                tracing::info!(file = %path.display(), rate = text.trim(), "the rate of the link has changed");
                            }
                        }
                        Err(why) => {
                            tracing::warn!(file = %path.display(), "the rate stays as it was: {why}");
                        }
                    }
                    last = Some(text);
                }
            } else {
                // The same text holds again when a reload names the file again.
                last = None;
            }
            tokio::time::sleep(RATE_FILE).await;
        }
    });
}

/// Notes once a second how fast the satellite link took data.
pub(super) fn watch_delivered(state: &Arc<SharedState>) {
    let state = Arc::clone(state);
    tokio::spawn(async move {
        let mut before = 0;
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        loop {
            ticks.tick().await;
            let paths = state.paths();
            let sent = paths.iter().map(|(_, path)| match path {
                Reached::Quic(connection) => {
                    let sent = connection.stats().udp_tx;
                    sent.bytes + HEADERS * sent.datagrams
                }
                // The kernel counts those.
                Reached::Tls(_) => 0,
            });
            // Less than before where an association has ended.
            let sent: u64 = sent.sum();
            state.note_delivered(Rate::from_bps(8 * sent.saturating_sub(before)));
            before = sent;
        }
    });
}

/// Headers of IPv4 and UDP, bytes.
const HEADERS: u64 = 28;

/// How often the rate file is read.
const RATE_FILE: Duration = Duration::from_millis(200);

/// Examines the machine at once, and the running gateway from when the other box has
/// had time to answer; logs what is not as it should be when that changes.
pub(super) async fn self_check(state: Arc<SharedState>) {
    let examined = state.config();
    let machine = tokio::task::spawn_blocking(move || check::machine(&examined)).await;
    let machine = machine.unwrap_or_default();
    report(&machine);
    state.note_findings(machine.clone());
    let mut last: Vec<Finding> = Vec::new();
    loop {
        tokio::time::sleep(check::EVERY).await;
        let now = check::running(&state.config(), &state.status());
        let known = |it: &Finding| {
            let same = |old: &Finding| old.what == it.what && old.severity == it.severity;
            last.iter().any(same)
        };
        let changed: Vec<Finding> = now.iter().filter(|it| !known(it)).cloned().collect();
        report(&changed);
        state.note_findings(machine.iter().chain(&now).cloned().collect());
        last = now;
    }
}

fn report(findings: &[Finding]) {
    for it in findings {
        match it.severity {
            Severity::Good => tracing::debug!(check = it.what, "{}", it.found),
            Severity::Warning => tracing::warn!(check = it.what, "{}; {}", it.found, it.remedy),
            Severity::Error => tracing::error!(check = it.what, "{}; {}", it.found, it.remedy),
        }
    }
}

/// Reports to the service manager that the runtime still turns.
pub(super) fn watchdog(notify: &Notify) -> Option<JoinHandle<()>> {
    let every = Notify::watchdog()?;
    let notify = notify.clone();
    Some(tokio::spawn(async move {
        loop {
            notify.alive();
            tokio::time::sleep(every).await;
        }
    }))
}

/// A rate file; it is a few bytes on a local file system.
fn read_short(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    (text.len() < 200).then_some(text)
}
