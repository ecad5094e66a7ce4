//! The sending half as the one-way agents of ns-2.35 work, with the defaults of
//! `ns-default.tcl`.
//!
//! They share the window, the record of segments, the timer and pacing with
//! [`Sender`] and replace what happens between them.

mod agent;
mod blocks;
mod linux;
mod newreno;
mod sack1;
mod tahoe;
mod timeout;
mod vegas;

use crate::packet::{Packet, Transmit};
use crate::sender::Sender;
use crate::{SenderRules, Transport};
use agent::Agent;
use bentpipe_cc::Phase;
use bentpipe_units::Time;
use linux::Linux;

/// An agent of ns-2 at work in a connection.
#[derive(Debug)]
pub(crate) enum Imitated {
    /// Tahoe, Reno, Newreno, Sack1 and Vegas.
    Agent(Agent),
    /// TCP/Linux.
    Linux(Linux),
}

impl Imitated {
    /// The agent for `transport`; `None` where the sender follows the
    /// standards.
    pub(crate) fn new(transport: &Transport) -> Option<Box<Imitated>> {
        let imitated = match transport.profile.rules().sender {
            SenderRules::Rfc => return None,
            SenderRules::Ns2Agent => Imitated::Agent(Agent::new(transport)?),
            SenderRules::Ns2Linux => Imitated::Linux(Linux::new(transport.initial_window)),
        };
        Some(Box::new(imitated))
    }

    /// True for the agent whose first packet is a full segment.
    pub(crate) fn opens_with_a_segment(&self) -> bool {
        match self {
            Imitated::Agent(agent) => agent.opens_with_a_segment(),
            Imitated::Linux(_) => false,
        }
    }

    /// True for the agents whose receivers acknowledge selectively.
    pub(crate) fn uses_sack(&self) -> bool {
        match self {
            Imitated::Agent(agent) => agent.uses_sack(),
            Imitated::Linux(_) => true,
        }
    }

    /// True if the congestion control is to hear of the handshake; TCP/Linux
    /// tells it of an ACK instead.
    pub(crate) fn announces_handshake(&self) -> bool {
        matches!(self, Imitated::Agent(_))
    }

    /// The connection is established, at `now` if there was a handshake.
    pub(crate) fn on_established(&mut self, s: &mut Sender, now: Option<Time>) {
        match (self, now) {
            (Imitated::Agent(agent), _) => agent.on_established(s),
            (Imitated::Linux(linux), Some(now)) => linux.on_established(s, now),
            (Imitated::Linux(_), None) => {}
        }
    }

    /// What may go before the connection is open.
    pub(crate) fn send_with_syn<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        if let Imitated::Linux(linux) = self {
            linux.send_with_syn(s, now, out);
        }
    }

    /// Sends what the window allows.
    pub(crate) fn send<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        match self {
            Imitated::Agent(agent) => agent.send(s, now, usize::MAX, out),
            Imitated::Linux(linux) => linux.send(s, now, out),
        }
    }

    /// Takes an acknowledgement that arrived at `now`.
    pub(crate) fn on_acknowledgement<T: Transmit>(
        &mut self,
        s: &mut Sender,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) {
        match self {
            Imitated::Agent(agent) => agent.on_acknowledgement(s, now, packet, out),
            Imitated::Linux(linux) => {
                // TCP/Linux has no XCP: as the other agents take it.
                if packet.acknowledgement > s.una {
                    s.take_feedback(now, packet);
                }
                linux.on_acknowledgement(s, now, packet, out);
            }
        }
    }

    /// The retransmission timer ran out.
    pub(crate) fn on_timeout<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        match self {
            Imitated::Agent(agent) => agent.on_timeout(s, now, out),
            Imitated::Linux(linux) => linux.on_timeout(s, now, out),
        }
    }

    /// Segments in flight as the agent counts them.
    pub(crate) fn flight(&self) -> usize {
        match self {
            Imitated::Agent(agent) => agent.flight(),
            Imitated::Linux(linux) => linux.flight(),
        }
    }

    /// The phase, where recovery decides it.
    pub(crate) fn phase(&self) -> Option<Phase> {
        match self {
            Imitated::Agent(agent) => agent.phase(),
            Imitated::Linux(linux) => linux.phase(),
        }
    }
}
