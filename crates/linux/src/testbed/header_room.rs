//! The room for headers that this machine's kernel counts when it sizes a send buffer.

use bentpipe_tcp::KernelSettings;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

/// The MSS of Ethernet: with it a segment takes a power of two more where the kernel has wireless
/// networks.
const MSS: u32 = 1460;

/// A buffer begins with room for ten segments or eleven, twice. Each takes 4096 bytes and 256 for its
/// descriptor; where the kernel has no wireless networks, 2048 and 256.
const SMALL: std::ops::Range<usize> = 20 * 2304..20 * 4352;

/// [`KernelSettings::header_room`] of this machine; that of distributions where it cannot be found out.
pub(crate) fn header_room() -> u16 {
    static ROOM: OnceLock<u16> = OnceLock::new();
    *ROOM.get_or_init(|| match first_send_buffer() {
        Ok(bytes) if SMALL.contains(&bytes) => 256,
        _ => KernelSettings::DEFAULT.header_room,
    })
}

/// The send buffer with which a connection over loopback begins, bytes of memory.
fn first_send_buffer() -> io::Result<usize> {
    let socket = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_tcp_mss(MSS)?;
        Ok::<_, io::Error>(socket)
    };
    let (listener, client) = (socket()?, socket()?);
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    listener.listen(1)?;
    // Others may ask for more room, as BBR does.
    client.set_tcp_congestion(b"reno")?;
    client.connect(&listener.local_addr()?)?;
    client.send_buffer_size()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_kernel_has_one_of_two() {
        assert!([256, 320].contains(&super::header_room()));
    }
}
