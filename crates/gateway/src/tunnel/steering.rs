//! Which of several processes at one UDP address a packet is for.
//!
//! While a hub hands over, its old process and the new one have a socket each at the same address
//! (`SO_REUSEPORT`). The kernel gives each packet to one of them as a program of classic BPF says: by the
//! first byte of QUIC's connection id, which each process has for itself. What names none of the
//! older processes is for the newest: new associations, and packets for processes that are gone.
//!
//! The kernel looks at the first packet only of several that it has joined (GRO). A process
//! therefore leaves alone what names another one that lives ([`Foreign`]): it would answer that it does not
//! know the association, and the terminal would give it up (RFC 9000, section 10.3).

use nix::libc::{
    BPF_ABS, BPF_B, BPF_JA, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, sock_filter,
    sock_fprog,
};
use nix::sys::socket::{setsockopt, sockopt::AttachReusePortCbpf};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Length of the connection ids of both boxes, bytes. Those that a terminal invents for its first packet
/// are longer (20 bytes).
pub(super) const ID_LENGTH: usize = 8;

/// The bits of a first byte that say "long header", and that all of QUIC's packets have (RFC 9000,
/// section 17).
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;
/// Where the connection id begins behind a short header, and behind its length in a long one.
const SHORT_ID: usize = 1;
const LONG_LENGTH: usize = 5;

/// Processes at one address, at most: each upgrade adds one until the connections of the oldest have
/// ended.
const MOST: usize = 64;

/// The socket of one process at an address.
#[derive(Debug)]
pub struct Seat {
    /// The first byte of its connection ids.
    pub instance: u8,
    /// A handle of the socket.
    pub socket: UdpSocket,
}

impl Seat {
    /// Another handle of the same socket.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn try_clone(&self) -> io::Result<Seat> {
        Ok(Seat {
            instance: self.instance,
            socket: self.socket.try_clone()?,
        })
    }

    /// Whether it is at this address.
    #[must_use]
    pub fn is_at(&self, address: SocketAddr) -> bool {
        self.socket.local_addr().is_ok_and(|own| own == address)
    }
}

/// The first byte of connection ids that no process of `seats` has.
#[must_use]
pub(crate) fn free_instance<'a>(seats: impl Iterator<Item = &'a Seat> + Clone) -> u8 {
    let is_free = |instance: &u8| seats.clone().all(|seat| seat.instance != *instance);
    (0..u8::MAX).find(is_free).unwrap_or(u8::MAX)
}

/// Makes the kernel give what names one of `older` to that process, and all else to the one
/// that bound next after them. `socket` is any of those at the address, and `older` in the
/// order in which they were bound.
///
/// # Errors
/// The socket was not bound to be shared; there are too many of them.
pub(crate) fn steer(socket: &UdpSocket, older: &[u8]) -> io::Result<()> {
    if older.len() >= MOST {
        return Err(io::Error::other("too many processes share the address"));
    }
    let mut program = program(older);
    let attached = sock_fprog {
        // A few instructions for each of at most `MOST`.
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    Ok(setsockopt(socket, AttachReusePortCbpf, &attached)?)
}

/// The program that returns the place of the process that a packet is for; [`named`] says the same.
/// Offsets count from the datagram's payload.
fn program(older: &[u8]) -> Vec<sock_filter> {
    let step = |code: u32, jt: usize, jf: usize, k: u32| sock_filter {
        code: code as u16,
        // At most two for each of `MOST`, and eight.
        jt: jt as u8,
        jf: jf as u8,
        k,
    };
    let load = |at: usize| step(BPF_LD | BPF_B | BPF_ABS, 0, 0, at as u32);
    let test = |kind: u32, value: u8, jt: usize, jf: usize| {
        step(BPF_JMP | kind | BPF_K, jt, jf, u32::from(value))
    };
    let give = |place: usize| step(BPF_RET | BPF_K, 0, 0, place as u32);
    let last = 8 + 2 * older.len();
    let mut program = vec![
        load(0),
        test(BPF_JSET, LONG, 3, 0),
        test(BPF_JSET, FIXED, 0, last - 3),
        load(SHORT_ID),
        step(BPF_JMP | BPF_JA, 0, 0, 3),
        load(LONG_LENGTH),
        test(BPF_JEQ, ID_LENGTH as u8, 0, last - 7),
        load(LONG_LENGTH + 1),
    ];
    for (place, instance) in older.iter().enumerate() {
        program.extend([test(BPF_JEQ, *instance, 0, 1), give(place)]);
    }
    program.push(give(older.len()));
    program
}

/// The process that a packet names, by the first byte of its connection id.
fn named(packet: &[u8]) -> Option<u8> {
    let first = *packet.first()?;
    if first & LONG != 0 {
        let length = usize::from(*packet.get(LONG_LENGTH)?);
        let id = packet.get(LONG_LENGTH + 1)?;
        return (length == ID_LENGTH).then_some(*id);
    }
    (first & FIXED != 0).then(|| packet.get(SHORT_ID).copied())?
}

/// What a process leaves alone of the packets that it gets.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// There is such a thing.
    any: AtomicBool,
    /// What names no process as well.
    nameless: AtomicBool,
    /// The first bytes of connection ids of others, a bit each.
    others: [AtomicU64; 4],
}

impl Foreign {
    /// Leaves alone what names one of `others`.
    pub(super) fn leave(&self, others: &[u8]) {
        let is_other = |instance: u8| others.contains(&instance);
        self.set(is_other, false);
    }

    /// Leaves alone all that does not name `own`.
    pub(super) fn keep(&self, own: u8) {
        self.set(|instance| instance != own, true);
    }

    fn set(&self, is_other: impl Fn(u8) -> bool, nameless: bool) {
        for (word, first) in self.others.iter().zip((0..=u8::MAX).step_by(64)) {
            let bit = |at: u8| u64::from(is_other(first + at)) << at;
            word.store((0..64).map(bit).sum(), Relaxed);
        }
        self.nameless.store(nameless, Relaxed);
        let any = self.others.iter().any(|word| word.load(Relaxed) != 0);
        self.any.store(any || nameless, Relaxed);
    }

    fn is_foreign(&self, packet: &[u8]) -> bool {
        match named(packet) {
            Some(instance) => {
                let word = self.others[usize::from(instance / 64)].load(Relaxed);
                word >> (instance % 64) & 1 == 1
            }
            None => self.nameless.load(Relaxed),
        }
    }

    /// Makes datagrams of `stride` bytes that are foreign ones that QUIC ignores.
    pub(super) fn blank(&self, datagrams: &mut [u8], stride: usize) {
        if !self.any.load(Relaxed) {
            return;
        }
        for packet in datagrams.chunks_mut(stride.max(1)) {
            if self.is_foreign(packet) {
                // Without the bits of QUIC's, and none of a repair's first byte.
                packet[0] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
