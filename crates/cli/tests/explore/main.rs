//! What `bentpipe explore` answers, and to whom: bytes on a connection to the command.

#![cfg(all(feature = "explore", target_os = "linux"))]

mod command;
mod disk;
mod guard;
mod limits;
mod served;
