//! DCTCP as Linux has it.
//!
//! Source: the behaviour of Linux `tcp_dctcp.c` (Borkmann, Westphal, Judd) as of
//! 6.18; RFC 8257. alpha, in 1/1024, is renewed once a window of data:
//!
//! alpha = min(1024, alpha - alpha / 16 + marked x 64 / delivered)
//!
//! where what an ACK with ECN echo delivers counts as marked, and an alpha below
//! 16 falls to 0 in a window without marks. The first echo of a window cuts:
//! ssthresh = cwnd - cwnd alpha / 2048, at least 2, and proportional rate
//! reduction brings cwnd there. A loss or timeout halves cwnd. Growth is Reno's.
//! alpha begins at 1024, so that the first mark halves the window.
//!
//! The receiver's part, an ACK at once for each change between marked and unmarked
//! packets, is the transport's: `ecn_echo` in what the transport has around it.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | shift_g | 4 | g = 1/2^shift_g, the gain of the estimate |
//! | alpha_on_init | 1024 | 1/1024 |

use super::host::{Host, Version};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control, Described, EcnEcho, TransportDefaults};
use crate::parameter::{number, parameters};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments};

/// The fixed-point representation of alpha = 1.
const ONE: u64 = 1024;

parameters! {
    /// Settings of [`Dctcp`].
    #[derive(Copy)]
    pub struct DctcpParameters {
        shift_g: u32 = number(4.0, "", (0.0, 10.0)), "gain of the estimate: 1/2^shift_g";
        alpha_on_init: u64 = number(1024.0, "1/1024", (0.0, 1024.0)),
            "estimate before the first window";
    }
}

/// State of Linux' DCTCP for one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dctcp {
    shift_g: u32,
    /// The part of the packets that is marked, in 1/1024.
    alpha: u64,
    /// Segments delivered in this window, and those of ACKs with an echo.
    delivered: Segments,
    marked: Segments,
    /// The window ends when so many segments are acknowledged.
    until: Segments,
}

impl Dctcp {
    /// DCTCP with these settings.
    #[must_use]
    pub fn new(p: DctcpParameters) -> Dctcp {
        Dctcp {
            shift_g: p.shift_g,
            alpha: p.alpha_on_init.min(ONE),
            delivered: 0.0,
            marked: 0.0,
            until: 0.0,
        }
    }

    /// A window of data is acknowledged.
    fn renew(&mut self, next: Segments) {
        let decay = self.alpha >> self.shift_g;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked = (self.marked as u64) << (10 - self.shift_g);
        self.alpha = (self.alpha + marked / (self.delivered as u64).max(1)).min(ONE);
        (self.delivered, self.marked) = (0.0, 0.0);
        self.until = next;
    }
}

impl Algorithm for Linux<Dctcp> {
    fn controls() -> Vec<Control<Linux<Dctcp>>> {
        let described = described(
            ("dctcp-linux", "dctcp"),
            "DCTCP of Linux: cuts by the part of the packets that is marked, in 1/1024",
            "Linux tcp_dctcp.c",
            "DCTCP of Linux: ECN marks cut in proportion",
        );
        let described = Described {
            transport: TransportDefaults {
                ecn: Some(true),
                ecn_echo: EcnEcho::EachChange,
                ..described.transport
            },
            ..described
        };
        vec![Control::new(described, |own: DctcpParameters| {
            Linux::new(Version::Current, Dctcp::new(own))
        })]
    }
}

impl Module for Dctcp {
    fn name(&self) -> &'static str {
        "dctcp-linux"
    }

    fn init(&mut self, _: Option<Duration>, host: &mut Host, _: &mut Window) {
        self.until = host.next();
    }

    fn acked(&mut self, ack: &Ack, host: &Host, _: &mut Window) {
        self.delivered += ack.delivered;
        if ack.congestion_echo {
            self.marked += ack.delivered;
        }
        if host.acknowledged() >= self.until {
            self.renew(host.next());
        }
    }

    fn threshold(&mut self, cwnd: u64, ecn: bool) -> u64 {
        if ecn {
            cwnd - ((cwnd * self.alpha) >> 11)
        } else {
            cwnd / 2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dctcp(alpha: u64) -> Dctcp {
        Dctcp::new(DctcpParameters {
            shift_g: 4,
            alpha_on_init: alpha,
        })
    }

    /// One window in ten marked: from 1024 towards 102 by 1/16 a window.
    #[test]
    fn alpha_follows_the_marks() {
        let mut dctcp = dctcp(1024);
        (dctcp.delivered, dctcp.marked) = (100.0, 10.0);
        dctcp.renew(0.0);
        assert_eq!(dctcp.alpha, 1024 - 64 + 6);
        for _ in 0..200 {
            (dctcp.delivered, dctcp.marked) = (100.0, 10.0);
            dctcp.renew(0.0);
        }
        // Whole numbers: alpha / 16 = 6 holds from 96 to 111.
        assert!((96..=111).contains(&dctcp.alpha), "{}", dctcp.alpha);
        // All marked: 1, and not more.
        for _ in 0..200 {
            (dctcp.delivered, dctcp.marked) = (100.0, 100.0);
            dctcp.renew(0.0);
        }
        assert!(dctcp.alpha >= 1008, "{}", dctcp.alpha);
    }

    #[test]
    fn a_small_alpha_falls_to_nothing() {
        let mut dctcp = dctcp(15);
        dctcp.delivered = 100.0;
        dctcp.renew(0.0);
        assert_eq!(dctcp.alpha, 0);
        assert_eq!(dctcp.threshold(100, true), 100);
    }

    #[test]
    fn the_cut_is_half_of_alpha() {
        assert_eq!(dctcp(1024).threshold(100, true), 50);
        assert_eq!(dctcp(102).threshold(100, true), 96);
        assert_eq!(dctcp(102).threshold(100, false), 50);
    }
}
