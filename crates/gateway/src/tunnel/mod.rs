//! The association between the two boxes.

pub mod association;
mod beside;
pub mod bond;
pub(crate) mod budget;
pub mod codec;
pub mod coding;
pub mod controller;
pub mod credentials;
pub(crate) mod fallback;
pub mod keys;
pub mod known;
mod measured;
pub(crate) mod moving;
mod priority;
mod resume;
pub mod shaper;
pub(crate) mod sharing;
pub mod socket;
pub(crate) mod steering;
mod stream;
mod target;
pub mod transport;
mod verified;

pub(crate) use budget::Stall;
pub(crate) use measured::ahead;
pub use stream::{Receiver, Sender};
