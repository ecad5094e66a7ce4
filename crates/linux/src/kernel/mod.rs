//! Congestion controls in the kernel of this machine.
//!
//! The C of `bpf/` is compiled by the build, kept in the binary and handed to the kernel as eBPF
//! `struct_ops`: no module, no reboot, and any program can choose it by its name. [`load`] keeps
//! one while a value lives, so that a process that is killed leaves nothing; [`load_pinned`] keeps
//! one until [`unload`] or a restart of the machine. Several copies with different parameters may
//! be loaded under different names. [`available`] reports what this machine can do.
//!
//! Without the feature `kernel` everything is here and answers
//! [`KernelError::NotBuilt`].

mod available;
mod error;
mod name;
mod status;

#[cfg(not(feature = "kernel"))]
mod absent;
#[cfg(feature = "kernel")]
mod built;

#[cfg(not(feature = "kernel"))]
use absent as inner;
#[cfg(feature = "kernel")]
use built as inner;

pub use available::{Available, Requirement, available};
pub use error::KernelError;
pub use name::{LONGEST_NAME, PREFIX, check_name};
pub use status::{Entry, Holder, Program};

use bentpipe_bpf::{Control, Values};
use std::fs;
use std::path::PathBuf;

/// A congestion control that is in the kernel while this lives.
///
/// Dropping it unloads it: no new socket can choose it, and those that have it keep it until they
/// close.
#[derive(Debug)]
#[must_use = "dropping it unloads the congestion control"]
pub struct Loaded {
    name: String,
    attached: inner::Attached,
}

impl Loaded {
    /// The name that programs choose it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Keeps it loaded beyond this process, until [`unload`] or a restart of
    /// the machine, and returns the file in the BPF file system that keeps it.
    ///
    /// # Errors
    ///
    /// [`KernelError::Pin`]; it is unloaded then.
    pub fn pin(mut self) -> Result<PathBuf, KernelError> {
        inner::pin(&mut self.attached, &self.name)
    }
}

/// Loads `control` with the parameters `values` under `name`, see
/// [`check_name`], for as long as the returned value lives.
///
/// # Errors
///
/// What this machine lacks, that the name is bad or taken, or the verifier's
/// words.
pub fn load(control: &Control, values: &Values, name: &str) -> Result<Loaded, KernelError> {
    ready(name)?;
    Ok(Loaded {
        name: name.to_owned(),
        attached: inner::load(control, values, name)?,
    })
}

/// Loads `control` until [`unload`] or a restart of the machine, and says which
/// file in the BPF file system keeps it.
///
/// # Errors
///
/// Those of [`load`] and [`Loaded::pin`].
pub fn load_pinned(control: &Control, values: &Values, name: &str) -> Result<PathBuf, KernelError> {
    load(control, values, name)?.pin()
}

/// Loads a user's object file that has the form of those of this build:
/// one struct_ops map `ops` in the section `.struct_ops.link`, parameters as
/// 64-bit words in `.rodata.parameters`. `file` names it in errors.
///
/// # Errors
///
/// Those of [`load`], and [`KernelError::BadObject`].
pub fn load_object(
    file: &str,
    object: &[u8],
    parameters: &[u64],
    name: &str,
) -> Result<Loaded, KernelError> {
    ready(name)?;
    Ok(Loaded {
        name: name.to_owned(),
        attached: inner::load_object(file, object, parameters, name)?,
    })
}

/// Removes what [`load_pinned`] has loaded under `name`, and says how many
/// users it still has, which keep it until they close.
///
/// # Errors
///
/// That it is not loaded, belongs to a process, or cannot be removed.
pub fn unload(name: &str) -> Result<u64, KernelError> {
    inner::unload(name)
}

/// The congestion controls of ours that are in the kernel now, by name.
///
/// # Errors
///
/// That this process may not see them.
pub fn status() -> Result<Vec<Entry>, KernelError> {
    inner::status()
}

/// All names that TCP_CONGESTION takes now, Linux's own included.
#[must_use]
pub fn names() -> Vec<String> {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// What sockets of this network namespace get unless they choose.
#[must_use]
pub fn default() -> Option<String> {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")
        .ok()
        .map(|name| name.trim().to_owned())
}

fn ready(name: &str) -> Result<(), KernelError> {
    check_name(name)?;
    available().ready()?;
    if names().iter().any(|n| n == name) {
        return Err(taken(name));
    }
    Ok(())
}

/// The error that says who has the name.
fn taken(name: &str) -> KernelError {
    let entries = inner::status().unwrap_or_default();
    // The one that can be chosen comes before those that are on their way out.
    let holder = entries
        .into_iter()
        .filter(|e| e.name == name)
        .map(|e| e.holder)
        .find(|h| *h != Holder::Nobody);
    KernelError::Taken {
        name: name.to_owned(),
        holder,
    }
}
