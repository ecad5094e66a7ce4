//! The association between the two boxes.

pub mod codec;
pub mod keys;
mod stream;

pub use stream::{Receiver, Sender};
