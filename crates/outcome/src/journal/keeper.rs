//! The thread that brings a journal to the disk while runs go on.

use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the thread and the journal know of each other.
#[derive(Debug, Default)]
struct State {
    /// Bytes that were written, and that are known to be on the disk.
    written: u64,
    on_disk: u64,
    /// The disk failed.
    error: Option<io::Error>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Something was written, or the journal is closed.
    woken: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings a file to the disk soon after each write. Many writes within `pause` cost one
/// sync, so that a study of short runs does not wait for the disk.
#[derive(Debug)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// A keeper of `file`, all `length` bytes of which are on the disk or will be
    /// brought there with the next sync.
    pub(super) fn new(file: &File, length: u64, pause: Duration) -> io::Result<Keeper> {
        let file = file.try_clone()?;
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        shared.state().written = length;
        let thread = std::thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn(move || keep(&file, &of_thread, pause))?;
        Ok(Keeper {
            shared,
            thread: Some(thread),
        })
    }

    /// The file has so many bytes now.
    ///
    /// # Errors
    /// Why an earlier sync failed; once.
    pub(super) fn wrote(&self, length: u64) -> io::Result<()> {
        let mut state = self.shared.state();
        state.written = length;
        let failed = state.error.take();
        drop(state);
        self.shared.woken.notify_one();
        failed.map_or(Ok(()), Err)
    }

    /// So many bytes are on the disk, by a sync of the journal itself.
    pub(super) fn synced(&self, length: u64) {
        let mut state = self.shared.state();
        state.on_disk = state.on_disk.max(length);
    }

    pub(super) fn on_disk(&self) -> u64 {
        self.shared.state().on_disk
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.woken.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Syncs until the journal is closed, which syncs what is left itself.
fn keep(file: &File, shared: &Shared, pause: Duration) {
    loop {
        let mut state = shared.state();
        while !state.ended && (state.written == state.on_disk || state.error.is_some()) {
            let woken = shared.woken.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        // What comes within the pause goes with the same sync.
        let waited = shared
            .woken
            .wait_timeout_while(state, pause, |state| !state.ended);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return;
        }
        let written = state.written;
        drop(state);
        let done = file.sync_data();
        let mut state = shared.state();
        match done {
            Ok(()) => state.on_disk = state.on_disk.max(written),
            Err(error) => state.error = Some(error),
        }
    }
}
