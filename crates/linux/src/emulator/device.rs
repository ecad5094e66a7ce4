//! The file descriptors through which packets enter and leave the emulator.

use crate::port::BEFORE_IP;
use crate::tun::GSO_HEADER;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

/// What the emulator reads from and writes to: its side of a host.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) fd: OwnedFd,
    /// The endpoint to which packets go whose addresses belong to no pair: the
    /// only other host, if there is just one.
    pub(super) other: Option<u32>,
    /// It takes segments of datagrams, which need Linux 6.2.
    pub(super) joins_datagrams: bool,
}

/// The devices, and how they are read.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) all: Vec<Device>,
    /// The device of each endpoint.
    pub(super) at: Vec<u32>,
    /// By device and the endpoint that a packet from it is addressed to: the endpoint that it goes
    /// to, if there are boxes in between.
    pub(super) detours: BTreeMap<(u32, u32), u32>,
    /// What is read from them.
    pub(super) what: What,
}

/// The unit that is read from a device and written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// IP packets and segments of them, after a virtio header. Segments are
    /// cut, and packets that are due together are joined again.
    Packets,
    /// As above, but segments pass the links whole.
    Segments,
    /// Ethernet frames after a virtio header. Segments are cut.
    Frames,
}

impl What {
    /// Bytes before the IP header.
    #[inline]
    pub(super) fn skip(self) -> usize {
        match self {
            What::Packets | What::Segments => GSO_HEADER,
            What::Frames => BEFORE_IP,
        }
    }
}
