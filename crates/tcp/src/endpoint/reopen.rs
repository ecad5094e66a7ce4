//! One connection after another between the same ends.

use super::{Connection, Endpoint, Handshake};
use crate::receiver::Receiver;
use crate::receiver::quickack::QuickAck;
use crate::sender::Sender;
use crate::transport::Transport;
use bentpipe_cc::Controller;

impl Endpoint {
    /// Closes the connection and makes the endpoint ready for the next, with
    /// `cc` and nothing remembered. The peer must do so, too. What was
    /// offered counts as delivered.
    ///
    /// Sequence numbers go on where they were, so that packets that are still
    /// under way are old to the new connection, as those of another connection
    /// are to a real host. Counters go on as well.
    ///
    /// Endpoints that imitate ns-2's agents cannot: those know one connection.
    pub fn reopen(&mut self, transport: &Transport, cc: Controller) {
        let is_linux = self.receiver.is_linux();
        let largest = self.receiver.largest();
        let window = self.receiver.advertised();
        let old = std::mem::replace(
            &mut self.sender,
            Sender::new(transport, cc, self.peer, u64::from(window)),
        );
        self.sender.continue_after(&old);
        let (sack, reports) = (self.receiver.uses_sack(), self.receiver.reports());
        let receiver = Receiver::new(transport.delayed_ack, sack, reports, window);
        let before = std::mem::replace(&mut self.receiver, receiver);
        self.receiver.continue_after(&before);
        if is_linux {
            let mut quickack = QuickAck::new(transport.delayed_ack, largest, self.sender.core.mss);
            quickack.start_at(before.delivered());
            self.receiver.set_quickack(quickack);
        }
        self.connection = Connection::Closed;
        self.handshake = Handshake::default();
        self.reopened += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostProfile, TransportSettings};

    #[test]
    fn a_reopened_connection_acknowledges_as_its_host_does() {
        for (profile, is_linux) in [(HostProfile::Linux, true), (HostProfile::Rfc, false)] {
            let settings = TransportSettings {
                profile: Some(profile),
                ..TransportSettings::default()
            };
            let transport = settings.resolve("t");
            let cc = || transport.controller().unwrap();
            let mut end = Endpoint::new(&transport, cc(), 1);
            for _ in 0..2 {
                end.reopen(&transport, cc());
                assert_eq!(end.receiver.is_linux(), is_linux);
                assert_eq!(end.receiver.largest(), 16_000_000);
            }
        }
    }
}
