//! The endpoint as a whole, over a scripted pipe.

mod pipe;
mod recovery;
mod sending;
