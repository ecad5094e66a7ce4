//! What `bentpipe explore` answers, and to whom: bytes on a connection to the command.

#![cfg(all(feature = "explore", target_os = "linux"))]
#![expect(
    clippy::disallowed_methods,
    reason = "what an answer waits for is real time"
)]

mod command;
mod disk;
mod guard;
mod limits;
mod scenario;
mod served;
