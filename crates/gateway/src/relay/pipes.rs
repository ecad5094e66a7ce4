//! Pipes through which splice moves bytes, lent to connections while they have
//! bytes in flight.

use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Empty pipes that are kept for the next connection.
const SPARE: usize = 64;

/// A pool of pipes with a limit.
#[derive(Debug)]
pub struct Pipes {
    spare: Mutex<Vec<Arc<Pipe>>>,
    lent: AtomicUsize,
    most: usize,
    size: usize,
}

/// A pipe, empty whenever it is not lent.
#[derive(Debug)]
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

/// A pipe that a connection has for a while.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    pool: &'a Pipes,
    pipe: Arc<Pipe>,
    /// Bytes in the pipe.
    pub(super) held: usize,
}

impl Pipes {
    /// A pool that lends at most `most` pipes of `size` bytes at a time; each is
    /// two descriptors. The kernel may give less than `size`.
    #[must_use]
    pub const fn new(most: usize, size: usize) -> Pipes {
        Pipes {
            spare: Mutex::new(Vec::new()),
            lent: AtomicUsize::new(0),
            most,
            size,
        }
    }

    /// Bytes that a pipe may hold.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Descriptors that the pool takes at most.
    #[must_use]
    pub const fn descriptors(&self) -> usize {
        2 * self.most
    }

    /// An empty pipe, or `None` at the limit or out of descriptors: the caller
    /// then copies.
    pub(super) fn lend(&self) -> Option<Lent<'_>> {
        if self.lent.fetch_add(1, Ordering::Relaxed) < self.most {
            let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
            if let Some(pipe) = spare.or_else(|| self.open()) {
                return Some(Lent {
                    pool: self,
                    pipe,
                    held: 0,
                });
            }
        }
        self.lent.fetch_sub(1, Ordering::Relaxed);
        None
    }

    fn open(&self) -> Option<Arc<Pipe>> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Beyond the limits of pipe(7) the pipe keeps its size.
        let _ = fcntl_setpipe_size(&write, self.size);
        Some(Arc::new(Pipe { read, write }))
    }
}

impl Lent<'_> {
    /// The end to write to.
    pub(super) fn inlet(&self) -> &OwnedFd {
        &self.pipe.write
    }

    /// The end to read from.
    pub(super) fn outlet(&self) -> &OwnedFd {
        &self.pipe.read
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.pool.lent.fetch_sub(1, Ordering::Relaxed);
        // A pipe with bytes in it is closed: they belong to a connection that
        // was cut.
        if self.held == 0
            && let Ok(mut spare) = self.pool.spare.lock()
            && spare.len() < SPARE
        {
            spare.push(Arc::clone(&self.pipe));
        }
    }
}
