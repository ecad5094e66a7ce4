//! The loader itself, where the crate is built with libbpf.

mod fdinfo;
mod log;
mod look;
mod object;
mod pin;

pub(super) use look::status;
pub(super) use object::{Attached, load, load_object};
pub(super) use pin::{pin, unload};
