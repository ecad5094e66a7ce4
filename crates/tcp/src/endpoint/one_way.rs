//! A SYN that is a segment like the others, as in the one-way agents of ns-2.
//!
//! TCP/Linux sends its first data together with the SYN, and each may arrive
//! without the other. ns-2's sink then acknowledges nothing cumulatively and the
//! data selectively, and echoes the timestamp of the first data until the SYN has
//! arrived. Such a packet has no valid acknowledgement number: it lacks the flag
//! ACK. Data count as delivered at once, where the sink waits for the SYN.

use super::{Connection, Endpoint, is_empty};
use crate::packet::{MAX_SACK_BLOCKS, Packet, SackBlock, Transmit, flags, timestamp};
use bentpipe_units::Time;

impl Endpoint {
    /// Takes a packet without SYN where the SYN or its answer has not arrived yet;
    /// true if nothing is left to do with it.
    pub(super) fn on_segment_beside_syn<T: Transmit>(
        &mut self,
        now: Time,
        packet: &Packet,
        out: &mut T,
    ) -> bool {
        if packet.has(flags::SYN) {
            return false;
        }
        match self.connection {
            Connection::Closed if packet.payload > 0 => {
                self.receive_before_syn(now, packet, out);
                true
            }
            Connection::SynSent if packet.has(flags::ACK) => {
                // The answer to the SYN was lost; any ACK answers it.
                self.establish(now);
                self.sender.on_ack(now, packet, out);
                is_empty(packet)
            }
            Connection::SynSent if self.sender.owns_syn() && packet.sack_count > 0 => {
                self.sender.on_ack(now, packet, out);
                true
            }
            _ => false,
        }
    }

    fn receive_before_syn<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        let echo = *(self.handshake.get_or_insert_default().echo).get_or_insert(packet.timestamp);
        self.receiver.on_data(now, packet);
        let mut answer = Packet::new(self.peer);
        self.receiver.acknowledge(&mut answer);
        report_from_start(&mut answer, packet.sequence);
        answer.flags &= !flags::ACK;
        answer.timestamp_echo = echo;
        if self.timestamps {
            answer.timestamp = timestamp(now);
        }
        answer.bytes = (40 + self.option_bytes(&answer)) as u16;
        out.transmit(answer);
    }
}

/// Turns an ACK into one that acknowledges nothing, with what it acknowledged as a separate block:
/// the first, if the segment from byte `sequence` lies in it.
fn report_from_start(answer: &mut Packet, sequence: u64) {
    let in_order = std::mem::take(&mut answer.acknowledgement);
    if in_order == 0 {
        return;
    }
    let count = usize::from(answer.sack_count);
    let shift = in_order as u32;
    for block in &mut answer.sack[..count] {
        block.start += shift;
        block.end += shift;
    }
    let first = SackBlock {
        start: 0,
        end: shift,
    };
    if sequence < in_order {
        answer.sack.rotate_right(1);
        answer.sack[0] = first;
    } else {
        answer.sack[count.min(MAX_SACK_BLOCKS - 1)] = first;
    }
    answer.sack_count = (count + 1).min(MAX_SACK_BLOCKS) as u8;
}
