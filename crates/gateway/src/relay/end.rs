//! One end of a relayed connection: a TCP socket, and whether it broke.
//!
//! The kernel reports the error of a socket once, to whichever call comes first; a read after that
//! returns 0, as at an orderly end. An end therefore keeps the reason from the first report on, and
//! checks it at every read of 0.

use super::lifecycle;
use crate::CloseReason;
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Waits until a connection that is not yet relayed breaks.
pub async fn breaks(tcp: &TcpStream) -> CloseReason {
    loop {
        let ready = tcp.ready(Interest::ERROR).await;
        match ready.and_then(|_| tcp.take_error()) {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => return CloseReason::from_io(&error),
        }
        // The error queue alone: forget this readiness, and wait for the next.
        let _: io::Result<()> =
            tcp.try_io(Interest::ERROR, || Err(io::ErrorKind::WouldBlock.into()));
    }
}

/// A TCP socket, and why it broke.
#[derive(Debug)]
pub(super) struct End {
    tcp: TcpStream,
    /// Code of the [`CloseReason`], or 0.
    broken: AtomicU32,
}

impl End {
    pub(super) fn new(tcp: TcpStream) -> End {
        End {
            tcp,
            broken: AtomicU32::new(0),
        }
    }

    pub(super) fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    pub(super) fn into_tcp(self) -> TcpStream {
        self.tcp
    }

    /// Why the socket broke, if it did.
    pub(super) fn broken(&self) -> Option<CloseReason> {
        match self.broken.load(Ordering::Relaxed) {
            0 => None,
            code => Some(CloseReason::from_code(code.into())),
        }
    }

    /// Records that the socket broke; the first reason stands.
    pub(super) fn fails(&self, cut: CloseReason) -> CloseReason {
        match self.broken() {
            Some(first) => first,
            None => {
                self.broken.store(cut.code(), Ordering::Relaxed);
                cut
            }
        }
    }

    /// What `error` of this socket stands for, which is recorded.
    pub(super) fn error(&self, error: &io::Error) -> CloseReason {
        self.fails(match CloseReason::from_io(error) {
            // An established connection is not refused: the RST of a host that
            // has not seen it established yet comes as this.
            CloseReason::Refused => CloseReason::Reset,
            cut => cut,
        })
    }

    /// Waits until the socket breaks, also while nothing is read or written.
    pub(super) async fn breaks(&self) -> CloseReason {
        loop {
            match self.tcp.ready(Interest::ERROR).await {
                Ok(_) => {}
                Err(error) => return self.error(&error),
            }
            match self.tcp.take_error() {
                Ok(Some(error)) | Err(error) => return self.error(&error),
                Ok(None) => {}
            }
            if let Some(cut) = self.broken() {
                return cut;
            }
            // The error queue alone, or an error that a read has reported already:
            // forget this readiness, and wait for the next.
            let _: io::Result<()> = self
                .tcp
                .try_io(Interest::ERROR, || Err(io::ErrorKind::WouldBlock.into()));
        }
    }

    /// Waits until there is something to read: bytes, the end, or an error.
    pub(super) async fn readable(&self) -> Result<(), CloseReason> {
        match self.tcp.readable().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// Waits until there is room to write, or an error.
    pub(super) async fn writable(&self) -> Result<(), CloseReason> {
        match self.tcp.writable().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// True if there are bytes to read.
    pub(super) fn has_bytes(&self) -> bool {
        rustix::io::ioctl_fionread(&self.tcp).is_ok_and(|bytes| bytes > 0)
    }

    /// Reads without waiting; `None` if nothing has arrived, 0 at the orderly end.
    ///
    /// # Errors
    /// Why the socket broke.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, CloseReason> {
        let mut got = None;
        let whole = buffer.len();
        let read = self.tcp.try_io(Interest::READABLE, || {
            let (_, length) = rustix::net::recv(&self.tcp, buffer, RecvFlags::empty())?;
            got = Some(length);
            if length > 0 && length < whole && !self.has_bytes() {
                // Nothing is left: the next arrival makes the socket readable
                // again. A read stops short of urgent data, too, which is still
                // there then.
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Ok(())
        });
        self.outcome(got, read)
    }

    /// Writes without waiting; `None` if there is no room.
    ///
    /// # Errors
    /// Why the socket broke.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Option<usize>, CloseReason> {
        let wrote = self.tcp.try_io(Interest::WRITABLE, || {
            Ok(rustix::net::send(&self.tcp, bytes, SendFlags::NOSIGNAL)?)
        });
        match wrote {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// The result of a read that stored what it `got`.
    fn outcome(
        &self,
        got: Option<usize>,
        read: io::Result<()>,
    ) -> Result<Option<usize>, CloseReason> {
        match (got, read) {
            (Some(0), _) => match self.broken() {
                Some(cut) => Err(cut),
                None => Ok(Some(0)),
            },
            (Some(length), _) => Ok(Some(length)),
            (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            (None, Err(error)) => Err(self.error(&error)),
            (None, Ok(())) => Ok(None),
        }
    }

    /// A read by other means than a buffer: `call` returns how much it moved.
    pub(super) fn read_with(
        &self,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> Result<Option<usize>, CloseReason> {
        let mut got = None;
        let read = self.tcp.try_io(Interest::READABLE, || {
            got = Some(call()?);
            Ok(())
        });
        self.outcome(got, read)
    }

    /// A write by other means than a buffer.
    pub(super) fn write_with(
        &self,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> Result<Option<usize>, CloseReason> {
        match self.tcp.try_io(Interest::WRITABLE, call) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// Writes all of `bytes`.
    pub(super) async fn write_all(&self, mut bytes: &[u8]) -> Result<(), CloseReason> {
        while !bytes.is_empty() {
            match self.write(bytes)? {
                Some(length) => bytes = &bytes[length..],
                None => self.writable().await?,
            }
        }
        Ok(())
    }

    /// Passes on a half-close: FIN after what was written.
    pub(super) fn finish(&self) -> Result<(), CloseReason> {
        match rustix::net::shutdown(&self.tcp, rustix::net::Shutdown::Write) {
            Ok(()) => Ok(()),
            // The connection is gone; its error may have been reported already.
            Err(rustix::io::Errno::NOTCONN) => Err(self.fails(CloseReason::Reset)),
            Err(error) => Err(self.error(&error.into())),
        }
    }

    /// Waits until the peer has acknowledged all that was written, or broke.
    pub(super) async fn delivered(&self) {
        let mut pause = Duration::from_millis(1);
        while self.broken().is_none() && !lifecycle::delivered(&self.tcp) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
