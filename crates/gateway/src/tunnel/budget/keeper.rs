//! Keeps what is held within the budget while the box runs.

use super::Budget;
use crate::operate::{Path, SharedState};
use crate::sys;
use quinn::VarInt;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// Time between looks.
const TICK: Duration = Duration::from_millis(250);
/// Least time between two growths of a window: quinn lets the other box send that much more at once,
/// whatever it was shrunk by before.
const GROWTH: Duration = Duration::from_secs(1);
/// Time between returns of memory to the system.
const TRIM: Duration = Duration::from_secs(5);
/// What connections held at least, bytes, before their memory is returned.
const WORTH: u64 = 8 << 20;
/// Memory of a connection beside its payload, bytes, roughly.
const CONNECTION: u64 = 8 << 10;

/// Cuts hosts that stall, sizes the windows of associations, and returns memory, until the budget is
/// gone.
pub(in crate::tunnel) async fn keep(budget: Weak<Budget>, state: Arc<SharedState>) {
    let mut windows = HashMap::new();
    let mut peak = 0;
    let mut next = Instant::now() + TRIM;
    loop {
        tokio::time::sleep(TICK).await;
        let Some(budget) = budget.upgrade() else {
            return;
        };
        let cut = budget.readers.cut(budget.memory, Instant::now());
        let counters = &state.counters;
        if cut > 0 {
            counters.readers_cut.add(cut);
            tracing::warn!(
                connections = cut,
                "cut: memory is short, and their hosts do not read"
            );
        }
        let held = budget.held();
        counters.memory_held.set(held);
        counters.readers_stalled.set(budget.readers.count());
        let paths = state.paths();
        let quic = paths.iter().filter_map(|(_, path)| match path {
            Path::Quic(connection) => Some(connection),
            Path::Tls(_) => None,
        });
        let window = budget.window(quic.clone().count());
        let mut now = HashMap::new();
        for connection in quic {
            let id = connection.stable_id();
            let known: Option<(u64, Instant)> = windows.get(&id).copied();
            let (mut set, mut since) = known.unwrap_or((0, Instant::now()));
            let shrinks = window < set - set / 8;
            let grows = window > set + set / 8 && since.elapsed() >= GROWTH;
            if known.is_none() || shrinks || grows {
                (set, since) = (window, Instant::now());
                connection.set_receive_window(VarInt::from_u64(set).unwrap_or(VarInt::MAX));
            }
            now.insert(id, (set, since));
        }
        windows = now;
        let held = held + CONNECTION * counters.connections_active.get();
        peak = peak.max(held);
        if peak > WORTH && held < peak / 2 && Instant::now() >= next {
            peak = held;
            next = Instant::now() + TRIM;
            // It ends by itself.
            drop(spawn_blocking(sys::trim));
        }
    }
}
