//! Loads the shared library of a user's crate.

#![allow(unsafe_code, reason = "the one place that loads a library of the ABI")]

use crate::bentpipe::{ABI_VERSION, Control, Parameter};
use libloading::Library;
use std::path::Path;

/// Symbols that a library exports.
const SYMBOL: &str = "bentpipe_congestion_control";

/// The control in a library, which stays loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Export {
    pub(crate) control: &'static Control,
    pub(crate) parameters: &'static [Parameter],
}

/// Loads the library at `path` for the rest of the process.
pub(crate) fn open(path: &Path) -> Result<Export, String> {
    // SAFETY: loading runs the library's initialisers. It is the user's own code,
    // which is as trusted as a program that they start.
    let library =
        unsafe { Library::new(path) }.map_err(|e| format!("the system cannot load it: {e}"))?;
    // SAFETY: a library that exports a function of this name was made with `export!`
    // of some version, and every version declares it with this type.
    let function = unsafe { library.get::<extern "C" fn() -> *const Control>(SYMBOL.as_bytes()) };
    let function = function.map_err(|_| {
        format!("it has no `{SYMBOL}`: expected the library of a crate that `bentpipe cc new` made")
    })?;
    let control = function();
    if control.is_null() {
        return Err(format!("its `{SYMBOL}` returns nothing"));
    }
    // SAFETY: it points to a constant of the library, which is never unloaded (see
    // `forget` below) and begins with these two words in every version.
    let [version, size] = unsafe { *control.cast::<[u32; 2]>() };
    if version != ABI_VERSION || size as usize != size_of::<Control>() {
        return Err(format!(
            "it has version {version} of the interface: expected {ABI_VERSION}. Replace \
             src/bentpipe.rs by that of `bentpipe cc new` and build it again"
        ));
    }
    // SAFETY: version and size say that it is this structure; it is constant, and its
    // parameters are a constant array of that length. Neither is ever unloaded.
    let control: &'static Control = unsafe { &*control };
    let parameters = match control.parameter_count {
        0 => &[][..],
        // SAFETY: as above.
        count => unsafe { core::slice::from_raw_parts(control.parameters, count) },
    };
    std::mem::forget(library);
    Ok(Export {
        control,
        parameters,
    })
}
