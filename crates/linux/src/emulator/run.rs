//! The loop: reads what hosts send, lets the links do what is due, writes what
//! arrives.
//!
//! One thread, which sleeps until a device has something or the next packet is
//! due. A packet's time is that of its read; it is written when its last link
//! delivers it, and how late that was is recorded.

use super::arena::Arena;
use super::header::{self, Header, mark};
use super::lateness::Histogram;
use super::network::{Carried, Cause, Network, Packet, Sink};
use super::plan::endpoint_of;
use super::report::{Passed, Priority, Snapshot};
use super::segment;
use super::split::Segment;
use super::stop::Stop;
use super::tap::{Seen, Tap};
use crate::port::BEFORE_IP;
use crate::sys;
use crate::tun::GSO_HEADER;
use bentpipe_scenario::LinkId;
use bentpipe_units::{Duration, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::time::Instant;

/// Packets that are read from one device before the others have their turn.
const TURN: usize = 32;

/// An event this near is waited for without sleeping, which takes longer.
const NEAR: Duration = Duration::from_micros(6);

/// Where real-time priority is not allowed.
const NICE: i32 = -15;

/// The longest segment there is, with what comes before it.
const LONGEST: usize = BEFORE_IP + 65_536;

/// How often the state is published.
const PUBLISH: Duration = Duration::from_millis(500);

/// What the emulator reads from and writes to: its side of a host.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) fd: OwnedFd,
    /// Where packets go whose addresses are nobody's: to the only other host,
    /// if there is just one.
    pub(super) other: Option<u32>,
}

/// The devices, and how they are read.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) all: Vec<Device>,
    /// The device of each endpoint.
    pub(super) at: Vec<u32>,
    /// What is read from them.
    pub(super) what: What,
}

/// What is read from a device, and written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// IP packets.
    Packets,
    /// IP packets and segments, after a header that says how they are to be
    /// cut. They are passed whole.
    Segments,
    /// Frames of Ethernet, after such a header. They are cut.
    Frames,
}

impl What {
    /// Bytes before the IP header.
    #[inline]
    pub(super) fn skip(self) -> usize {
        match self {
            What::Packets => 0,
            What::Segments => GSO_HEADER,
            What::Frames => BEFORE_IP,
        }
    }
}

/// What has been counted.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) lateness: Histogram,
    recent: Histogram,
    /// By endpoint.
    pub(super) passed: Vec<Passed>,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) strangers: u64,
    pub(super) write_failed: u64,
    pub(super) no_memory: u64,
}

/// Devices, packets, the clock, and who looks.
pub(super) struct Io<'a, T> {
    devices: &'a Devices,
    arena: Arena,
    /// Room for a segment that is to be cut.
    segment: Vec<u8>,
    origin: Instant,
    tap: &'a mut T,
    pub(super) counted: Counted,
}

/// What a read brought.
enum Read {
    /// A packet for an endpoint.
    Packet(u32, Packet),
    /// Something that is nobody's.
    Nothing,
    /// There is nothing left.
    Empty,
}

