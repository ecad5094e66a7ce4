//! The association between the two boxes.

mod stream;

pub use stream::{Receiver, Sender};
