//! Hosts whose code is followed between the window, the record of segments, the
//! timer and pacing, which they share with [`Sender`].

use crate::linux::Linux;
use crate::ns2::agent::Agent;
use crate::ns2::linux::Linux as Ns2Linux;
use crate::packet::{Packet, Transmit};
use crate::sender::Sender;
use crate::{Recovery, SenderRules, Transport};
use bentpipe_cc::Phase;
use bentpipe_units::Time;

/// Such a host at work in a connection.
#[derive(Debug)]
pub(crate) enum Imitated {
    /// The agents Tahoe, Reno, Newreno, Sack1 and Vegas of ns-2.
    Agent(Agent),
    /// The agent TCP/Linux of ns-2.
    Ns2Linux(Ns2Linux),
    /// Linux 6.
    Linux(Linux),
}

impl Imitated {
    /// The agent for `transport`; `None` where the sender follows the
    /// standards.
    pub(crate) fn new(transport: &Transport) -> Option<Box<Imitated>> {
        if transport.recovery == Recovery::Rack {
            return Some(Box::new(Imitated::Linux(Linux::new(
                transport.initial_window,
            ))));
        }
        let imitated = match transport.profile.rules().sender {
            SenderRules::Rfc | SenderRules::Linux => return None,
            SenderRules::Ns2Agent => Imitated::Agent(Agent::new(transport)?),
            SenderRules::Ns2Linux => Imitated::Ns2Linux(Ns2Linux::new(transport.initial_window)),
        };
        Some(Box::new(imitated))
    }

    /// True for the agent whose first packet is a full segment.
    pub(crate) fn opens_with_a_segment(&self) -> bool {
        match self {
            Imitated::Agent(agent) => agent.opens_with_a_segment(),
            Imitated::Ns2Linux(_) | Imitated::Linux(_) => false,
        }
    }

    /// True for those whose receivers acknowledge selectively.
    pub(crate) fn uses_sack(&self) -> bool {
        match self {
            Imitated::Agent(agent) => agent.uses_sack(),
            Imitated::Ns2Linux(_) | Imitated::Linux(_) => true,
        }
    }

    /// True if the congestion control is to hear of the handshake; TCP/Linux
    /// tells it of an ACK instead.
    pub(crate) fn announces_handshake(&self) -> bool {
        !matches!(self, Imitated::Ns2Linux(_))
    }

    /// The connection is established, at `now` if there was a handshake.
    pub(crate) fn on_established(&mut self, s: &mut Sender, now: Option<Time>) {
        match (self, now) {
            (Imitated::Agent(agent), _) => agent.on_established(s),
            (Imitated::Ns2Linux(linux), Some(now)) => linux.on_established(s, now),
            (Imitated::Ns2Linux(_), None) | (Imitated::Linux(_), _) => {}
        }
    }

    /// What may go before the connection is open.
    pub(crate) fn send_with_syn<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        if let Imitated::Ns2Linux(linux) = self {
            linux.send_with_syn(s, now, out);
        }
    }

    /// Sends what the window allows.
    pub(crate) fn send<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        match self {
            Imitated::Agent(agent) => agent.send(s, now, usize::MAX, out),
            Imitated::Ns2Linux(linux) => linux.send(s, now, out),
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
            Imitated::Linux(linux) => linux.on_acknowledgement(s, now, packet, out),
            Imitated::Ns2Linux(linux) => {
                // TCP/Linux has no XCP: as the other agents take it.
                if packet.acknowledgement > s.una {
                    s.take_feedback(now, packet);
                }
                linux.on_acknowledgement(s, now, packet, out);
            }
        }
    }

    /// The timer ran out.
    pub(crate) fn on_timeout<T: Transmit>(&mut self, s: &mut Sender, now: Time, out: &mut T) {
        match self {
            Imitated::Agent(agent) => agent.on_timeout(s, now, out),
            Imitated::Ns2Linux(linux) => linux.on_timeout(s, now, out),
            Imitated::Linux(linux) => linux.on_timer(s, now, out),
        }
    }

    /// Segments in flight, where it counts them itself.
    pub(crate) fn flight(&self) -> Option<usize> {
        match self {
            Imitated::Agent(agent) => Some(agent.flight()),
            Imitated::Ns2Linux(linux) => Some(linux.flight()),
            Imitated::Linux(_) => None,
        }
    }

    /// The phase, where recovery decides it.
    pub(crate) fn phase(&self) -> Option<Phase> {
        match self {
            Imitated::Agent(agent) => agent.phase(),
            Imitated::Ns2Linux(linux) => linux.phase(),
            Imitated::Linux(_) => None,
        }
    }
}