impl<'a, T: Tap> Io<'a, T> {
    pub(super) fn new(
        devices: &'a Devices,
        arena: Arena,
        origin: Instant,
        tap: &'a mut T,
    ) -> Io<'a, T> {
        let counted = Counted {
            lateness: Histogram::default(),
            recent: Histogram::default(),
            passed: vec![Passed::default(); devices.at.len()],
            read: 0,
            written: 0,
            strangers: 0,
            write_failed: 0,
            no_memory: 0,
        };
        Io {
            devices,
            arena,
            segment: match devices.what {
                What::Frames => vec![0; LONGEST],
                What::Packets | What::Segments => Vec::new(),
            },
            origin,
            tap,
            counted,
        }
    }

    /// Time since the start of the run.
    #[inline]
    fn now(&self) -> Time {
        // Enough for five centuries.
        Time::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }

    /// Reads a packet from device `index` into a slot.
    #[inline]
    fn read(&mut self, index: usize, slot: u32) -> Result<Read, Errno> {
        let Devices { all, at, what } = self.devices;
        let device = &all[index];
        let length = match rustix::io::read(&device.fd, self.arena.room(slot)) {
            Ok(length) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Read::Empty),
            Err(error) => return Err(error),
        };
        self.arena.set_length(slot, length);
        let bytes = self.arena.get(slot);
        let (before, ip) = bytes.split_at(what.skip().min(bytes.len()));
        let Some(header) = Header::read(ip) else {
            self.counted.strangers += 1;
            return Ok(Read::Nothing);
        };
        // Only what this host may send: the other end of the pair is here.
        let endpoint = endpoint_of(header.destination)
            .filter(|e| at.get((e ^ 1) as usize) == Some(&(index as u32)))
            .or_else(|| device.other.filter(|_| !header.is_multicast()));
        let Some(endpoint) = endpoint else {
            self.counted.strangers += 1;
            return Ok(Read::Nothing);
        };
        let cut = match what {
            What::Segments => segment::cut(before, ip, &header),
            What::Packets | What::Frames => segment::WHOLE,
        };
        let packet = Packet {
            slot,
            segments: cut.packets,
            offered: header.offered(ip.len() as u32 + cut.more_bytes),
        };
        Ok(Read::Packet(endpoint, packet))
    }

    /// Reads a frame, cuts it if it is a segment, and lets it enter; false if
    /// there is nothing left.
    fn pass_frame(&mut self, network: &mut Network, index: usize) -> Result<bool, Errno> {
        let mut room = std::mem::take(&mut self.segment);
        let device = &self.devices.all[index];
        let read = match rustix::io::read(&device.fd, &mut room[..]) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error),
        };
        if let (Ok(Some(length)), Some(endpoint)) = (read, device.other) {
            let frame = &room[..length];
            match Segment::read(frame, BEFORE_IP) {
                Some(segment) => {
                    for number in 0..segment.packets() {
                        let write = |to: &mut [u8]| segment.write(number, to);
                        self.pass(network, endpoint, write);
                    }
                }
                None => self.pass(network, endpoint, |to| {
                    to.get_mut(..length)?.copy_from_slice(frame);
                    Some(length)
                }),
            }
        }
        self.segment = room;
        read.map(|length| length.is_some())
    }

    /// Lets a frame enter that `write` writes.
    fn pass(
        &mut self,
        network: &mut Network,
        endpoint: u32,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) {
        let Some(slot) = self.arena.take() else {
            self.counted.no_memory += 1;
            return;
        };
        // A frame that is too long for the interface could not be sent.
        let Some(length) = write(self.arena.room(slot)) else {
            self.counted.write_failed += 1;
            self.arena.free(slot);
            return;
        };
        self.arena.set_length(slot, length);
        let packet = Packet {
            slot,
            segments: 1,
            offered: header::offered_of_frame(self.arena.get(slot), BEFORE_IP),
        };
        self.enter(network, endpoint, packet);
    }

    /// A packet has been read and enters the network.
    #[inline]
    fn enter(&mut self, network: &mut Network, endpoint: u32, packet: Packet) {
        let now = self.now();
        self.counted.read += 1;
        self.counted.passed[endpoint as usize]
            .sent
            .add(packet.offered.bytes);
        if T::ACTIVE {
            let skip = self.devices.what.skip();
            let seen = seen(
                &self.arena,
                skip,
                endpoint,
                packet.slot,
                packet.offered.bytes,
            );
            self.tap.entered(now, &seen);
        }
        network.send(now, endpoint, packet, self);
    }

    /// Takes a packet from a device for which there is no memory; false if
    /// there is none.
    #[cold]
    fn discard(&mut self, index: usize) -> Result<bool, Errno> {
        let mut rest = [0; 64];
        match rustix::io::read(&self.devices.all[index].fd, &mut rest) {
            Ok(_) => {
                self.counted.no_memory += 1;
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn snapshot(&mut self, at: Time, network: &mut Network) -> Snapshot {
        let recent = std::mem::take(&mut self.counted.recent);
        Snapshot {
            at,
            links: network
                .links
                .iter_mut()
                .map(|link| (*link.counters(), link.waiting(at)))
                .collect(),
            written: self.counted.written,
            failed: self.counted.write_failed + self.counted.no_memory,
            lateness: recent.lateness(),
        }
    }
}

/// A packet as a tap sees it.
fn seen(arena: &Arena, skip: usize, endpoint: u32, slot: u32, bytes: u32) -> Seen<'_> {
    Seen {
        pair: endpoint / 2,
        forward: endpoint % 2 == 1,
        bytes,
        packet: &arena.get(slot)[skip..],
    }
}

impl<T: Tap> Sink for Io<'_, T> {
    #[inline]
    fn arrives(&mut self, at: Time, endpoint: u32, packet: &Carried) {
        let late = self.now().since(at);
        self.counted.lateness.record(late);
        self.counted.recent.record(late);
        let (slot, bytes) = (packet.slot, packet.bytes);
        let Devices {
            all, at: places, ..
        } = self.devices;
        if T::ACTIVE {
            let skip = self.devices.what.skip();
            let seen = seen(&self.arena, skip, endpoint, slot, bytes);
            self.tap.arrived(at, late, &seen);
        }
        let device = &all[places[endpoint as usize] as usize];
        match rustix::io::write(&device.fd, self.arena.get(slot)) {
            Ok(_) => {
                self.counted.written += 1;
                self.counted.passed[endpoint as usize].arrived.add(bytes);
            }
            Err(_) => self.counted.write_failed += 1,
        }
        self.arena.free(slot);
    }

    fn lost(
        &mut self,
        at: Time,
        endpoint: u32,
        link: Option<LinkId>,
        why: Cause,
        packet: &Carried,
    ) {
        if why == Cause::NoRoute {
            self.counted.passed[endpoint as usize].no_route += 1;
        }
        let (slot, bytes) = (packet.slot, packet.bytes);
        if T::ACTIVE {
            let skip = self.devices.what.skip();
            let seen = seen(&self.arena, skip, endpoint, slot, bytes);
            self.tap.dropped(at, link, why, &seen);
        }
        self.arena.free(slot);
    }

    fn marked(&mut self, packet: &Carried) {
        mark(&mut self.arena.get_mut(packet.slot)[self.devices.what.skip()..]);
    }
}

