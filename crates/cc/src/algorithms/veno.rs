//! TCP Veno: distinguishes random losses from congestion by the backlog that Vegas
//! would see.
//!
//! Source: Fu & Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless
//! Access Networks", IEEE JSAC 21(2), 2003, sections II.A and II.B. The form of
//! Linux is `veno-linux` ([`crate::algorithms::linux::Veno`]).
//!
//! With N = cwnd (RTT - BaseRTT) / RTT segments in the queue:
//!
//! | | N < beta | N >= beta |
//! |---|---|---|
//! | congestion avoidance | 1/cwnd per ACK | 1/cwnd every other ACK |
//! | loss | ssthresh = 4/5 cwnd | ssthresh = cwnd/2 |
//!
//! Slow start and timeouts are Reno's.
//!
//! | parameter | default | |
//! |---|---|---|
//! | beta | 3 | segments |
//! | rtt | last | `smoothed`: that of the retransmission timer |
//! | form | paper | `ns-3`: below |
//!
//! ns-3 computes N, in whole segments from the smallest RTT since the window was
//! last increased, only where that interval has more than two RTT samples, and
//! forgets the samples at every increase. ACKs give a sample each, so its growth
//! is NewReno's, N stays 0, and every loss found by duplicate ACKs takes a
//! fifth; that is what `form = "ns-3"` does with samples as they come.
//!
//! Left open, and the reading chosen: which RTT N is computed with: the last
//! sample. What a loss cuts is what the host halves (the flight, RFC 5681), N
//! is computed with cwnd.

use crate::declaration::{Algorithm, Control, Described, Family, TransportDefaults};
use crate::parameter::{number, parameters, word, words};
use crate::{Ack, CongestionControl, Loss, Window};
use bentpipe_units::{Duration, Segments, math};

words! {
    /// Which RTT the backlog is computed with.
    pub enum VenoRtt {
        /// The last sample.
        Last = "last",
        /// The smoothed one of the retransmission timer.
        Smoothed = "smoothed",
    }
}

words! {
    /// Whose Veno.
    pub enum VenoForm {
        /// Fu & Liew 2003.
        Paper = "paper",
        /// ns-3's `TcpVeno`.
        Ns3 = "ns-3",
    }
}

parameters! {
    /// Settings of [`Veno`].
    #[derive(Copy)]
    pub struct VenoParameters {
        beta: f64 = number(3.0, "segments", (0.0, 1_000_000.0)),
            "backlog that separates random loss from congestion";
        rtt: VenoRtt = word(), "the RTT that the backlog is computed with";
        form: VenoForm = word(),
            "the paper's, or ns-3's, where one sample per ACK never suffices for a backlog";
    }
}

/// RTT samples that an interval of ns-3 must exceed.
const NS3_SAMPLES: u32 = 2;

/// State of TCP Veno for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Veno {
    settings: VenoParameters,
    base_rtt: Duration,
    /// The RTT of the paper's form; the smallest since the last increase in
    /// that of ns-3.
    current: Duration,
    /// ns-3: samples since the last increase, and the backlog found last.
    samples: u32,
    found: Segments,
    /// With a backlog, the next ACK grows.
    grows_next: bool,
}

impl Veno {
    /// Veno with these settings.
    #[must_use]
    pub const fn new(settings: VenoParameters) -> Veno {
        Veno {
            settings,
            base_rtt: Duration::MAX,
            current: Duration::ZERO,
            samples: 0,
            found: 0.0,
            grows_next: true,
        }
    }

    /// Segments in the queue; zero before an RTT.
    fn backlog(&self, cwnd: Segments) -> Segments {
        if self.settings.form == VenoForm::Ns3 {
            return self.found;
        }
        if self.current.is_zero() {
            return 0.0;
        }
        cwnd * self.current.saturating_sub(self.base_rtt).as_secs() / self.current.as_secs()
    }

    /// ns-3: evaluates the interval that ends with this increase and starts a new one;
    /// true if it had enough samples.
    fn end_interval(&mut self, cwnd: Segments) -> bool {
        let enough = self.samples > NS3_SAMPLES;
        if enough {
            let cwnd = math::floor(cwnd);
            let target = cwnd * self.base_rtt.as_secs() / self.current.as_secs();
            self.found = cwnd - math::floor(target);
        }
        self.samples = 0;
        self.current = Duration::ZERO;
        enough
    }
}

impl Algorithm for Veno {
    fn controls() -> Vec<Control<Veno>> {
        let described = Described {
            name: "veno",
            on_linux: Some("veno-linux"),
            summary: "tells random losses from congestion by the backlog in the queue",
            source: "Fu & Liew 2003, sections II.A and II.B",
            open: "which RTT the backlog is computed with: the last sample; a cut is of the flight",
            family: Family::Delay,
            transport: TransportDefaults {
                summary: "cuts by a fifth where the queue is short, by half where it is not",
                source: "Fu & Liew 2003",
                ..TransportDefaults::NEW
            },
            settles: true,
            ..Described::NEW
        };
        vec![Control::new(described, Veno::new)]
    }
}

impl CongestionControl for Veno {
    named!("veno");

    fn on_sample(&mut self, ack: &Ack, _: &mut Window) {
        let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) else {
            return;
        };
        self.base_rtt = self.base_rtt.min(rtt);
        self.samples = self.samples.saturating_add(1);
        self.current = match (self.settings.form, self.settings.rtt) {
            (VenoForm::Ns3, _) if !self.current.is_zero() => self.current.min(rtt),
            (VenoForm::Paper, VenoRtt::Smoothed) if !ack.smoothed_rtt.is_zero() => ack.smoothed_rtt,
            _ => rtt,
        };
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.cwnd_limited {
            return;
        }
        let watches = self.settings.form == VenoForm::Paper || self.end_interval(window.cwnd);
        if window.in_slow_start() {
            window.cwnd += 1.0;
            return;
        }
        let grows = !watches || self.backlog(window.cwnd) < self.settings.beta || self.grows_next;
        self.grows_next = !grows;
        if grows {
            window.cwnd += 1.0 / window.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let random = self.backlog(window.cwnd) < self.settings.beta;
        let base = loss.flight;
        window.ssthresh = (if random { 0.8 * base } else { base / 2.0 }).max(2.0);
        window.cwnd = window.ssthresh;
    }
}
