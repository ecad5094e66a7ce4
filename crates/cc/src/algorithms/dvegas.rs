//! DVegas: Vegas with reports of the queue at its own node.
//!
//! Source: Fei Peng, Lijuan Wu, V. C. M. Leung, "Cross-layer Enhancement of TCP
//! Vegas over Satellite Links between Performance Enhancement Proxies", 2008, as
//! Salamanca (2008), section 1.2.2 and reference 26, describes it:
//! for the satellite leg of a split connection; an active queue management at
//! the terminal's MAC queue reports to the sender at once when it is congested, so
//! that the loop is local and not one over the satellite; what the channel
//! loses is no sign of congestion. Thresholds, what is fed back and how the
//! window follows are not printed in what we could read: **all that is below is
//! our reading, not the original.**
//!
//! Once a frame the queue at the sender's node is reported
//! ([`crate::QueueReport`]); its mean q is exponential.
//!
//! - q < minimum: the window grows as Vegas' does, with q added to the
//!   segments that Vegas finds in the queue.
//! - minimum <= q <= maximum: it does not grow, and slow start ends.
//! - q > maximum: besides, each report takes a segment away. A full queue takes
//!   an eighth of the window instead.
//! - A lost segment is sent again, and the window stays. A timeout sets it to 2
//!   if q was above the minimum when the segment was sent; else it stays, too.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | alpha, beta, gamma | 1, 3, 1 | segments in the queue, as in Vegas |
//! | whole_diff, syn_is_segment | true, false | as in Vegas |
//! | minimum, maximum | 5, 15 | packets of q |
//! | share | false | minimum and maximum are 1/4 and 3/4 of the buffer |
//! | weight | 0.1 | of a report in q |
//!
//! Left open, and the reading chosen, beyond that:
//! - The weight: RED's 0.002 would average over 500 frames, twelve seconds;
//!   0.1 averages over ten, about a hop.
//! - The RTT holds the wait in the local queue, too, so that q counts twice
//!   while the window grows: the sender is the more careful the more of the
//!   queue is its own node's.
//! - Without reports q is 0: Vegas without cuts at losses.
//! - An echoed ECN mark halves the window, as in Vegas.

use super::vegas::{Vegas, VegasParameters};
use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{flag, number, parameters};
use crate::{Ack, CongestionControl, Loss, QueueReport, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Segments, Time, math};
use std::collections::VecDeque;

/// The smallest window that it sets.
const LEAST: Segments = 2.0;

/// Times at which q crossed the minimum that are remembered.
const CROSSINGS: usize = 64;

/// Permitted range of a parameter in packets of the queue.
const PACKETS: (f64, f64) = (0.0, 1_000_000.0);

parameters! {
    /// What DVegas makes of the queue at its node.
    #[derive(Copy)]
    pub struct QueueLaw {
        minimum: f64 = number(5.0, "packets", PACKETS),
            "mean queue at its node below which cwnd grows";
        maximum: f64 = number(15.0, "packets", PACKETS),
            "mean queue at its node above which cwnd shrinks with every report";
        share: bool = flag(false), "the two are a quarter and three quarters of the buffer instead";
        weight: f64 = number(0.1, "", (1e-6, 1.0)), "of a report in the mean queue";
    }
}

impl QueueLaw {
    fn thresholds(&self, limit: Option<f64>) -> (f64, f64) {
        match limit.filter(|_| self.share) {
            Some(limit) => (0.25 * limit, 0.75 * limit),
            None => (self.minimum, self.maximum),
        }
    }
}

/// State of DVegas for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct DVegas {
    vegas: Vegas,
    law: QueueLaw,
    mean: f64,
    /// The mean is not below the minimum.
    holds: bool,
    /// When that changed, and to what.
    crossings: VecDeque<(Time, bool)>,
    /// When the first unacknowledged segment was sent, as of the last ACK.
    head_sent_at: Option<Time>,
}

impl DVegas {
    /// Vegas, whose losses do not cut, under the law `law`.
    #[must_use]
    pub fn new(vegas: Vegas, law: QueueLaw) -> DVegas {
        DVegas {
            vegas: vegas.without_cuts(),
            law,
            mean: 0.0,
            holds: false,
            crossings: VecDeque::new(),
            head_sent_at: None,
        }
    }

    /// The mean queue at the sender's node, packets.
    #[must_use]
    pub const fn mean_queue(&self) -> f64 {
        self.mean
    }

    /// True if the mean was not below the minimum at `at`.
    fn held_at(&self, at: Time) -> bool {
        let before = self.crossings.iter().rev().find(|(when, _)| *when <= at);
        match (before, self.crossings.front()) {
            (Some((_, held)), _) => *held,
            // Before all that is remembered it was the other way round.
            (None, Some((_, held))) => !*held,
            (None, None) => self.holds,
        }
    }
}

impl Algorithm for DVegas {
    fn controls() -> Vec<Control<DVegas>> {
        let described = Described {
            name: "dvegas",
            summary: "Vegas that hears the MAC queue of its terminal; losses do not cut",
            source: "Wu, Peng & Leung 2004, Peng, Wu & Leung 2006 (abstracts), Salamanca 2008",
            open: "thresholds, what is fed back and how the window follows are all our reading, \
                   not the original",
            family: Family::Delay,
            transport: TransportDefaults {
                summary: "Vegas that hears its terminal's MAC queue; losses do not cut (our \
                          reading)",
                source: "Wu, Peng & Leung 2004",
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        type Settings = (VegasParameters, QueueLaw);
        vec![Control::new(described, |(vegas, law): Settings| {
            DVegas::new(Vegas::new(vegas), law)
        })]
    }
}

impl CongestionControl for DVegas {
    named!("dvegas");
    always!(needs_queue_reports);
    delegates!(vegas: on_established, on_loss, on_spurious);
    ignores!(on_recovery_exit);

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.head_sent_at = ack.head.map(|head| head.sent_at);
        self.vegas.on_sample(ack, window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let before = window.cwnd;
        self.vegas.on_ack(ack, window);
        if self.holds {
            window.cwnd = window.cwnd.min(before);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let sent_at = self.head_sent_at.unwrap_or(timeout.now);
        if self.held_at(sent_at) {
            self.vegas.on_timeout(timeout, window);
        }
    }

    fn on_queue(&mut self, report: &QueueReport, window: &mut Window) {
        // As many reports of the same length as frames have passed.
        let stays = math::pow(1.0 - self.law.weight, f64::from(report.frames.max(1)));
        self.mean = report.waiting + (self.mean - report.waiting) * stays;
        let (minimum, maximum) = self.law.thresholds(report.limit);
        let holds = self.mean >= minimum;
        if holds != self.holds {
            self.holds = holds;
            self.crossings.push_back((report.now, holds));
            if self.crossings.len() > CROSSINGS {
                self.crossings.pop_front();
            }
        }
        self.vegas.add_to_queue(self.mean);
        if holds && window.in_slow_start() {
            window.ssthresh = window.cwnd.min(window.ssthresh);
        }
        if report.limit.is_some_and(|limit| report.waiting >= limit) {
            window.cwnd = (window.cwnd * 7.0 / 8.0).max(LEAST);
        } else if self.mean > maximum {
            window.cwnd = (window.cwnd - 1.0).max(LEAST);
        } else {
            return;
        }
        window.ssthresh = window.ssthresh.min(window.cwnd).max(LEAST);
    }
}
