//! The endpoint as a whole, over a scripted pipe.

mod extremes;
mod pipe;
mod recovery;
mod sending;
