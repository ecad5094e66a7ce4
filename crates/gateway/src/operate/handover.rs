//! Hand-over: a new process takes the listening sockets of the running one, which then lets its
//! connections finish and ends. No connection is refused in between; those that last more than
//! another hour are reset.
//!
//! The running process listens at a Unix socket next to its control socket. The new one connects,
//! gets the sockets (`SCM_RIGHTS`) with their description, starts, and says `ready`; only then does
//! the old one stop accepting. If the new one fails, the old one continues as if it had not been
//! asked. The association of a terminal is not handed over: the new process makes its own, of the
//! same lineage, and the hub keeps both until the old one is empty. A hub's new process binds a UDP socket
//! of its own beside the old one's, of which it gets a handle: terminals make new associations
//! there, and those before stay with the old process.
//!
//! After `ready` the stream stays open for as long as both run; over it they divide the rate of the link.

use crate::entry::{Kind, Listener};
use crate::hub::{Newest, Sockets};
use crate::tunnel::codec::Hello;
use crate::tunnel::steering::Seat;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// State that one process hands to the next.
#[derive(Debug)]
pub struct Estate {
    /// The listening sockets to hand over.
    pub listeners: Vec<Listener>,
    /// The sockets of a hub.
    pub hub: Sockets,
    /// Who the running process is to its hub.
    pub hello: Hello,
}

impl Estate {
    /// How many sockets there are.
    #[must_use]
    pub fn sockets(&self) -> usize {
        self.listeners.len() + self.hub.listeners.len() + self.hub.seats.len()
    }
}

/// Sockets of one hand-over, at most.
const MOST: usize = 64;
/// Bytes of the description, at most: the kind of each, and more of some.
const DESCRIPTION: usize = 2 * MOST;

/// A socket in the description: the first byte of its kind.
const LISTENS_FOR_TLS: u8 = b'f';
/// Followed by the first byte of its connection ids.
const SEAT: u8 = b'u';

/// Time for the sockets to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time in which the new process must be ready.
const START: Duration = Duration::from_secs(60);

/// Message of the new process when it takes connections.
const READY: &[u8; 6] = b"ready\n";

/// The socket next to the control socket.
#[must_use]
pub fn socket(control: &Path) -> PathBuf {
    let mut name = control.as_os_str().to_owned();
    name.push(".handover");
    PathBuf::from(name)
}

