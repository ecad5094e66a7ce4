//! Replaces the loader if the crate is built without it: every function returns that it is missing.

use super::{Entry, KernelError};
use bentpipe_bpf::{Control, Values};
use std::path::PathBuf;

/// Uninhabited: without the feature nothing can be attached.
#[derive(Debug)]
pub(super) enum Attached {}

pub(super) fn load(_: &Control, _: &Values, _: &str) -> Result<Attached, KernelError> {
    Err(KernelError::NotBuilt)
}

pub(super) fn load_object(_: &str, _: &[u8], _: &[u64], _: &str) -> Result<Attached, KernelError> {
    Err(KernelError::NotBuilt)
}

pub(super) fn pin(attached: &mut Attached, _: &str) -> Result<PathBuf, KernelError> {
    match *attached {}
}

pub(super) fn unload(_: &str) -> Result<u64, KernelError> {
    Err(KernelError::NotBuilt)
}

pub(super) fn status() -> Result<Vec<Entry>, KernelError> {
    Err(KernelError::NotBuilt)
}
