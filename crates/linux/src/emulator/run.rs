//! The main loop: reads the hosts' packets, processes due events of the links, writes arriving
//! packets.
//!
//! One thread, which sleeps until a device has something or the next packet is due. A packet's
//! arrival time is that of its read; it is written when its last link delivers it, and the lateness
//! is recorded.

use super::io::Io;
use super::network::Network;
use super::report::Snapshot;
use super::stop::Stop;
use super::tap::Tap;
use bentpipe_units::{Duration, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Mutex;

/// Packets that are read from one device before the others have their turn.
const TURN: usize = 64;

/// An event this near is waited for without sleeping, which takes longer.
const NEAR: Duration = Duration::from_micros(6);

/// At rates at which there is something to do again within this time, the
/// thread rests for as long before it looks, like a network card that moderates
/// its interrupts: packets then come and go several at a time. 50 us are the
/// time of a packet at 240 Mbit/s, so slower links are not affected.
const MODERATION: Duration = Duration::from_micros(50);

/// How often the state is published.
const PUBLISH: Duration = Duration::from_millis(500);

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
    let mut busy_at = Time::ZERO;
    loop {
        let now = io.now();
        let before = io.handled();
        if now >= end || stop.is_stopped() {
            network.finish(now.min(end), io);
            io.flush();
            return Ok(now.min(end));
        }
        network.run_until(now, io);
        io.flush();
        if now >= publish {
            publish = now + PUBLISH;
            let snapshot = io.snapshot(now, network);
            // A reader that holds it gets the next one.
            if let Ok(mut published) = published.try_lock() {
                *published = snapshot;
            }
        }
        let mut more = false;
        for (index, polled) in polled.iter().take(devices.all.len()).enumerate() {
            if !polled.revents().is_empty() {
                more |= take_turn(network, io, index)?;
                io.flush();
            }
        }
        if io.handled() > before {
            let idle = now.since(busy_at);
            busy_at = io.now();
            if idle <= MODERATION && !more {
                std::thread::sleep(std::time::Duration::from_nanos(MODERATION.as_nanos()));
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
    let mut taken = 0;
    while taken < TURN {
        match io.read(network, index)? {
            Some(packets) => taken += packets,
            None => return Ok(false),
        }
    }
    Ok(true)
}
