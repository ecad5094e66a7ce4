//! The tunnel end to end: a terminal and a hub in one process, over loopback.

#![cfg(target_os = "linux")]

mod bed;
mod closes;
mod strangers;
mod survives;
