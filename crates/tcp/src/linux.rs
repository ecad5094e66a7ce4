//! The sending half as Linux 6 works between an acknowledgement and the
//! congestion control, and the receiving half's acknowledgements and window.
//!
//! Sources: RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO), RFC 3522 and RFC 3708 (undo),
//! RFC 7661 (growth of a window in use), and the observed behaviour of a kernel of version 6.18
//! where these leave something open.
//!
//! | part | file | in short |
//! |---|---|---|
//! | acknowledgements | `ack` | the information in an ACK, and the order in which it is processed |
//! | loss by time | [`rack`], `scoreboard::order` | a segment is lost if one sent later has arrived and a reordering window has passed |
//! | states | `fastretrans` | Open, Disorder, CWR, Recovery, Loss, and the transitions between them |
//! | undo | [`undo`] | by timestamps, by reported duplicates, by F-RTO |
//! | window in recovery | [`prr`] | in proportion to what arrives, at last ssthresh |
//! | tail losses | [`tlp`] | a probe after two round trips |
//! | timers | `timer`, [`wheel`] | one timer with three purposes, as late as the kernel's timers |
//! | window in use | [`limited`] | growth only if cwnd limited the sender, decay after idleness |
//! | sending | `output` | lost segments first, then new data |
//! | send buffer | [`memory`] | as memory, which grows with cwnd and wakes the application at two thirds |
//! | segments together | [`offload`] | as segmentation offload sends them, where the way carries them whole |
//!
//! In this profile:
//!
//! - Windows are counted in whole segments: a fraction of cwnd or ssthresh that
//!   a congestion control keeps waits until it is a whole segment.
//! - A loss reduces cwnd, not the flight: congestion controls receive cwnd
//!   as the flight.
//! - Congestion controls grow by the segments that an ACK delivered, cumulatively or selectively,
//!   outside CWR and Recovery.
//! - Those that own the window set it; the other ones only set ssthresh when
//!   something is lost, and PRR brings cwnd there.
//!
//! Not modelled, with the effect observed on a kernel of version 6.18 at 2 Mbit/s and 511 ms:
//! - The kernel at times holds the odd segment of a burst back until the next ACK. That shifts which
//!   segments share a delayed ACK, by an ACK's delay now and then; a control that reacts to rising
//!   RTTs may therefore reduce its window at another time.
//! - The 300 s after which Linux forgets a smallest RTT, thin-stream timers, and receivers that
//!   renege on SACKed data.

mod ack;
mod fastretrans;
mod limited;
mod memory;
mod offload;
mod output;
mod prr;
mod rack;
mod timer;
mod tlp;
mod undo;
pub(crate) mod wheel;

use crate::packet::{Packet, Transmit};
use crate::sender_core::Core;
pub(super) use crate::stack::CongestionState as State;
use crate::stack::{Repairs, Stack};
use bentpipe_cc::Phase;
use bentpipe_units::Time;
use limited::Limited;
use prr::Prr;
use rack::Rack;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use timer::Timer;
use tlp::Probe;
use undo::Undo;

/// Segments that may be retransmitted after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    /// What was found lost.
    Lost,
    /// New segments first: F-RTO decides by their acknowledgements.
    New,
}

/// The state of the sender besides the window.
#[derive(Debug)]
pub(crate) struct Linux {
    pub(super) state: State,
    /// The state ends when this byte is acknowledged.
    pub(super) high: u64,
    /// Segments found lost that may wait to be sent again, lowest first.
    pub(super) waiting: BinaryHeap<Reverse<u64>>,
    pub(super) rack: Rack,
    pub(super) prr: Prr,
    pub(super) probe: Probe,
    pub(super) undo: Undo,
    pub(super) limited: Limited,
    /// Meaning of the sender's deadline.
    pub(super) timer: Timer,
    /// Timeouts in a row.
    pub(super) timeouts: u32,
    /// It is not settled whether the timeout was spurious (F-RTO).
    pub(super) doubts_timeout: bool,
    /// One past the highest byte selectively acknowledged.
    pub(super) forward: u64,
    /// The end of the last segment that the receive window cut short.
    pub(super) part_until: u64,
    /// One past the last byte that the application has written, where the send buffer counts memory.
    pub(super) written: u64,
    /// It waits for room to write more.
    pub(super) is_full: bool,
    /// The send buffer as it is now, bytes of memory; 0 before the application writes.
    pub(super) memory: u64,
    /// Segments delivered, and found lost, over the connection.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    initial_window: f64,
}

impl Linux {
    pub(crate) fn new(initial_window: f64) -> Linux {
        Linux {
            state: State::Open,
            high: 0,
            waiting: BinaryHeap::new(),
            rack: Rack::default(),
            prr: Prr::default(),
            probe: Probe::default(),
            undo: Undo::default(),
            limited: Limited::default(),
            timer: Timer::Retransmission,
            timeouts: 0,
            doubts_timeout: false,
            part_until: 0,
            written: 0,
            is_full: false,
            memory: 0,
            forward: 0,
            delivered: 0,
            lost: 0,
            initial_window,
        }
    }

    /// cwnd in whole segments.
    #[inline(always)]
    pub(super) fn window(s: &Core) -> usize {
        // Truncates, which saves the call of `floor`: this is asked for several times a packet.
        (s.window.cwnd as usize).max(1)
    }

    /// True while PRR moves the window.
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// Segments that are not simply under way: arrived out of order, or lost.
    pub(super) fn left_out(s: &Core) -> u32 {
        s.board.sacked() + s.board.lost()
    }

    /// RACK takes segment `number` for lost, and looks at it no more until it is
    /// sent again.
    pub(super) fn lose(&mut self, s: &mut Core, number: u64) {
        self.mark_lost(s, number);
        s.board.pass(number);
    }

    /// Takes segment `number` for lost: it is to be sent again.
    pub(super) fn mark_lost(&mut self, s: &mut Core, number: u64) {
        if s.board.lose_number(number) {
            self.lost += 1;
            self.waiting.push(Reverse(number));
        }
    }

    /// When the first unacknowledged segment was sent last.
    pub(super) fn head_sent_at(s: &Core) -> Option<Time> {
        s.board.head().map(|head| head.sent_at)
    }
}

impl Stack for Linux {
    fn uses_sack(&self, _s: &Core) -> bool {
        true
    }

    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.send_permitted(s, now, out);
    }

    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        self.acknowledged(s, now, packet, out);
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        self.on_timer(s, now, out);
    }

    fn flight(&self, s: &Core) -> usize {
        s.board.flight()
    }

    fn repairs(&self, s: &Core) -> Repairs {
        Repairs {
            state: self.state,
            sacked: s.board.sacked(),
            reordering: self.rack.reordering,
        }
    }

    fn phase(&self, s: &Core) -> Phase {
        match s.cc.phase(&s.window) {
            Phase::Own(name) => Phase::Own(name),
            _ if self.state == State::Recovery => Phase::Recovery,
            phase => phase,
        }
    }
}
