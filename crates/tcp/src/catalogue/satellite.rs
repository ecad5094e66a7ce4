//! Named transports made for satellite links.

use super::TransportSettings;
use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 1] = [named(
    "proactive",
    "a rising mean RTT cuts the window by 15% ahead of losses; losses without it cut nothing",
    "Sarkar, Shukla & Dasgupta 2010, section 2",
    || TransportSettings {
        // Section 2.4: "the congestion window to one". Which recovery it runs on
        // is not said: the profile's, or the scenario's.
        initial_window: Some(1.0),
        ..control("proactive")
    },
)];
