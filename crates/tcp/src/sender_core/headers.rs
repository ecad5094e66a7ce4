//! Headers of a connection's packets.

use crate::transport::Transport;
use bentpipe_cc::PathHeader;

/// Fields of outgoing data packets that do not depend on the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    /// Header bytes of a data packet, IP and TCP.
    pub(crate) bytes: u32,
    pub(super) destination: u32,
    /// The timestamp that data packets echo, where they do.
    pub(crate) echo: u32,
    pub(crate) timestamps: bool,
    /// The header for routers that packets carry.
    pub(super) path: PathHeader,
    pub(crate) ecn: bool,
    /// Data packets carry something of these three.
    pub(super) special: bool,
    /// The next new segment carries CWR: the window was reduced.
    pub(crate) cwr_pending: bool,
    /// New segments below this byte are sent at low priority.
    pub(crate) low_priority_until: u64,
    /// What a FIN acknowledges that answers the peer's.
    pub(crate) fin_acknowledges: u64,
}

impl Headers {
    pub(super) fn new(transport: &Transport, destination: u32, path: PathHeader) -> Headers {
        Headers {
            bytes: transport.header_bytes(),
            destination,
            echo: 0,
            timestamps: transport.timestamps,
            path,
            ecn: transport.ecn,
            special: transport.timestamps || path != PathHeader::None || transport.ecn,
            cwr_pending: false,
            low_priority_until: 0,
            fin_acknowledges: 0,
        }
    }
}
