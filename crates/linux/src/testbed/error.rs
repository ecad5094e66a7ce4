//! Why a run has no outcome.

use super::gateway::GatewayError;
use crate::emulator::EmulatorError;
use crate::kernel::KernelError;
use crate::namespace::NamespaceError;
use std::io;

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scenario has something that Linux or the emulator cannot do.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
    /// The emulator could not be built or failed.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// A namespace could not be prepared.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A congestion control could not be loaded.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A socket of a flow could not be made.
    #[error("flow `{flow}`: {why}")]
    Socket {
        /// Name of the flow.
        flow: String,
        /// Error of the system.
        why: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// Sockets of flows failed during the run, each in words.
    #[error("{}", .0.join("\n"))]
    Failed(Vec<String>),
    /// The boxes of a gateway do not run.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// The caller stopped the run.
    #[error("stopped before the end of the run")]
    Stopped,
}
