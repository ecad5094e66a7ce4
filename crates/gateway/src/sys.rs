//! The system calls that no safe wrapper covers. This is the only file of the crate with `unsafe`.
#![allow(unsafe_code, reason = "the one file that makes these system calls")]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd as _};

/// Options of Linux' TCP (tcp.h) that libc does not name.
const TCP_SAVE_SYN: i32 = 27;
const TCP_SAVED_SYN: i32 = 28;

/// TCP_INFO of `socket`; fields that the kernel does not have are 0.
///
/// # Errors
/// The socket is not one of TCP.
pub(crate) fn tcp_info(socket: impl AsFd) -> io::Result<libc::tcp_info> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes
    // at most `length` bytes, which is the size of the value behind the pointer.
    check(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    // SAFETY: every field is an integer, for which zero is a value.
    Ok(unsafe { info.assume_init() })
}

/// Sets an option that is an integer.
///
/// # Errors
/// The kernel does not have the option, or does not permit it.
pub(crate) fn set_option(socket: impl AsFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads
    // the size of an `i32` from a pointer to one.
    check(unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    })
}

/// Lets a listening socket keep the first packet of each connection, for [`dscp`].
///
/// # Errors
/// The kernel does not have the option.
pub(crate) fn keep_first_packets(listener: impl AsFd) -> io::Result<()> {
    set_option(listener, libc::IPPROTO_TCP, TCP_SAVE_SYN, 1)
}

/// The DSCP of the first packet of a connection that was accepted (RFC 2474), where the kernel has
/// kept it; once, and not for one that came over with SYN cookies.
pub(crate) fn dscp(socket: impl AsFd) -> Option<u8> {
    // Its IP and TCP headers.
    let mut packet = [0_u8; 128];
    let mut length = packet.len() as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes at most `length`
    // bytes, which is the size of the array behind the pointer.
    check(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            TCP_SAVED_SYN,
            packet.as_mut_ptr().cast(),
            &raw mut length,
        )
    })
    .ok()?;
    let class = match packet.get(..usize::try_from(length).ok()?)? {
        [first, class, ..] if first >> 4 == 4 => *class,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => return None,
    };
    Some(class >> 2)
}

/// Bytes in the send queue of a TCP socket: not acknowledged, or not sent yet (tcp(7), SIOCOUTQ).
pub(crate) fn unacknowledged(socket: impl AsFd) -> u64 {
    let mut bytes: i32 = 0;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes one `i32` to a
    // pointer to one.
    let done =
        check(unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) });
    done.ok()
        .and_then(|()| u64::try_from(bytes).ok())
        .unwrap_or(0)
}

/// Gives free memory back to the system, as far as the allocator has a way to; it may take some
/// milliseconds.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes the allocator's own locks, and touches memory that is free only.
    unsafe {
        libc::malloc_trim(0);
    }
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};
    use std::net::{SocketAddr, TcpListener};

    #[test]
    fn the_dscp_of_a_connection_is_that_of_its_first_packet() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                // A machine without IPv6.
                continue;
            };
            keep_first_packets(&listener).unwrap();
            let to: SocketAddr = listener.local_addr().unwrap();
            let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
            // EF, 46, and a bit of ECN.
            match to.ip() {
                std::net::IpAddr::V4(_) => socket.set_tos_v4(46 << 2).unwrap(),
                std::net::IpAddr::V6(_) => {
                    let level = libc::IPPROTO_IPV6;
                    set_option(&socket, level, libc::IPV6_TCLASS, 46 << 2).unwrap();
                }
            }
            socket.connect(&to.into()).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert_eq!(dscp(&accepted), Some(46), "{address}");
        }
    }
}
