//! What the threads of a run tell the one that watches over it.

use bentpipe_outcome::PageOutcome;
use std::os::fd::OwnedFd;

/// Something that happened to a flow, by its index.
#[derive(Debug)]
pub(crate) enum Message {
    /// All that was to be done is done.
    Complete(usize),
    /// Its data are sent from this socket from now on.
    SendsFrom(usize, OwnedFd),
    /// Its reader has seen pages; `last` if it reads no more.
    Pages {
        flow: usize,
        seen: PageOutcome,
        last: bool,
    },
    /// It cannot go on.
    Failed(usize, String),
}
