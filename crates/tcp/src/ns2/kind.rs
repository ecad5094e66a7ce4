//! The agent of ns-2 that a transport runs.

use crate::transport::{CongestionControlChoice, Transport};
use bentpipe_cc::ParameterValue;

/// The agent of ns-2 that the sender reproduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tahoe,
    Reno,
    NewReno,
    Sack1,
    Vegas,
    /// UCLA's `Westwood`.
    Westwood,
}

/// Differences of the `WestwoodNR` agents from Newreno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Westwood {
    /// WestwoodNR of UCLA.
    Ucla,
    /// Westwood+ of Bari.
    Bari,
}

impl Westwood {
    /// The agent whose laws are those of the transport's congestion control.
    pub(super) fn of(transport: &Transport) -> Option<Westwood> {
        match &transport.congestion_control {
            CongestionControlChoice::Named(name) if name == "westwood-nr" => Some(Westwood::Ucla),
            CongestionControlChoice::Named(name) if name == "westwood-bari" => Some(Westwood::Bari),
            _ => None,
        }
    }

    /// True with Newreno's settings of 2002.
    pub(super) fn is_steady(self, transport: &Transport) -> bool {
        match (transport.parameters.get("newreno"), self) {
            (Some(ParameterValue::Text(given)), _) => given == "2002",
            (_, Westwood::Ucla) => true,
            (_, Westwood::Bari) => false,
        }
    }
}

/// True if the congestion control is Vegas, which has its own agent.
pub(super) fn is_vegas(transport: &Transport) -> bool {
    matches!(&transport.congestion_control, CongestionControlChoice::Named(name) if name == "vegas")
}
