//! The congestion control of an association: the controls of `bentpipe-cc` in QUIC
//! ([`bentpipe_quic::controller`]), with what a box knows of its link.

mod choice;

pub use bentpipe_quic::controller::{Refusal, refusal};
pub use choice::Choice;

use super::known::Knowledge;
use super::shaper::Peer;
use bentpipe_cc::PathHint;
use bentpipe_quic::controller::{Adapter, Path};
use bentpipe_units::{Duration as Span, Rate, Segments};
use quinn::congestion::{Controller as QuicController, ControllerFactory};
use std::sync::Arc;
use std::time::Instant;

/// Makes the controller of an association.
#[derive(Debug)]
pub struct Factory {
    choice: Choice,
    knowledge: Arc<Knowledge>,
    peer: Arc<Peer>,
}

impl Factory {
    /// A factory for the association with `peer`, which takes the pacing rate of the
    /// control, if it has one.
    #[must_use]
    pub fn new(choice: Choice, knowledge: Arc<Knowledge>, peer: Arc<Peer>) -> Factory {
        Factory {
            choice,
            knowledge,
            peer,
        }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn QuicController> {
        let control = self.choice.build(&self.knowledge);
        let path = Link {
            knowledge: Arc::clone(&self.knowledge),
            peer: Arc::clone(&self.peer),
        };
        let seed = super::transport::random();
        Box::new(Adapter::new(control, seed, path, now, current_mtu))
    }
}

/// The satellite link under an association.
#[derive(Debug)]
struct Link {
    knowledge: Arc<Knowledge>,
    /// Takes the pacing rate of the control.
    peer: Arc<Peer>,
}

impl Path for Link {
    fn rate(&self) -> Option<Rate> {
        let verified = self.peer.link();
        let rate = self.knowledge.rate()?;
        Some(verified.map_or(rate, |verified| verified.min(rate)))
    }

    fn rtt(&self) -> Span {
        let rtt = self.knowledge.rtt().as_nanos();
        Span::from_nanos(u64::try_from(rtt).unwrap_or(u64::MAX))
    }

    fn hint(&self, payload: f64, min_rtt: Option<Span>) -> Option<PathHint> {
        Some(Knowledge::hint(self.rate()?, payload, min_rtt))
    }

    fn acknowledged(&self, bytes: u64, rtt: Span) {
        self.knowledge.count(bytes, rtt);
    }

    fn set_pace(&mut self, pace: Option<Rate>) {
        self.peer.set_pace(pace);
    }

    /// Ten packets (RFC 9002, section 7.2), or the whole product of the link for a
    /// control that knows it.
    fn initial_window(&self, mtu: u16, knows_path: bool) -> Segments {
        match self.knowledge.rate().filter(|_| knows_path) {
            Some(rate) => {
                let bits = rate.bps_f64() * 2.0 * self.knowledge.rtt().as_secs_f64();
                (bits / 8.0 / f64::from(mtu)).max(10.0)
            }
            None => 10.0,
        }
    }
}

#[cfg(test)]
mod tests;
