//! Whose connection it is: the kernel of Linux notes the user of each socket.
//!
//! A cookie is sent to every port of a host. A server of another user on this machine that
//! the browser visits is therefore sent the cookie of this one, with the token in it; that
//! user's own connections are refused here.

use std::net::SocketAddr;

/// False if the connection from `peer` to the server at `here` is known to be another
/// user's. Root's and that of the user who ran `sudo` are not; where the system does not
/// say, nobody's is.
#[cfg(target_os = "linux")]
pub(crate) fn may_ask(peer: SocketAddr, here: SocketAddr) -> bool {
    let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else {
        return true;
    };
    let Some(user) = user(&table, peer, here) else {
        return true;
    };
    let sudo = std::env::var("SUDO_UID").ok();
    let sudo = sudo.and_then(|uid| uid.parse::<u32>().ok());
    user == 0 || user == rustix::process::geteuid().as_raw() || Some(user) == sudo
}

/// The same where sockets have no users to ask for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn may_ask(_: SocketAddr, _: SocketAddr) -> bool {
    true
}

/// The user of the established connection from `peer` to `here` in a table of the form of
/// `/proc/net/tcp` (proc(5)): addresses are in hexadecimal digits and the order of bytes
/// of the machine, and the eighth word is the user.
#[cfg(target_os = "linux")]
fn user(table: &str, peer: SocketAddr, here: SocketAddr) -> Option<u32> {
    const ESTABLISHED: &str = "01";
    let (peer, here) = (written(peer)?, written(here)?);
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_it = words.next()? == peer && words.next()? == here && words.next()? == ESTABLISHED;
        is_it.then(|| words.nth(3)?.parse().ok()).flatten()
    })
}

/// An address as the table has it.
#[cfg(target_os = "linux")]
fn written(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else {
        return None;
    };
    let ip = u32::from_ne_bytes(address.ip().octets());
    Some(format!("{ip:08X}:{:04X}", address.port()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn the_user_of_a_connection_is_found() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, here) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(user(&table, peer, here), Some(own));
        assert!(may_ask(peer, here));
        // The same table, in which the connection is another user's.
        let (peer_text, here_text) = (written(peer).unwrap(), written(here).unwrap());
        let other = format!("head\n 0: {peer_text} {here_text} 01 0:0 0:0 0 4321 0 1\n");
        assert_eq!(user(&other, peer, here), Some(4321));
        let listening = format!("head\n 0: {peer_text} {here_text} 0A 0:0 0:0 0 4321 0 1\n");
        assert_eq!(user(&listening, peer, here), None);
    }
}
