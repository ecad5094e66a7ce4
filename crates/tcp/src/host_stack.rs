//! The host stacks, and which one a host profile runs.

use crate::linux::Linux;
use crate::ns2::agent::Agent;
use crate::ns2::linux::Linux as Ns2Linux;
use crate::options::Recovery;
use crate::packet::{Packet, Transmit};
use crate::profile::StackKind;
use crate::quic::Quic;
use crate::rfc::Rfc;
use crate::sender_core::Core;
use crate::stack::{Repairs, Stack};
use crate::stp::Stp;
use crate::transport::Transport;
use bentpipe_cc::Phase;
use bentpipe_units::Time;

/// A host stack at work in a connection. The RFC stack, which most simulations run, is stored
/// inline; the larger ones are boxed.
#[derive(Debug)]
pub(crate) enum HostStack {
    /// The standards as written.
    Rfc(Rfc),
    /// The agents Tahoe, Reno, Newreno, Sack1 and Vegas of ns-2.
    Ns2Agent(Box<Agent>),
    /// The agent TCP/Linux of ns-2.
    Ns2Linux(Box<Ns2Linux>),
    /// Linux 6, with RACK-TLP and PRR.
    Linux(Box<Linux>),
    /// The Satellite Transport Protocol.
    Stp(Box<Stp>),
    /// A stream between two boxes of the gateway.
    Quic(Box<Quic>),
}

/// Calls a method of [`Stack`] on whichever stack it is.
macro_rules! dispatch {
    ($stack:expr, $inner:ident => $call:expr) => {
        match $stack {
            HostStack::Rfc($inner) => $call,
            HostStack::Ns2Agent($inner) => $call,
            HostStack::Ns2Linux($inner) => $call,
            HostStack::Linux($inner) => $call,
            HostStack::Stp($inner) => $call,
            HostStack::Quic($inner) => $call,
        }
    };
}

impl HostStack {
    /// The stack of the transport's host profile.
    ///
    /// Two hosts lack a stack for some recoveries and run them on the RFC stack
    /// with their own rules: ns-2's agents for `fack` and `snack`, and Linux
    /// with SACK switched off (`newreno`).
    pub(crate) fn new(transport: &Transport) -> HostStack {
        if transport.recovery == Recovery::Stp {
            return HostStack::Stp(Box::new(Stp::new(transport.polling)));
        }
        match transport.profile.rules().stack {
            StackKind::Ns2Agent => match Agent::new(transport) {
                Some(agent) => HostStack::Ns2Agent(Box::new(agent)),
                None => HostStack::Rfc(Rfc::new()),
            },
            StackKind::Ns2Linux => {
                HostStack::Ns2Linux(Box::new(Ns2Linux::new(transport.initial_window)))
            }
            StackKind::Linux if transport.recovery.uses_sack() => {
                HostStack::Linux(Box::new(Linux::new(transport.initial_window)))
            }
            StackKind::Quic => HostStack::Quic(Box::new(Quic::new())),
            StackKind::Rfc | StackKind::Linux => HostStack::Rfc(Rfc::new()),
        }
    }
}

impl Stack for HostStack {
    fn uses_sack(&self, s: &Core) -> bool {
        dispatch!(self, stack => stack.uses_sack(s))
    }

    fn opens_with_a_segment(&self) -> bool {
        dispatch!(self, stack => stack.opens_with_a_segment())
    }

    fn owns_syn(&self) -> bool {
        dispatch!(self, stack => stack.owns_syn())
    }

    fn on_syn_sent(&mut self, s: &mut Core, now: Time) {
        dispatch!(self, stack => stack.on_syn_sent(s, now));
    }

    fn start_at(&mut self, sequence: u64) {
        dispatch!(self, stack => stack.start_at(sequence));
    }

    fn on_established(&mut self, s: &mut Core) {
        dispatch!(self, stack => stack.on_established(s));
    }

    #[inline]
    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        dispatch!(self, stack => stack.send(s, now, out));
    }

    #[inline(always)]
    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        dispatch!(self, stack => stack.on_ack(s, now, packet, out));
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        dispatch!(self, stack => stack.on_timeout(s, now, out));
    }

    fn on_backward_notification(&mut self, s: &mut Core, now: Time) {
        dispatch!(self, stack => stack.on_backward_notification(s, now));
    }

    fn wants_turn(&self, s: &Core) -> bool {
        dispatch!(self, stack => stack.wants_turn(s))
    }

    fn must_probe(&self) -> bool {
        dispatch!(self, stack => stack.must_probe())
    }

    fn log_arrivals(&mut self) {
        dispatch!(self, stack => stack.log_arrivals());
    }

    fn take_arrivals(&mut self) -> Vec<(Time, u16)> {
        dispatch!(self, stack => stack.take_arrivals())
    }

    fn take_turn<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        dispatch!(self, stack => stack.take_turn(s, now, out));
    }

    fn flight(&self, s: &Core) -> usize {
        dispatch!(self, stack => stack.flight(s))
    }

    fn repairs(&self, s: &Core) -> Repairs {
        dispatch!(self, stack => stack.repairs(s))
    }

    fn phase(&self, s: &Core) -> Phase {
        dispatch!(self, stack => stack.phase(s))
    }
}
