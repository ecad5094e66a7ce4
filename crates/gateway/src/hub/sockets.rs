//! The sockets that a hub gives to the process that takes over from it.

use crate::tunnel::steering::{self, Seat};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Sockets of a hub, over all of its addresses.
#[derive(Debug, Default)]
pub struct Sockets {
    /// Those of UDP: at each address the ones of older processes that still run, in the order in which
    /// they were bound, and then its own.
    pub seats: Vec<Seat>,
    /// Those of the fallback, which listen.
    pub listeners: Vec<TcpListener>,
}

/// Whom the kernel gives packets that name no older process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// The owner of the last of the seats.
    This,
    /// The process that binds next.
    Next,
}

impl Sockets {
    /// Takes out the seats at an address.
    #[must_use]
    pub fn take_seats(&mut self, address: SocketAddr) -> Vec<Seat> {
        let (taken, left) = std::mem::take(&mut self.seats)
            .into_iter()
            .partition(|seat| seat.is_at(address));
        self.seats = left;
        taken
    }

    /// Takes out the listener at an address.
    #[must_use]
    pub fn take_listener(&mut self, address: SocketAddr) -> Option<TcpListener> {
        let is_there = |listener: &TcpListener| listener.local_addr().is_ok_and(|it| it == address);
        let at = self.listeners.iter().position(is_there)?;
        Some(self.listeners.swap_remove(at))
    }

    /// Makes the kernel give packets to their processes, at every address.
    ///
    /// # Errors
    /// An address has sockets that are not shared, or too many.
    pub fn steer(&self, newest: Newest) -> io::Result<()> {
        let mut left: Vec<&Seat> = self.seats.iter().collect();
        while let Some(first) = left.first() {
            let address = first.socket.local_addr()?;
            let (here, others): (Vec<&Seat>, Vec<&Seat>) =
                left.iter().partition(|seat| seat.is_at(address));
            let mut older: Vec<u8> = here.iter().map(|seat| seat.instance).collect();
            if newest == Newest::This {
                older.pop();
            }
            steering::steer(&first.socket, &older)?;
            left = others;
        }
        Ok(())
    }
}
