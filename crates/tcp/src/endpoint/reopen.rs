//! One connection after another between the same ends.

use super::{Connection, Endpoint, receiver_of};
use crate::sender::Sender;
use crate::transport::Transport;
use bentpipe_cc::Controller;

impl Endpoint {
    /// Closes the connection and makes the endpoint ready for the next, with
    /// `cc` and nothing remembered. The peer must do so, too. What was
    /// offered counts as delivered.
    ///
    /// Sequence numbers continue, so that packets still in flight are old to the new connection, as
    /// those of another connection are to a real host. Counters continue as well.
    ///
    /// Endpoints that imitate ns-2's agents cannot: those know one connection.
    /// Nor does one whose congestion control has failed, which is about to end the
    /// run.
    pub fn reopen(&mut self, transport: &Transport, cc: Controller) {
        if self.fault().is_some() {
            return;
        }
        let window = self.receiver.largest();
        let old = std::mem::replace(
            &mut self.sender,
            Sender::new(transport, cc, self.peer, u64::from(window)),
        );
        self.sender.continue_after(&old);
        let receiver = receiver_of(transport, &self.sender, window);
        let before = std::mem::replace(&mut self.receiver, receiver);
        self.receiver.continue_after(&before);
        self.connection = Connection::Closed;
        self.handshake = None;
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
                let largest = if is_linux { 3 << 20 } else { 16_000_000 };
                assert_eq!(end.receiver.largest(), largest);
            }
        }
    }

    #[test]
    fn a_reopened_connection_reports_losses_as_the_first_did() {
        for name in ["scps-tp", "stp", "dctcp", "pbs"] {
            let transport = crate::find_transport(name).map(|t| t.transport());
            let Some(mut transport) = transport else {
                panic!("{name} is a transport");
            };
            transport.ecn |= name == "dctcp";
            let cc = || transport.controller().unwrap();
            let mut end = Endpoint::new(&transport, cc(), 1);
            let first = end.receiver.parts();
            assert!(first.iter().any(|part| *part), "{name}");
            end.reopen(&transport, cc());
            assert_eq!(end.receiver.parts(), first, "{name}");
        }
    }
}
