//! One connection after another between the same ends.

use super::{Connection, Endpoint, Handshake};
use crate::receiver::Receiver;
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
        self.connection = Connection::Closed;
        self.handshake = Handshake::default();
        self.reopened += 1;
    }
}
