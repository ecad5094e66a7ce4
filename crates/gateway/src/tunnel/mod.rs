//! The association between the two boxes.

pub mod association;
mod budget;
pub mod codec;
pub mod controller;
pub(crate) mod fallback;
pub mod keys;
pub mod known;
mod measured;
pub mod priority;
mod resume;
pub mod shaper;
pub mod socket;
mod stream;
pub mod transport;

pub use stream::{Receiver, Sender};
