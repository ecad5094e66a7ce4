//! TCP Bulk Repeat: Westwood that sends everything again when errors are heavy.
//!
//! Source: Yang, Wang, Gerla & Sanadidi, "TCP Bulk Repeat", Computer
//! Communications 28(5), 2005, as the survey of Salamanca 2008 and its abstract
//! describe it: on a loss judged random everything outstanding is sent again
//! (bulk retransmission), the retransmission timeout does not back off, and the
//! window is not cut.
//!
//! | | judged random | judged congestion |
//! |---|---|---|
//! | loss | everything outstanding again; cwnd and ssthresh stay | as Westwood |
//! | timeout | as Westwood, but the timeout does not double | as Westwood |
//!
//! | parameter | default | |
//! |---|---|---|
//! | backlog | 3 | segments in the queue from which a loss is congestion |
//! | those of Westwood | | |
//!
//! Only the survey could be read. These readings are ours: a loss is judged by
//! the backlog cwnd (RTT - RTTmin) / RTT of the last RTT sample, as Veno does; an
//! ECN mark is congestion; a loss that is found while another is repaired does
//! not repeat everything once more.

use super::after_loss::AfterLoss;
use super::astart::WestwoodParts;
use crate::declaration::{Algorithm, Control, Described, Family, LossRecovery, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{Ack, Classic, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments};

parameters! {
    /// Settings of [`BulkRepeat`] besides those of Westwood.
    pub struct BulkRepeatParameters {
        backlog: f64 = number(3.0, "segments", (0.0, 1_000_000.0)),
            "segments in the queue from which a loss is congestion and not the channel's";
    }
}

/// TCP Bulk Repeat on Westwood.
#[derive(Clone, Debug)]
pub struct BulkRepeat {
    westwood: Classic,
    /// Backlog from which a loss is congestion, segments.
    backlog: Segments,
    rtt: Duration,
    min_rtt: Duration,
    /// The last loss was judged random.
    random: bool,
    after_loss: AfterLoss,
}

impl BulkRepeat {
    /// Bulk Repeat on this Westwood; `backlog` segments in the queue make a loss
    /// one of congestion.
    #[must_use]
    pub const fn new(westwood: Classic, backlog: Segments) -> BulkRepeat {
        BulkRepeat {
            westwood,
            backlog,
            rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            random: false,
            after_loss: AfterLoss::NONE,
        }
    }

    /// True if the queue is too short for a loss to be congestion.
    fn is_random(&self, window: &Window) -> bool {
        if self.rtt.is_zero() {
            return false;
        }
        let waited = self.rtt.saturating_sub(self.min_rtt).as_secs();
        window.cwnd * waited / self.rtt.as_secs() < self.backlog
    }
}

impl Algorithm for BulkRepeat {
    fn controls() -> Vec<Control<BulkRepeat>> {
        let described = Described {
            name: "bulk-repeat",
            summary: "Westwood that sends everything again on a random loss, without back-off",
            source: "Yang, Wang, Gerla & Sanadidi 2005, as Salamanca 2008 describes it",
            open: "which losses are random: those with less than `backlog` segments in the queue, \
                   as Veno",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "Westwood that sends everything again on a random loss; its timeout does \
                          not back off",
                source: "Yang et al. 2005 (our reading of a survey)",
                recovery: Some(LossRecovery::NewReno),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        type Settings = (BulkRepeatParameters, WestwoodParts);
        vec![Control::new(described, |(own, parts): Settings| {
            BulkRepeat::new(Classic::from_parts("westwood", parts), own.backlog)
        })]
    }
}

impl CongestionControl for BulkRepeat {
    named!("bulk-repeat");
    delegates!(westwood: on_established, on_spurious, phase, bandwidth_estimate);

    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.westwood.on_sample(ack, window);
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
        }
        self.min_rtt = ack.min_rtt;
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let before = window.cwnd;
        self.westwood.on_ack(ack, window);
        self.after_loss.grow(window.cwnd - before);
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        self.random = !loss.ecn && self.is_random(window);
        if self.random {
            window.actions.repeat_all = true;
            self.after_loss = AfterLoss::new(false, window);
        } else {
            self.westwood.on_loss(loss, window);
        }
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        if self.random {
            self.after_loss.leave(exit, window);
        } else {
            self.westwood.on_recovery_exit(exit, window);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        window.actions.keeps_rto = self.is_random(window);
        self.westwood.on_timeout(timeout, window);
    }
}
