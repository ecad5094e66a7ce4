//! STCP: TCP whose connections to the same peer share their windows.
//!
//! Sources: Peng, Andreadis, Belisle & Barbeau, "Improving TCP performance over long
//! delay satellite links", OPNETWORK 2001, as Salamanca (2008), section 1.2.2,
//! describes it: cwnd and ssthresh are shared among sequential and concurrent
//! connections, in a data structure of the host. RFC 2140 and RFC 9040 (TCP control
//! block interdependence) for what is shared when: temporal sharing, from a
//! connection that ended to one that begins, and ensemble sharing, among connections
//! at work.
//!
//! The host keeps, for each peer, the sum of the windows of the connections that have
//! something to send, or, where none has, the sum that the last ones had
//! ([`SharedState`]). When one of them begins or ends having something to send, the
//! sum is divided equally among those that have: what one leaves goes to the others.
//! A connection that begins gets its part of cwnd, but no less than its initial
//! window, and its part of ssthresh. Between these moments each has Reno's window of
//! its own: slow start, one segment a round trip, half at a loss.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | lifetime | 600 | s: what ended connections left is forgotten after this time |
//!
//! Left open, and the reading chosen:
//! - A loss halves the window of its connection only, and thereby the sum by its
//!   share.
//! - ssthresh is shared as the sum of those that have been set; where one has not
//!   been, it is not shared.
//! - RTTs, which RFC 9040 shares as well, are those of each connection's handshake.
//! - A window that grows at once could send a burst: the transport paces.
//!
//! Example: a connection at cwnd 40, ssthresh 30 ends; the next one to the same peer begins at 40
//! and 30. A third joins it at 60 and 30: 30 each, ssthresh 15 each. If one ends at 32 while the
//! other has 34, the other then has 66.

use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults, WindowPacing};
use crate::parameter::{number, parameters};
use crate::{Ack, CWND_LIMIT, CongestionControl, SharedState, Window};
use bentpipe_units::{Duration, Segments};

parameters! {
    /// Settings of [`Stcp`].
    pub struct StcpParameters {
        lifetime: f64 = number(600.0, "s", (0.0, 1_000_000.0)),
            "what ended connections left is forgotten after this time";
    }
}

/// State of STCP for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Stcp {
    lifetime: Duration,
    initial_window: Segments,
    established: bool,
    /// What the host has for a connection that begins.
    shared: Option<SharedState>,
}

impl Stcp {
    /// STCP that forgets what ended connections left after `lifetime`.
    #[must_use]
    pub const fn new(lifetime: Duration) -> Stcp {
        Stcp {
            lifetime,
            initial_window: 1.0,
            established: false,
            shared: None,
        }
    }

    /// Begins with what the host has, if that is not too old.
    fn take(&self, window: &mut Window) {
        if let Some(shared) = self.shared.filter(|s| s.age <= self.lifetime) {
            window.cwnd = shared.cwnd.max(self.initial_window).min(CWND_LIMIT);
            window.ssthresh = shared.ssthresh.max(2.0);
        }
    }
}

impl Algorithm for Stcp {
    fn controls() -> Vec<Control<Stcp>> {
        let described = Described {
            name: "stcp",
            summary: "connections to the same peer share cwnd and ssthresh, at once and one after \
                      another",
            source: "Peng, Andreadis, Belisle & Barbeau 2001, as Salamanca 2008 describes it; RFC \
                     9040",
            open: "the sum is divided equally when a connection begins or ends having something \
                   to send; a loss is its connection's alone; RTTs are not shared",
            family: Family::Satellite,
            transport: TransportDefaults {
                summary: "shares cwnd and ssthresh with the host's other connections to the same \
                          peer, paced",
                source: "Peng et al. 2001 (our reading of a survey), RFC 9040",
                pacing: Some(WindowPacing {
                    gain: 1.2,
                    initial_burst: 4,
                }),
                ..TransportDefaults::NEW
            },
            ..Described::NEW
        };
        vec![Control::new(described, |p: StcpParameters| {
            Stcp::new(Duration::from_secs_f64(p.lifetime))
        })]
    }
}

impl CongestionControl for Stcp {
    named!("stcp");
    always!(shares_state);

    fn on_shared(&mut self, shared: &SharedState, window: &mut Window) {
        self.shared = Some(*shared);
        if self.established {
            self.take(window);
        }
    }

    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        self.initial_window = window.cwnd;
        self.established = true;
        self.take(window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.cwnd_limited {
            window.grow_per_ack(window.in_slow_start());
        }
    }

    /// What the connection itself left is shared with it.
    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        self.initial_window = initial_window;
        match self.shared {
            Some(shared) if shared.age <= self.lifetime => self.take(window),
            _ => window.cwnd = window.cwnd.min(initial_window),
        }
    }
}
