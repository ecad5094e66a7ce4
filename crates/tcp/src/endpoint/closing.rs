//! Closing of connections, and applications that read and write at their own pace.
//!
//! Source: RFC 9293, sections 3.6 (closing), 3.5.2 and 3.10.7 (resets), 3.8.6 (flow control). A FIN
//! takes one sequence number after the last byte: it waits for its turn, is acknowledged at once
//! (on Linux: after a delay, unless the other side is closed already), and is retransmitted if
//! lost. Its segment carries the rest of the data, even a full segment; if all data has been sent,
//! or the receive window ends before it, it has a separate segment.
//!
//! Not modelled: a connection in TIME-WAIT answers a retransmitted FIN for as long as the endpoint
//! exists, and never ends by a timer. A RST is accepted whatever its sequence number is: there are
//! no forged ones.
//!
//! The one-way agents of ns-2 know neither a FIN nor a receive window: closing
//! them sends nothing, and what they send is read at once.

use super::{Connection, Endpoint};
use crate::packet::{Packet, Transmit, flags};
use crate::receiver::buffer::ReceiveBuffer;
use bentpipe_units::{Bytes, Time};

/// The state of a connection, by the names of RFC 9293, section 3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has answered a SYN.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed here first; the FIN, which may still wait behind data, is not
    /// acknowledged.
    FinWait1,
    /// Closed here, and our FIN is acknowledged.
    FinWait2,
    /// Closed by the peer.
    CloseWait,
    /// Closed by both at the same time; our FIN is not acknowledged.
    Closing,
    /// Closed by the peer and then here; our FIN is not acknowledged.
    LastAck,
    /// Closed by both, here first: a FIN that comes again is answered.
    TimeWait,
    /// Closed by both, by the peer first.
    Closed,
    /// Gone by a RST: ours, the peer's, or a refused SYN.
    Reset,
}

impl Endpoint {
    /// The application reads by itself from now on, out of a buffer of `size`
    /// bytes: call it before the connection opens.
    pub fn read_by_hand(&mut self, size: Bytes) {
        if !self.one_way {
            let buffer = ReceiveBuffer::new(size.get(), self.sender.core.mss);
            self.receiver.set_buffer(buffer);
        }
    }

    /// Room is announced in a packet of its own no sooner than there are `bytes` more of it, or
    /// when the peer could not fill a segment; acknowledgements that leave anyway carry it before.
    pub fn announce_room_by(&mut self, bytes: Bytes) {
        if let Some(buffer) = self.receiver.buffer_mut() {
            buffer.announce_by(bytes.get());
        }
    }

    /// At most this much is held for the application from now on; the advertised window remains
    /// valid.
    pub fn limit_receive_buffer<T: Transmit>(&mut self, now: Time, bytes: Bytes, out: &mut T) {
        if let Some(buffer) = self.receiver.buffer_mut() {
            buffer.limit(bytes.get());
            self.tell_of_room(now, out);
        }
    }

    /// Bytes that have arrived in order and were not read yet; zero for an
    /// application that reads at once.
    #[must_use]
    pub fn readable(&self) -> Bytes {
        let unread = self.receiver.buffer();
        Bytes::new(unread.map_or(0, |b| self.receiver.delivered() - b.bytes_read()))
    }

    /// The application reads at most `bytes`; returns what it got. The peer
    /// hears of the room where that matters.
    pub fn read<T: Transmit>(&mut self, now: Time, bytes: Bytes, out: &mut T) -> Bytes {
        let taken = bytes.min(self.readable());
        if let Some(buffer) = self.receiver.buffer_mut() {
            buffer.read(taken.get());
            if taken > Bytes::ZERO {
                self.tell_of_room(now, out);
            }
        }
        taken
    }

