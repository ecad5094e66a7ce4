//! Chains of connections with PEPs between them.

mod chain;
mod closing;
mod grants;
mod relaying;
