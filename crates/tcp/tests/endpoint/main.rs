//! The endpoint as a whole, over a scripted pipe.

mod closing;
mod extremes;
mod linux;
mod ns2;
mod owning;
mod pipe;
mod probes;
mod recovery;
mod reopen;
mod sending;
mod snack;
mod snapshot;
mod stp;
mod turns;
