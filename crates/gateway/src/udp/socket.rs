//! The sockets of UDP: the one to which the rules of interception send the first datagrams of a flow,
//! those that face a client with its server's address, and those toward servers.

use crate::{descriptors, sys};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd as _;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Most bytes of a datagram of UDP (RFC 768, with the shorter IP header).
pub(crate) const MOST: usize = 65_507;
/// Buffers of the socket that intercepts, bytes.
const BUFFER: usize = 2 << 20;

/// A datagram that the rules have brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intercepted {
    /// Bytes of its payload, which is in the buffer.
    pub(super) length: usize,
    /// Who sent it.
    pub(super) client: SocketAddr,
    /// Where it was to go.
    pub(super) server: SocketAddr,
    /// Its traffic class without the bits of ECN.
    pub(super) tos: u8,
}

fn transparent(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) => socket.set_ip_transparent_v4(true),
        SocketAddr::V6(_) => socket.set_ip_transparent_v6(true),
    }
}

fn make(address: SocketAddr) -> io::Result<Socket> {
    let kind = Type::DGRAM.nonblocking().cloexec();
    let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::UDP))?;
    if descriptors::is_reserved(&socket) {
        return Err(io::Error::from_raw_os_error(libc::EMFILE));
    }
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

fn tokio(socket: Socket) -> io::Result<UdpSocket> {
    UdpSocket::from_std(socket.into())
}

/// The socket that the rules name, at a loopback address. A process that takes over has one beside that
/// of the process before, which goes on with its own flows.
///
/// # Errors
/// The address is taken, or `CAP_NET_ADMIN` is missing.
pub(super) fn intercepting(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = make(address)?;
    transparent(&socket, address)?;
    socket.set_reuse_port(true)?;
    match address {
        SocketAddr::V4(_) => {
            setsockopt(&socket, sockopt::Ipv4OrigDstAddr, &true)?;
            setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        }
        SocketAddr::V6(_) => {
            setsockopt(&socket, sockopt::Ipv6OrigDstAddr, &true)?;
            let level = libc::IPPROTO_IPV6;
            sys::set_option(&socket, level, libc::IPV6_RECVTCLASS, 1)?;
        }
    }
    // The kernel's limits may make it smaller.
    socket.set_recv_buffer_size(BUFFER)?;
    socket.bind(&address.into())?;
    tokio(socket)
}

/// Receives a datagram that the rules have brought.
///
/// # Errors
/// Of the socket; where the kernel does not say where a datagram was to go, `InvalidData`.
pub(super) async fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Intercepted> {
    socket
        .async_io(Interest::READABLE, || receive_now(socket, buffer))
        .await
}

fn receive_now(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Intercepted> {
    let mut control = nix::cmsg_space!(libc::sockaddr_in6, i32);
    let mut parts = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let received =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags)?;
    let client = received.address.as_ref().and_then(address);
    let (mut server, mut tos) = (None, 0_u8);
    for message in received.cmsgs()? {
        match message {
            ControlMessageOwned::Ipv4OrigDstAddr(to) => {
                let ip = Ipv4Addr::from_bits(u32::from_be(to.sin_addr.s_addr));
                server = Some(SocketAddr::new(ip.into(), u16::from_be(to.sin_port)));
            }
            ControlMessageOwned::Ipv6OrigDstAddr(to) => {
                let ip = Ipv6Addr::from(to.sin6_addr.s6_addr);
                server = Some(SocketAddr::new(ip.into(), u16::from_be(to.sin6_port)));
            }
            ControlMessageOwned::Ipv4Tos(class) => tos = class,
            ControlMessageOwned::Ipv6TClass(class) => tos = u8::try_from(class).unwrap_or(0),
            _ => {}
        }
    }
    let (Some(client), Some(server)) = (client, server) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    Ok(Intercepted {
        length: received.bytes,
        client,
        server,
        tos: tos & !3,
    })
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in();
    let v4 = v4.map(|it| SocketAddr::new(it.ip().into(), it.port()));
    v4.or_else(|| {
        let v6 = storage.as_sockaddr_in6()?;
        Some(SocketAddr::new(v6.ip().into(), v6.port()))
    })
}

/// A socket that faces `client` as if it were `server`.
///
/// # Errors
/// `CAP_NET_ADMIN` is missing, or `CAP_NET_BIND_SERVICE` for a port below 1024, or descriptors.
pub(super) fn facing(client: SocketAddr, server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = make(server)?;
    transparent(&socket, server)?;
    // A server has many clients.
    socket.set_reuse_address(true)?;
    socket.bind(&server.into())?;
    socket.connect(&client.into())?;
    tokio(socket)
}

/// A socket toward `server`: from the client's address where `source` is given, otherwise from this
/// box's. Datagrams are not fragmented where they are to stay `whole`.
///
/// # Errors
/// Of the system, such as that there is no route or no descriptor.
pub(super) fn toward(
    server: SocketAddr,
    source: Option<SocketAddr>,
    tos: u8,
    whole: bool,
) -> io::Result<UdpSocket> {
    let socket = make(server)?;
    if whole {
        // Its ends look for the longest datagram that passes (RFC 9000, section 14): routers and this
        // box drop what is longer.
        let (level, name) = match server {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
        };
        sys::set_option(&socket, level, name, libc::IP_PMTUDISC_PROBE)?;
    }
    if let Some(source) = source {
        transparent(&socket, source)?;
        // A client has many servers.
        socket.set_reuse_address(true)?;
        socket.bind(&source.into())?;
    }
    if tos != 0 {
        let tos = i32::from(tos);
        match server {
            SocketAddr::V4(_) => {
                sys::set_option(&socket, libc::IPPROTO_IP, libc::IP_TOS, tos)?;
            }
            SocketAddr::V6(_) => {
                sys::set_option(&socket, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, tos)?;
            }
        }
    }
    socket.connect(&server.into())?;
    tokio(socket)
}

/// A socket at `address` for the datagrams of one client.
///
/// # Errors
/// Of the system, such as that there is no descriptor.
pub(super) fn at(address: IpAddr) -> io::Result<UdpSocket> {
    let address = SocketAddr::new(address, 0);
    let socket = make(address)?;
    socket.bind(&address.into())?;
    tokio(socket)
}

/// Whether two addresses are those of one host: what came before a socket was connected may be another's.
pub(super) fn is_from(source: SocketAddr, peer: SocketAddr) -> bool {
    let plain = |ip: IpAddr| ip.to_canonical();
    plain(source.ip()) == plain(peer.ip()) && source.port() == peer.port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn datagrams_say_whence_and_whereto_and_with_which_class() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let any: SocketAddr = any.parse().unwrap();
            // It needs CAP_NET_ADMIN, and a machine with IPv6.
            let Ok(listening) = intercepting(any) else {
                continue;
            };
            let server = listening.local_addr().unwrap();
            let client = toward(server, None, 46 << 2, false).unwrap();
            client.send(b"abc").await.unwrap();
            let mut buffer = [0; 16];
            let received = receive(&listening, &mut buffer).await.unwrap();
            let expected = Intercepted {
                length: 3,
                client: client.local_addr().unwrap(),
                server,
                tos: 46 << 2,
            };
            assert_eq!(received, expected);
        }
    }
}
