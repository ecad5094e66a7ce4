//! Packet sockets and what network devices are asked.

#![allow(
    unsafe_code,
    reason = "no safe wrapper in nix, rustix or the standard library"
)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A socket for all frames that the network device number `index` receives, each after a header
/// that gives the segmentation and any missing checksum. The device sends what is written to the
/// socket.
pub(crate) fn packet_socket(index: u32) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let fd = done(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the descriptor is new and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let index = i32::try_from(index).map_err(io::Error::other)?;
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1_i32)?;
    set_option(
        &socket,
        libc::SOL_PACKET,
        libc::PACKET_IGNORE_OUTGOING,
        &1_i32,
    )?;
    // Buffers for frames that wait to be read; a size beyond the limit has no effect.
    let _ = set_option(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        &(32_i32 << 20),
    );
    let all = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &all)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address lives until the call returns, and its size is right.
    done(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// Frames that a packet socket has dropped since it was asked before.
pub(crate) fn packet_drops(socket: &OwnedFd) -> io::Result<u64> {
    let mut statistics = libc::tpacket_stats {
        tp_packets: 0,
        tp_drops: 0,
    };
    let mut length = size_of_val(&statistics) as libc::socklen_t;
    // SAFETY: both pointers live until the call returns, and the length is
    // that of what may be written.
    done(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    })?;
    Ok(u64::from(statistics.tp_drops))
}

/// Carries out an ethtool command that takes or gives one number for a network
/// device; returns the number. `socket` says in which namespace.
pub(crate) fn ethtool(
    socket: &impl AsRawFd,
    device: &str,
    command: u32,
    value: u32,
) -> io::Result<u32> {
    /// `struct ethtool_value` of linux/ethtool.h.
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    let mut value = Value {
        command,
        data: value,
    };
    let mut request = request(device)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value that it points to live until the call
    // returns; the kernel reads and writes eight bytes of the value.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) })?;
    Ok(value.data)
}

/// The MTU of a network device, and whether its frames are Ethernet's.
pub(crate) fn interface(socket: &impl AsRawFd, device: &str) -> io::Result<(u32, bool)> {
    let mut mtu = request(device)?;
    let mut hardware = mtu;
    // SAFETY: the kernel fills in the request, which lives until it returns.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGIFMTU, &raw mut mtu) })?;
    // SAFETY: as above.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGIFHWADDR, &raw mut hardware) })?;
    // SAFETY: the fields that the kernel has filled in.
    let (mtu, family) = unsafe {
        let family = hardware.ifr_ifru.ifru_hwaddr.sa_family;
        (mtu.ifr_ifru.ifru_mtu, family)
    };
    Ok((
        u32::try_from(mtu).unwrap_or(0),
        family == libc::ARPHRD_ETHER,
    ))
}

/// A request about a network device.
fn request(device: &str) -> io::Result<libc::ifreq> {
    // A zero ends the name.
    if device.len() >= libc::IFNAMSIZ {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: all zeros is a valid value of this struct of numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

// Of linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const SIOCGIFMTU: libc::Ioctl = 0x8921;
const SIOCGIFHWADDR: libc::Ioctl = 0x8927;

fn set_option<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value: *const T = value;
    // SAFETY: the value lives until the call returns, and its size is right.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.cast(), length) })?;
    Ok(())
}

fn done(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
