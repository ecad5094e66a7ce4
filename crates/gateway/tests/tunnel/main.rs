//! The tunnel end to end: a terminal and a hub in one process, over loopback.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "what is tested runs in real time"
)]

mod bed;
mod closes;
mod fades;
mod falls_back;
mod fleet;
mod gaps;
mod goes_over;
mod hubs;
mod proxy;
mod reloads;
mod shares;
mod socks_udp;
mod stalled;
mod strangers;
mod survives;
mod tails;
mod terminals;
mod udp;
mod wans;
