//! Packets in and out: reads what hosts send, cuts segments into packets, and
//! writes what arrives, joined where packets are due together.

use super::arena::Arena;
use super::batch::{Batch, Due};
use super::checksum;
use super::device::{Devices, What};
use super::header::{self, Header, mark};
use super::join::MOST;
use super::lateness::Histogram;
use super::network::{Cause, Network, Packet, Sink};
use super::plan::endpoint_of;
use super::report::{Passed, Snapshot};
use super::segment;
use super::split::Segment;
use super::tap::{Seen, Tap};
use crate::port::BEFORE_IP;
use bentpipe_link::forward::InFlight;
use bentpipe_scenario::LinkId;
use bentpipe_units::Time;
use rustix::io::{Errno, readv, writev};
use std::io::{IoSlice, IoSliceMut};
use std::time::Instant;

/// Bytes of the longest segment with what comes before it.
const LONGEST: usize = BEFORE_IP + 65_536;

/// Counters.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) lateness: Histogram,
    recent: Histogram,
    /// Packets read and written, by endpoint.
    pub(super) passed: Vec<Passed>,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) unmatched: u64,
    pub(super) write_failed: u64,
    pub(super) no_memory: u64,
}

/// The devices, the packets between them, the clock and the tap.
pub(super) struct Io<'a, T> {
    pub(super) devices: &'a Devices,
    arena: Arena,
    /// Room for a segment that is to be cut. The start of a segment is read
    /// into a slot of the arena, so that single packets are not copied, and
    /// the rest behind the same number of bytes here.
    segment: Vec<u8>,
    /// Packets that are due at one device and wait to be written together.
    batch: Batch,
    origin: Instant,
    tap: &'a mut T,
    pub(super) counted: Counted,
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
            unmatched: 0,
            write_failed: 0,
            no_memory: 0,
        };
        Io {
            devices,
            arena,
            segment: match devices.what {
                What::Packets | What::Frames => vec![0; LONGEST],
                What::Segments => Vec::new(),
            },
            batch: Batch::default(),
            origin,
            tap,
            counted,
        }
    }

    /// Time since the start of the run.
    #[inline]
    pub(super) fn now(&self) -> Time {
        // Enough for five centuries.
        Time::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }

    /// Packets read and written, to see whether there was something to do.
    #[inline]
    pub(super) fn handled(&self) -> u64 {
        self.counted.read + self.counted.written
    }

    /// Reads what device `index` has next and lets it enter the network.
    /// Returns how many packets that were, or `None` if there is nothing.
    ///
    /// # Errors
    /// If the device fails.
    #[inline]
    pub(super) fn read(
        &mut self,
        network: &mut Network,
        index: usize,
    ) -> Result<Option<usize>, Errno> {
        let Some(slot) = self.arena.take() else {
            return self.discard(index);
        };
        let Devices { all, what, .. } = self.devices;
        let first = self.arena.room(slot);
        let in_slot = first.len();
        let rest = self.segment.get_mut(in_slot..).unwrap_or_default();
        let mut parts = [IoSliceMut::new(first), IoSliceMut::new(rest)];
        let length = match readv(&all[index].fd, &mut parts) {
            Ok(length) => length,
            Err(error) => {
                self.arena.free(slot);
                return match error {
                    Errno::AGAIN | Errno::INTR => Ok(None),
                    error => Err(error),
                };
            }
        };
        let now = self.now();
        self.arena.set_length(slot, length);
        let bytes = self.arena.get(slot);
        let ip = bytes.get(what.skip()..).unwrap_or_default();
        let Some(endpoint) = endpoint(self.devices, index, ip) else {
            self.counted.unmatched += 1;
            self.arena.free(slot);
            return Ok(Some(1));
        };
        if *what != What::Segments && bytes.get(1).is_some_and(|kind| *kind != 0) {
            self.segment[..bytes.len()].copy_from_slice(bytes);
            self.arena.free(slot);
            return Ok(Some(self.cut(network, now, endpoint, length)));
        }
        if length > in_slot {
            // It is longer than the MTU and cannot be cut.
            self.counted.write_failed += 1;
            self.arena.free(slot);
            return Ok(Some(1));
        }
        let packet = self.packet(slot);
        self.enter(network, now, endpoint, packet);
        Ok(Some(1))
    }

    /// Cuts the segment of `length` bytes that has been read and lets its
    /// packets enter. Returns how many they are.
    fn cut(&mut self, network: &mut Network, now: Time, endpoint: u32, length: usize) -> usize {
        let room = std::mem::take(&mut self.segment);
        let packets = match Segment::read(&room[..length], self.devices.what.skip()) {
            Some(segment) => {
                for number in 0..segment.packets() {
                    let Some(slot) = self.arena.take() else {
                        self.counted.no_memory += 1;
                        continue;
                    };
                    // A packet beyond the MTU could not be sent on.
                    let Some(length) = segment.write(number, self.arena.room(slot)) else {
                        self.counted.write_failed += 1;
                        self.arena.free(slot);
                        continue;
                    };
                    self.arena.set_length(slot, length);
                    let packet = self.packet(slot);
                    self.enter(network, now, endpoint, packet);
                }
                segment.packets()
            }
            None => {
                self.counted.unmatched += 1;
                1
            }
        };
        self.segment = room;
        packets
    }

    /// What the network needs of the packet in `slot`.
    #[inline]
    fn packet(&self, slot: u32) -> Packet {
        let bytes = self.arena.get(slot);
        let skip = self.devices.what.skip();
        let (before, ip) = bytes.split_at(skip.min(bytes.len()));
        let (segments, offered) = match (self.devices.what, Header::read(ip)) {
            (What::Packets, Some(header)) => (1, header.offered(ip.len() as u32)),
            (What::Segments, Some(header)) => {
                let cut = segment::cut(before, ip, &header);
                let bytes = ip.len() as u32 + cut.more_bytes;
                (cut.packets, header.offered(bytes))
            }
            _ => (1, header::offered_of_frame(bytes, skip)),
        };
        Packet {
            slot,
            segments,
            offered,
        }
    }

    /// A packet that was read at `now` enters the network.
    #[inline]
    fn enter(&mut self, network: &mut Network, now: Time, endpoint: u32, packet: Packet) {
        self.counted.read += 1;
        let bytes = packet.offered.bytes;
        self.counted.passed[endpoint as usize].sent.add(bytes);
        if T::ACTIVE {
            // A capture shows the packet as it would be on the wire.
            if self.devices.what != What::Segments {
                checksum::complete(self.arena.get_mut(packet.slot));
            }
            let seen = seen(&self.arena, self.devices, endpoint, packet.slot, bytes);
            self.tap.entered(now, &seen);
        }
        network.send(now, endpoint, packet, self);
    }

    /// Takes a packet for which there is no memory from a device.
    #[cold]
    fn discard(&mut self, index: usize) -> Result<Option<usize>, Errno> {
        let mut rest = [0; 64];
        match rustix::io::read(&self.devices.all[index].fd, &mut rest) {
            Ok(_) => {
                self.counted.no_memory += 1;
                Ok(Some(1))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the packets that wait.
    pub(super) fn flush(&mut self) {
        if self.batch.packets().is_empty() {
            return;
        }
        let endpoint = self.batch.endpoint() as usize;
        let now = self.now();
        for due in self.batch.packets() {
            let late = now.since(due.at);
            self.counted.lateness.record(late);
            self.counted.recent.record(late);
            if T::ACTIVE {
                let endpoint = self.batch.endpoint();
                let seen = seen(&self.arena, self.devices, endpoint, due.slot, due.bytes);
                self.tap.arrived(due.at, late, &seen);
            }
        }
        let device = &self.devices.all[self.devices.at[endpoint] as usize];
        let joined = match self.batch.headers(&self.arena) {
            Some(headers) => {
                let mut parts = [IoSlice::new(&[]); MOST + 1];
                let packets = self.batch.packets().iter().map(|d| self.arena.get(d.slot));
                let used = headers.parts(packets, &mut parts);
                writev(&device.fd, &parts[..used]).is_ok()
            }
            None => false,
        };
        for due in self.batch.packets() {
            if joined || rustix::io::write(&device.fd, self.arena.get(due.slot)).is_ok() {
                self.counted.written += 1;
                self.counted.passed[endpoint].arrived.add(due.bytes);
            } else {
                self.counted.write_failed += 1;
            }
            self.arena.free(due.slot);
        }
        self.batch.clear();
    }

    /// The state of the run at `at`, and the lateness since the last call.
    pub(super) fn snapshot(&mut self, at: Time, network: &mut Network) -> Snapshot {
        let recent = std::mem::take(&mut self.counted.recent);
        Snapshot {
            at,
            links: network
                .links_mut()
                .iter_mut()
                .map(|link| (link.counters(), link.waiting(at)))
                .collect(),
            written: self.counted.written,
            failed: self.counted.write_failed + self.counted.no_memory,
            lateness: recent.lateness(),
        }
    }
}

/// The endpoint to which the packet that begins with `ip` goes, which was read
/// from device `index`; `None` if its host may not send it.
#[inline]
fn endpoint(devices: &Devices, index: usize, ip: &[u8]) -> Option<u32> {
    let device = &devices.all[index];
    if devices.what == What::Frames {
        return device.other;
    }
    let header = Header::read(ip)?;
    let addressed = endpoint_of(header.destination);
    if !devices.detours.is_empty()
        && let Some(addressed) = addressed
        && let Some(to) = devices.detours.get(&(index as u32, addressed))
    {
        return Some(*to);
    }
    // The other end of the pair must be here.
    addressed
        .filter(|e| devices.at.get((e ^ 1) as usize) == Some(&(index as u32)))
        .or_else(|| device.other.filter(|_| !header.is_multicast()))
}

/// A packet as a tap sees it.
fn seen<'a>(arena: &'a Arena, devices: &Devices, endpoint: u32, slot: u32, bytes: u32) -> Seen<'a> {
    Seen {
        pair: endpoint / 2,
        forward: endpoint % 2 == 1,
        bytes,
        packet: &arena.get(slot)[devices.what.skip()..],
    }
}

