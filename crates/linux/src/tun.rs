//! TUN devices: what a host sends over one is read here, and what is written
//! here the host receives.

use crate::namespace::{Namespace, NamespaceError};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tun_rs::DeviceBuilder;

/// Bytes of the header before each packet of a device, which describes how to split a GSO segment
/// and whether its checksum is partial (`virtio_net_hdr`).
pub(crate) const GSO_HEADER: usize = 10;

/// Packets that the kernel dropped because earlier ones had not been read, according to its counter
/// of `device` in `namespace`. Zero if there is no such device.
///
/// # Errors
/// If the namespace cannot be entered.
pub(crate) fn ring_drops(namespace: &Namespace, device: &str) -> Result<u64, NamespaceError> {
    let read = || fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let table = namespace.enter(read)?;
    let row = table.lines().find_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        (name.trim() == device).then_some(numbers)
    });
    // Eight numbers of what was received come first; the fourth of the others
    // is what was not sent.
    let dropped = row.and_then(|numbers| numbers.split_whitespace().nth(11)?.parse().ok());
    Ok(dropped.unwrap_or(0))
}

/// Why a TUN device could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunError {
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A system call failed.
    #[error("cannot make a TUN device in network namespace `{namespace}`: {why}{}", hint(.why))]
    System {
        /// Where it was to be.
        namespace: String,
        /// Error of the system.
        why: io::Error,
    },
}

fn hint(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::NotFound => " (the kernel has no TUN driver, or /dev/net/tun is missing)",
        io::ErrorKind::PermissionDenied => " (this needs root)",
        _ => "",
    }
}

/// A TUN device in a namespace, which is gone when this is dropped. Reads do
/// not wait.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: String,
    datagram_segments: bool,
}

impl Tun {
    /// Makes a device in `namespace`, with the first free name of `bp0`, `bp1` and so on. The
    /// kernel holds up to `queue` packets that have not been read, and drops more. It hands over
    /// whole segments of up to 64 kB, and before each packet or segment a header of 10 bytes that
    /// describes how to split it; what is written needs the same header.
    ///
    /// # Errors
    /// Without root, or without TUN in the kernel.
    pub fn create(namespace: &Namespace, queue: u32) -> Result<Tun, TunError> {
        let made = namespace.enter(|| {
            let builder = DeviceBuilder::new().name("bp%d").inherit_enable_state();
            let device = builder
                .with(|builder| {
                    builder.offload(true).tx_queue_len(queue);
                })
                .build_sync()?;
            device.set_nonblocking(true)?;
            let name = device.name()?;
            let datagram_segments = device.udp_gso();
            Ok((
                device.as_fd().try_clone_to_owned()?,
                name,
                datagram_segments,
            ))
        })?;
        let (fd, name, datagram_segments) = made.map_err(|why| TunError::System {
            namespace: namespace.name().to_owned(),
            why,
        })?;
        Ok(Tun {
            fd,
            name,
            datagram_segments,
        })
    }

    /// Its name in its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its file descriptor alone.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// True if segments of datagrams may be written to it, too (Linux 6.2).
    #[must_use]
    pub fn takes_datagram_segments(&self) -> bool {
        self.datagram_segments
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