    fn tell_of_room<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if self.is_open() && self.receiver.wants_update() {
            self.send_ack(now, out);
        }
    }

    /// Bytes that the send buffer takes before it is full: what was written and
    /// is not acknowledged fills it.
    #[must_use]
    pub fn writable(&self) -> Bytes {
        Bytes::new(if self.takes_data() {
            self.sender.core.writable()
        } else {
            0
        })
    }

    /// Bytes that were written and are not acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> Bytes {
        Bytes::new(self.offered().get() - self.acknowledged().get())
    }

    pub(crate) fn takes_data(&self) -> bool {
        self.sender.core.snd.fin == u64::MAX && self.connection != Connection::Reset
    }

    /// The application writes no more: a FIN follows what it wrote. It may go on
    /// reading.
    pub fn close<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if !self.takes_data() || self.one_way {
            return;
        }
        self.closed_second = self.receiver.is_finished();
        if self.closed_second && self.receiver.is_linux() {
            // Everything has arrived, and the peer's FIN with it.
            self.sender.core.headers.fin_acknowledges = self.receiver.delivered() + 1;
        }
        self.sender.core.snd.fin = self.sender.core.snd.offered;
        self.sender.offer(1);
        if self.is_open() {
            self.sender.send(now, out);
        }
        let answers = self.closed_second && self.sender.core.snd.next > self.sender.core.snd.fin;
        self.receiver.close(answers);
    }

    /// The application aborts the connection: the peer gets a RST and everything
    /// else is dropped. Before the connection is open this refuses
    /// it: a SYN that comes is answered with a RST.
    pub fn abort<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let known = self.connection;
        if known == Connection::Reset {
            return;
        }
        self.forget();
        if known != Connection::Closed {
            self.send_reset(now, out);
        }
    }

    /// The host forgets the connection, as after a reboot: the peer gets a RST for its next packet.
    pub fn vanish(&mut self) {
        self.forget();
    }

    /// True once the connection is gone by a RST, ours or the peer's.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        self.connection == Connection::Reset
    }

    /// True once the peer's FIN and everything before it has arrived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// True once both sides are closed and know it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(
            self.state(),
            ConnectionState::TimeWait | ConnectionState::Closed
        )
    }

    /// State of the connection.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        use ConnectionState as S;
        match self.connection {
            Connection::Closed => return S::Listen,
            Connection::SynSent => return S::SynSent,
            Connection::SynReceived => return S::SynReceived,
            Connection::Reset => return S::Reset,
            Connection::Established => {}
        }
        let closed = self.sender.core.snd.fin != u64::MAX;
        let known = self.sender.core.snd.una > self.sender.core.snd.fin;
        match (closed, known, self.receiver.is_finished()) {
            (false, _, false) => S::Established,
            (false, _, true) => S::CloseWait,
            (true, false, false) => S::FinWait1,
            (true, true, false) => S::FinWait2,
            (true, false, true) if self.closed_second => S::LastAck,
            (true, false, true) => S::Closing,
            (true, true, true) if self.closed_second => S::Closed,
            (true, true, true) => S::TimeWait,
        }
    }

    /// Takes a RST, a window probe, and whatever comes to a connection that is
    /// gone; false leaves the packet to others.
    #[cold]
    pub(crate) fn on_unusual<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) -> bool {
        if packet.has(flags::RST) {
            if self.connection != Connection::Closed {
                self.forget();
            }
            return true;
        }
        if self.connection == Connection::Reset {
            self.send_reset(now, out);
            return true;
        }
        let asks = packet.is_window_probe() && self.is_open();
        if asks {
            self.send_ack(now, out);
        }
        asks
    }

    fn forget(&mut self) {
        self.connection = Connection::Reset;
        self.handshake = None;
        self.receiver.deadline = Time::MAX;
        self.sender.core.stop();
    }

    fn send_reset<T: Transmit>(&mut self, _now: Time, out: &mut T) {
        let mut packet = Packet::new(self.peer);
        packet.flags = flags::RST | flags::ACK;
        packet.sequence = self.sender.core.snd.next;
        packet.acknowledgement = self.receiver.delivered();
        packet.bytes = 40;
        out.transmit(packet);
    }
}