/// Runs until `end` or until it is stopped, and says when that was. Fails if a
/// device does.
pub(super) fn run<T: Tap>(
    network: &mut Network,
    io: &mut Io<'_, T>,
    stop: &Stop,
    end: Time,
    published: &Mutex<Snapshot>,
) -> Result<Time, Errno> {
    let devices = io.devices;
    let fds = devices.all.iter().map(|device| device.fd.as_fd());
    let mut polled: Vec<PollFd<'_>> = fds
        .chain([stop.as_fd()])
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    let mut publish = Time::ZERO;
    loop {
        let now = io.now();
        if now >= end || stop.is_stopped() {
            network.finish(now.min(end), io);
            return Ok(now.min(end));
        }
        network.run_until(now, io);
        if now >= publish {
            publish = now + PUBLISH;
            let snapshot = io.snapshot(now, network);
            // Somebody who reads it sees the next one.
            if let Ok(mut published) = published.try_lock() {
                *published = snapshot;
            }
        }
        let mut more = false;
        for (index, polled) in polled.iter().take(devices.all.len()).enumerate() {
            if !polled.revents().is_empty() {
                more |= take_turn(network, io, index)?;
            }
        }
        let next = network.next_event().map_or(end, |at| at.min(end));
        let wait = next.min(publish).since(io.now());
        let wait = if more || wait <= NEAR {
            Duration::ZERO
        } else {
            wait
        };
        let timeout = Timespec {
            tv_sec: (wait.as_nanos() / 1_000_000_000) as i64,
            tv_nsec: (wait.as_nanos() % 1_000_000_000) as i64,
        };
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads some packets from a device. True if there may be more.
#[inline]
fn take_turn<T: Tap>(
    network: &mut Network,
    io: &mut Io<'_, T>,
    index: usize,
) -> Result<bool, Errno> {
    for _ in 0..TURN {
        if io.devices.what == What::Frames {
            if io.pass_frame(network, index)? {
                continue;
            }
            return Ok(false);
        }
        let Some(slot) = io.arena.take() else {
            if io.discard(index)? {
                continue;
            }
            return Ok(false);
        };
        match io.read(index, slot) {
            Ok(Read::Packet(endpoint, packet)) => io.enter(network, endpoint, packet),
            Ok(Read::Nothing) => io.arena.free(slot),
            Ok(Read::Empty) => {
                io.arena.free(slot);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// What the processor has spent on the calling thread.
pub(super) fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The calling thread as one that wakes in time: timers without slack, and a
/// real-time priority or a nice value, if that is allowed. Undone when this is
/// dropped.
pub(super) struct InTime {
    pub(super) priority: Priority,
    /// The nice value that it had.
    nice: i32,
}

impl InTime {
    pub(super) fn new(wanted: bool) -> InTime {
        // The kernel puts timers together that lie this near.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let nice = rustix::process::getpriority_process(None).unwrap_or(0);
        let priority = if !wanted {
            Priority::Ordinary
        } else if sys::set_real_time(Some(1)).is_ok() {
            Priority::RealTime
        } else if sys::set_nice(NICE).is_ok() {
            Priority::Nice(NICE)
        } else {
            Priority::Ordinary
        };
        InTime { priority, nice }
    }
}

impl Drop for InTime {
    fn drop(&mut self) {
        let _ = match self.priority {
            Priority::RealTime => sys::set_real_time(None),
            Priority::Nice(_) => sys::set_nice(self.nice),
            Priority::Ordinary => Ok(()),
        };
        // The default of the thread.
        let _ = rustix::thread::set_current_timer_slack(None);
    }
}
