//! TCP_INFO, which has no safe wrapper.

#![allow(unsafe_code, reason = "TCP_INFO has no safe wrapper in socket2 or nix")]

use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// What the kernel says of a connection at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    /// Congestion window, segments.
    pub(crate) cwnd: u32,
    /// Bytes acknowledged, the SYN as one.
    pub(crate) acknowledged: u64,
    /// Segments sent again.
    pub(crate) retransmissions: u32,
}

/// Asks the kernel.
pub(crate) fn info(stream: &TcpStream) -> Info {
    let mut bytes = [0_u8; 256];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the descriptor is open while `stream` is borrowed, and the kernel
    // writes `length` bytes at most, which is what `bytes` has.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    // Offsets of `struct tcp_info` in linux/tcp.h.
    Info {
        cwnd: word(80),
        acknowledged: u64::from_ne_bytes(bytes[120..128].try_into().expect("eight bytes")),
        retransmissions: word(100),
    }
}
