//! Messages from the threads of a run to its watcher.

use bentpipe_traffic::ClientReport;
use std::os::fd::OwnedFd;

/// Something that happened to a flow, by its index.
#[derive(Debug)]
pub(crate) enum Message {
    /// All that was to be done is done.
    Complete(usize),
    /// Its data are sent from this socket from now on.
    SendsFrom(usize, OwnedFd),
    /// What its application has experienced; `last` if it asks no more.
    Reports {
        flow: usize,
        report: ClientReport,
        last: bool,
    },
    /// It cannot go on.
    Failed(usize, String),
}
