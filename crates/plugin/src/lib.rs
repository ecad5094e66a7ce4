//! Users' congestion controls from files.
//!
//! [`load`] takes
//!
//! - a `.c` file of the kernel's form, as those in `bpf/`: it is compiled with the
//!   system's C compiler and runs behind the same driver as the built-in ones;
//! - the folder of a Rust crate that `bentpipe cc new` made: it is built with cargo;
//! - a shared library of such a crate.
//!
//! Compiled libraries are kept in the user's cache folder under the hash of their
//! sources. That hash is the fingerprint of the control, which enters the hash of
//! every scenario that uses it.
//!
//! Loaded code runs in this process, with its rights, like a program that the user starts.
//! A program may [try it out](try_before_first_use) in another process before.

mod adaptor;
#[allow(
    unsafe_code,
    unreachable_pub,
    missing_docs,
    clippy::allow_attributes_without_reason,
    reason = "the interface, which crates outside the workspace have as it is"
)]
#[path = "../abi/bentpipe.rs"]
#[rustfmt::skip]
mod bentpipe;
mod c;
mod cache;
mod cargo;
mod error;
mod library;
mod sources;
pub mod template;
mod trial;

pub use error::LoadError;
pub use trial::{Trial, Tried, try_before_first_use};

use bentpipe_cc::OwnControl;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The interface that a user's crate is built against: the file
/// `bentpipe.rs` in it.
pub const INTERFACE: &str = include_str!("../abi/bentpipe.rs");

/// What was loaded in this process, by name and fingerprint: the same source is
/// loaded once.
static LOADED: Mutex<BTreeMap<(Option<String>, String), OwnControl>> = Mutex::new(BTreeMap::new());

/// The congestion control in the file or folder at `path`, under its own name.
///
/// # Errors
/// If it cannot be read, compiled or loaded, or is of another form.
pub fn load(path: impl AsRef<Path>) -> Result<OwnControl, LoadError> {
    load_as(None, path.as_ref())
}

/// Renames the control, if a name is given.
///
/// # Errors
/// As [`load`].
pub fn load_as(name: Option<&str>, path: &Path) -> Result<OwnControl, LoadError> {
    let form = Form::of(path)?;
    let sources = match form {
        Form::C => sources::of_c(path)?,
        Form::Crate => sources::of_crate(path)?,
        Form::Library => sources::of_file(path)?,
    };
    trial::passed(name, path, &sources.hash)?;
    let key = (name.map(str::to_owned), sources.hash.clone());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(control) = loaded.get(&key) {
        return Ok(control.clone());
    }
    let control = match form {
        Form::C => c::load(name, path, &sources),
        Form::Crate => {
            let built = cargo::build(path)?;
            adaptor::load(name, path, &built, &sources)
        }
        Form::Library => adaptor::load(name, path, path, &sources),
    }?;
    loaded.insert(key, control.clone());
    Ok(control)
}

/// Kind of the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    C,
    Crate,
    Library,
}

impl Form {
    fn of(path: &Path) -> Result<Form, LoadError> {
        let extension = path.extension().and_then(|end| end.to_str());
        match extension {
            _ if path.is_dir() && path.join("Cargo.toml").is_file() => Ok(Form::Crate),
            _ if !path.exists() => Err(LoadError::Read {
                path: path.to_owned(),
                reason: "there is no such file".to_owned(),
            }),
            Some("c") => Ok(Form::C),
            Some("so" | "dylib" | "dll") => Ok(Form::Library),
            _ => Err(LoadError::Form {
                path: path.to_owned(),
            }),
        }
    }
}
