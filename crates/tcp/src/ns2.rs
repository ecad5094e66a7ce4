//! The sending half as the one-way agents of ns-2.35 work, with the defaults of
//! `ns-default.tcl`.
//!
//! They share the window, the scoreboard, the timer and pacing with [`Sender`] and replace the
//! logic between them.

pub(crate) mod agent;
mod blocks;
mod kind;
pub(crate) mod linux;
mod newreno;
mod observe;
mod sack1;
mod tahoe;
mod timeout;
mod vegas;
mod westwood;