impl<T: Tap> Sink for Io<'_, T> {
    #[inline]
    fn arrives(&mut self, at: Time, endpoint: u32, packet: &InFlight) {
        let due = Due {
            slot: packet.handle,
            bytes: packet.bytes(),
            at,
        };
        if self.batch.add(&self.arena, endpoint, due) {
            return;
        }
        self.flush();
        let device = &self.devices.all[self.devices.at[endpoint as usize] as usize];
        let joins = self.devices.what == What::Packets;
        self.batch
            .begin(&self.arena, endpoint, due, joins, device.joins_datagrams);
    }

    fn lost(
        &mut self,
        at: Time,
        endpoint: u32,
        link: Option<LinkId>,
        why: Cause,
        packet: &InFlight,
    ) {
        if why == Cause::NoRoute {
            self.counted.passed[endpoint as usize].no_route += 1;
        }
        if T::ACTIVE {
            let seen = seen(
                &self.arena,
                self.devices,
                endpoint,
                packet.handle,
                packet.bytes(),
            );
            self.tap.dropped(at, link, why, &seen);
        }
        self.arena.free(packet.handle);
    }

    fn marked(&mut self, packet: &InFlight) {
        mark(&mut self.arena.get_mut(packet.handle)[self.devices.what.skip()..]);
    }
}
