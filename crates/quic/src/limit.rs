//! The receiver's limit (RFC 9000, section 4.1) that begins small and grows with what arrives, as
//! quic-go, picoquic and browsers have it.

use crate::settings::varint;
use bentpipe_units::Bytes;
use quinn_proto::VarInt;

/// A receiver's limit that doubles whenever half of it has arrived.
#[derive(Debug)]
pub(crate) struct Limit {
    bytes: u64,
    /// The window that it ends with.
    whole: u64,
    /// quinn-proto has been told to leave the limit where it is.
    holds: bool,
}

/// The window while the limit stays where it is, bytes.
const HELD: u32 = 1_024;

impl Limit {
    /// `initial` bytes at the start, `whole` at most, and a window of `whole` in the end.
    pub(crate) fn new(initial: Bytes, whole: Bytes) -> Limit {
        Limit {
            bytes: initial.min(whole).get(),
            whole: whole.get(),
            holds: false,
        }
    }

    /// Moves the limit where it is due; true when it has become a window of its full size.
    ///
    /// quinn-proto moves its limit with what is read. A window that becomes smaller stays where it
    /// is until as much has been read as was taken away, so a small window holds the limit. It is
    /// more than nothing, since an eighth of it is what a new limit is told for.
    pub(crate) fn follow(
        &mut self,
        received: u64,
        connection: &mut quinn_proto::Connection,
    ) -> bool {
        if !self.holds {
            self.holds = true;
            connection.set_receive_window(VarInt::from_u32(HELD));
        }
        while received > self.bytes / 2 {
            if 2 * self.bytes >= self.whole {
                connection.set_receive_window(varint(self.whole));
                return true;
            }
            connection.set_receive_window(varint(u64::from(HELD) + self.bytes));
            connection.set_receive_window(VarInt::from_u32(HELD));
            self.bytes *= 2;
        }
        false
    }
}
