//! TCP Fast Start: begins where the last transfer left off.
//!
//! Source: Padmanabhan & Katz, "TCP Fast Start: A Technique For Speeding Up Web
//! Transfers", GLOBECOM Internet Mini-Conf. 1998, as the survey of Salamanca
//! 2008 describes it: cached cwnd, ssthresh, srtt and rttvar of the recent past
//! are used after an idle period, and what is sent with them goes at low
//! priority, so that routers drop it first if the cache is stale.
//!
//! The window otherwise is NewReno's.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | cached_cwnd | 0 | segments: the cache of a new connection; 0: it has none |
//! | cached_ssthresh | 0 | segments; 0: the cached cwnd |
//!
//! Only the survey could be read. These readings are ours:
//! - After an idle time the cache is the connection's own cwnd and ssthresh,
//!   where RFC 5681 goes back to the initial window. Hosts that do not go back
//!   (profile `ns-2`) have nothing to cache.
//! - The first burst, one cached window of new segments, goes at low priority.
//!   The transport `fast-start` paces it over a round trip.
//! - A loss or timeout before the burst is acknowledged means that the cache is
//!   stale: ssthresh stays, cwnd starts from the initial window (a timeout:
//!   from 1) as if there had been no cache. Later ones halve as usual.
//! - srtt and rttvar need no cache here: after an idle time the connection still
//!   has them, and a new one has its handshake.

use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults, WindowPacing};
use crate::parameter::{number, parameters};
use crate::{Ack, CongestionControl, Loss, Phase, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Segments};

parameters! {
    /// Settings of [`FastStart`].
    pub struct FastStartParameters {
        cached_cwnd: f64 = number(0.0, "segments", (0.0, 1_000_000.0)),
            "window that a new connection finds in the cache; 0: none, Fast Start only after \
             idling";
        cached_ssthresh: f64 = number(0.0, "segments", (0.0, 1_000_000.0)),
            "threshold that it finds there; 0: the cached window";
    }
}

/// State of TCP Fast Start for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FastStart {
    cached_cwnd: Segments,
    cached_ssthresh: Segments,
    initial_window: Segments,
    /// Segments of the burst that are not acknowledged yet.
    burst: Segments,
}

impl FastStart {
    /// Fast Start whose first burst is `cached_cwnd` segments (0: none) with
    /// `cached_ssthresh` (0: the same).
    #[must_use]
    pub const fn new(cached_cwnd: Segments, cached_ssthresh: Segments) -> FastStart {
        FastStart {
            cached_cwnd,
            cached_ssthresh,
            initial_window: 1.0,
            burst: 0.0,
        }
    }

    fn begin(&mut self, cwnd: Segments, window: &mut Window) {
        window.cwnd = cwnd;
        self.burst = cwnd.floor();
        window.actions.low_priority = self.burst as u32;
    }
}

impl Algorithm for FastStart {
    fn controls() -> Vec<Control<FastStart>> {
        let described = Described {
            name: "fast-start",
            summary: "begins with the window of the last transfer, its first burst at low priority",
            source: "Padmanabhan & Katz 1998, as Salamanca 2008 describes it",
            open: "the cache: after idling the connection's own, for a new one a parameter; a loss \
                   or timeout in the burst goes back to the initial window",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "goes on after idling with the window it had, paced and at low priority \
                          at first",
                source: "Padmanabhan & Katz 1998 (our reading of a survey)",
                pacing: Some(WindowPacing {
                    gain: 1.0,
                    initial_burst: 4,
                }),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: FastStartParameters| {
            FastStart::new(p.cached_cwnd, p.cached_ssthresh)
        })]
    }
}

impl CongestionControl for FastStart {
    named!("fast-start");

    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        self.initial_window = window.cwnd;
        if self.cached_cwnd > window.cwnd {
            window.ssthresh = if self.cached_ssthresh > 0.0 {
                self.cached_ssthresh.max(2.0)
            } else {
                self.cached_cwnd.max(2.0)
            };
            self.begin(self.cached_cwnd, window);
        }
    }

    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        self.initial_window = initial_window;
        if window.cwnd > initial_window {
            self.begin(window.cwnd, window);
        }
    }

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        self.burst = (self.burst - ack.acked).max(0.0);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.cwnd_limited {
            window.grow_per_ack(window.in_slow_start());
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if core::mem::take(&mut self.burst) > 0.0 {
            window.cwnd = window.cwnd.min(self.initial_window.max(1.0));
            return;
        }
        window.ssthresh = (loss.flight / 2.0).max(2.0);
        window.cwnd = window.ssthresh;
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        window.cwnd = window.cwnd.min(window.ssthresh);
        if exit.recovery_fix {
            window.cwnd = window.cwnd.min(exit.flight + 1.0);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        let stale = core::mem::take(&mut self.burst) > 0.0;
        if timeout.first && !stale {
            window.ssthresh = (timeout.flight / 2.0).max(2.0);
        }
        window.cwnd = 1.0;
    }

    fn phase(&self, window: &Window) -> Phase {
        if self.burst > 0.0 {
            Phase::Own("fast_start")
        } else {
            window.phase()
        }
    }
}
