//! Errors of the emulator.

use crate::namespace::NamespaceError;
use crate::port::PortError;
use crate::tun::TunError;
use std::io;

/// Why a scenario could not be emulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// There are things in it that cannot be done live.
    #[error("cannot be emulated live:{}", list(.0))]
    Refused(Vec<String>),
    /// No two of its nodes are to talk.
    #[error("nothing to emulate: no two nodes of the scenario have a way to each other")]
    NoPairs,
    /// More than there are addresses for.
    #[error("{0} pairs of hosts are more than the {1} that have addresses")]
    TooManyPairs(usize, usize),
    /// A namespace was given for what is no host.
    #[error("`{0}` is no host of the scenario; its hosts are {1}")]
    NoHost(String, String),
    /// The MTU is too small or too large.
    #[error("an MTU of {0} bytes is not possible: IPv6 needs 1280, and 65535 is the most")]
    Mtu(u32),
    /// Both interfaces of a gateway are one.
    #[error("`{0}` twice: a gateway stands between two different interfaces")]
    SameInterface(String),
    /// The run would end before it begins.
    #[error("a run of no time emulates nothing: give a duration of more than zero, or none")]
    NoTime,
    /// A namespace could not be made or entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// A TUN device could not be made.
    #[error(transparent)]
    Tun(#[from] TunError),
    /// A network interface could not be used.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A device failed during the run.
    #[error("the emulator lost one of its devices: {0}")]
    Device(io::Error),
    /// The emulator could not start.
    #[error("cannot start the emulator: {0}")]
    Start(io::Error),
}

fn list(why: &[String]) -> String {
    why.iter().map(|line| format!("\n  {line}")).collect()
}
