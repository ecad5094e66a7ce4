//! What the server says about a run, and what the client prints at its end.

use crate::judge::{Count, Fault};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run as the server saw it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerReport {
    /// Connections by kind.
    pub kinds: BTreeMap<String, Count>,
    /// The first violations.
    pub faults: Vec<Fault>,
    /// Connections that have not ended here, as the kind and the number of each.
    pub open: Vec<(String, u64)>,
    /// Connections that ended cleanly before their plan had come.
    pub nameless_ends: u64,
    /// Connections that were reset before their plan had come.
    pub nameless_resets: u64,
    /// Plans of which a byte was not as it was sent.
    pub bad_plans: u64,
}

/// Times of one kind, seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// Half of the connections were no slower.
    pub median: f64,
    /// 99% of the connections were no slower.
    pub p99: f64,
    /// The slowest.
    pub most: f64,
}

impl Times {
    /// The times of these connections.
    #[must_use]
    pub fn of(mut seconds: Vec<f32>) -> Times {
        seconds.sort_by(f32::total_cmp);
        let at = |share: usize| {
            let place = (seconds.len() * share / 100).min(seconds.len().saturating_sub(1));
            seconds.get(place).copied().unwrap_or(0.0).into()
        };
        Times {
            median: at(50),
            p99: at(99),
            most: at(100),
        }
    }
}

/// A run, from both ends.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Connections.
    pub transfers: u64,
    /// Connections that went as planned.
    pub as_planned: u64,
    /// Connections cut short where that is allowed, and both ends saw it.
    pub cut: u64,
    /// Violations, of both ends.
    pub violations: u64,
    /// Bytes of content received, by both ends.
    pub bytes: u64,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Connections by kind, as the client saw them.
    pub client: BTreeMap<String, Count>,
    /// Connections by kind, as the server saw them; empty without a server to
    /// ask.
    pub server: BTreeMap<String, Count>,
    /// From the start of a connection to its end, by kind.
    pub times: BTreeMap<String, Times>,
}
