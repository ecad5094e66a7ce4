//! Which agent of ns-2 a transport runs.

use crate::transport::{CongestionControlChoice, Transport};
use bentpipe_cc::ParameterValue;

/// Which agent.
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

/// What the `WestwoodNR` agents do otherwise than Newreno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Westwood {
    /// UCLA's.
    Ucla,
    /// Bari's.
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

/// True if the congestion control is Vegas, which has an agent of its own.
pub(super) fn is_vegas(transport: &Transport) -> bool {
    matches!(&transport.congestion_control, CongestionControlChoice::Named(name) if name == "vegas")
}