/// Opens the socket at which hand-overs are asked for; only the user of this process
/// may. What another process has left or has there is replaced.
///
/// # Errors
/// When it cannot be made.
pub fn listen(control: &Path) -> io::Result<UnixListener> {
    let path = socket(control);
    drop(std::fs::remove_file(&path));
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

const fn kind_code(kind: Kind) -> u8 {
    match kind {
        Kind::Transparent => b't',
        Kind::Socks => b's',
        Kind::Connect => b'c',
    }
}

fn kind_of(code: u8) -> Option<Kind> {
    match code {
        b't' => Some(Kind::Transparent),
        b's' => Some(Kind::Socks),
        b'c' => Some(Kind::Connect),
        _ => None,
    }
}

/// Gives the sockets to the process at the other end, and waits until it is ready.
/// Blocks.
///
/// # Errors
/// When it does not become ready: then this process keeps its task.
pub fn give(stream: &mut UnixStream, estate: &Estate) -> io::Result<()> {
    // Before the other process binds, so that no packet reaches it that is for this one.
    let steered = estate.hub.steer(Newest::Next);
    let given = steered.and_then(|()| give_sockets(stream, estate));
    if given.is_err()
        && let Err(error) = estate.hub.steer(Newest::This)
    {
        tracing::error!(%error, "new associations do not reach this process");
    }
    given
}

fn give_sockets(stream: &mut UnixStream, estate: &Estate) -> io::Result<()> {
    stream.set_read_timeout(Some(START))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = estate.hello.encode().to_vec();
    let mut descriptors: Vec<BorrowedFd<'_>> = Vec::new();
    for listener in &estate.listeners {
        head.push(kind_code(listener.kind()));
        descriptors.push(listener.as_fd());
    }
    for listener in &estate.hub.listeners {
        head.push(LISTENS_FOR_TLS);
        descriptors.push(listener.as_fd());
    }
    for seat in &estate.hub.seats {
        head.extend([SEAT, seat.instance]);
        descriptors.push(seat.socket.as_fd());
    }
    if descriptors.len() > MOST {
        return Err(io::Error::other("there are too many sockets to hand over"));
    }
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let length = u8::try_from(head.len()).map_err(io::Error::other)?;
    let parts = [
        IoSlice::new(std::slice::from_ref(&length)),
        IoSlice::new(&head),
    ];
    sendmsg(&*stream, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
    let mut answer = [0; READY.len()];
    stream.read_exact(&mut answer)?;
    match answer == *READY {
        true => Ok(()),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Asks the running process for its sockets. [`ready`] ends the hand-over; to drop
/// the stream before that leaves all as it was. Blocks.
///
/// # Errors
/// When nothing runs there, or the exchange fails.
pub fn take(control: &Path) -> io::Result<(UnixStream, Estate)> {
    let stream = UnixStream::connect(socket(control))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut room);
    let mut bytes = [0; 1 + Hello::LENGTH + DESCRIPTION];
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let got = recvmsg(&stream, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    let head = bytes
        .get(1..got.bytes)
        .filter(|head| head.len() == usize::from(bytes[0]));
    let (hello, description) = head
        .and_then(|head| head.split_at_checked(Hello::LENGTH))
        .ok_or_else(another_version)?;
    let hello = hello
        .try_into()
        .ok()
        .and_then(|bytes| Hello::decode(bytes).ok())
        .ok_or_else(another_version)?;
    let estate = estate(hello, description, descriptors)?;
    Ok((stream, estate))
}

fn another_version() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "another version runs")
}

/// What sockets with this description are.
fn estate(hello: Hello, description: &[u8], descriptors: Vec<OwnedFd>) -> io::Result<Estate> {
    let mut estate = Estate {
        listeners: Vec::new(),
        hub: Sockets::default(),
        hello,
    };
    let mut description = description.iter().copied();
    for socket in descriptors {
        match description.next().ok_or_else(another_version)? {
            LISTENS_FOR_TLS => estate.hub.listeners.push(socket.into()),
            SEAT => estate.hub.seats.push(Seat {
                instance: description.next().ok_or_else(another_version)?,
                socket: socket.into(),
            }),
            code => {
                let kind = kind_of(code).ok_or_else(another_version)?;
                estate.listeners.push(Listener::adopt(kind, socket)?);
            }
        }
    }
    match description.next() {
        None => Ok(estate),
        Some(_) => Err(another_version()),
    }
}

/// Tells the old process that this one takes the connections from now on.
///
/// # Errors
/// When it is gone.
pub fn ready(stream: &mut UnixStream) -> io::Result<()> {
    stream.write_all(READY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::transport;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    fn estate() -> Estate {
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(Kind::Socks, any).unwrap();
        Estate {
            listeners: vec![listener],
            hub: Sockets::default(),
            hello: Hello {
                lineage: 7,
                generation: 3,
            },
        }
    }

    #[test]
    fn sockets_arrive_with_their_kind_and_still_listen() {
        let folder = tempfile::tempdir().unwrap();
        let control = folder.path().join("ship.sock");
        let listener = listen(&control).unwrap();
        let estate = estate();
        let address = estate.listeners[0].address();
        let old = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            give(&mut stream, &estate)
        });
        let (mut stream, taken) = take(&control).unwrap();
        assert_eq!(taken.hello.generation, 3);
        assert_eq!(taken.listeners[0].kind(), Kind::Socks);
        assert_eq!(taken.listeners[0].address(), address);
        ready(&mut stream).unwrap();
        old.join().unwrap().unwrap();
        TcpStream::connect(address).unwrap();
    }

    /// A datagram of a new association goes to the process that bound last, from when it has bound.
    #[test]
    fn a_hub_gets_a_socket_beside_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let control = folder.path().join("hub.sock");
        let listener = listen(&control).unwrap();
        let bind = |instance| {
            let socket = transport::bind("127.0.0.1:0".parse().unwrap()).unwrap();
            Seat { instance, socket }
        };
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = own.local_addr().unwrap();
        let mut estate = estate();
        estate.hub = Sockets {
            seats: vec![bind(0), bind(0)],
            listeners: vec![own],
        };
        let addresses = [0, 1].map(|at| estate.hub.seats[at].socket.local_addr().unwrap());
        let old = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            give(&mut stream, &estate).map(|()| estate)
        });
        let (mut stream, mut taken) = take(&control).unwrap();
        assert_eq!(
            taken.hub.take_listener(tcp).unwrap().local_addr().unwrap(),
            tcp
        );
        let beside = transport::bind_beside(addresses[0]).unwrap();
        let [before, elsewhere] = addresses.map(|it| taken.hub.take_seats(it));
        assert_eq!((before.len(), elsewhere.len()), (1, 1));
        ready(&mut stream).unwrap();
        let old = old.join().unwrap().unwrap();
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client.send_to(&[0xc0; 30], addresses[0]).unwrap();
        client.send_to(&[0x40; 30], addresses[1]).unwrap();
        client.send_to(&[0x40, 0, 1], addresses[0]).unwrap();
        let receives = |socket: &UdpSocket, length: usize| {
            socket.set_nonblocking(false).unwrap();
            assert_eq!(socket.recv(&mut [0; 100]).unwrap(), length);
        };
        receives(&beside, 30);
        receives(&old.hub.seats[0].socket, 3);
        receives(&old.hub.seats[1].socket, 30);
    }

    #[test]
    fn a_description_that_does_not_fit_is_of_another_version() {
        let socket = || vec![OwnedFd::from(UdpSocket::bind("127.0.0.1:0").unwrap())];
        let hello = Hello::fresh();
        assert!(super::estate(hello, &[SEAT, 3], socket()).is_ok());
        for description in [&[SEAT][..], &[], &[SEAT, 3, b's'], b"x"] {
            assert!(super::estate(hello, description, socket()).is_err());
        }
    }

    #[test]
    fn a_new_process_that_fails_leaves_the_old_one_at_work() {
        let folder = tempfile::tempdir().unwrap();
        let control = folder.path().join("ship.sock");
        let listener = listen(&control).unwrap();
        let estate = estate();
        let old = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let given = give(&mut stream, &estate);
            (given, estate)
        });
        drop(take(&control).unwrap());
        let (given, estate) = old.join().unwrap();
        assert!(given.is_err());
        TcpStream::connect(estate.listeners[0].address()).unwrap();
    }

    #[test]
    fn nobody_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(take(&folder.path().join("ship.sock")).is_err());
    }
}
