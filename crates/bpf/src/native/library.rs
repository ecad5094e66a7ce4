//! The hooks of a control whose C was compiled at run time.

#![allow(
    unsafe_code,
    reason = "the one place that reaches C in a shared library"
)]

use super::ffi::{self, AckSample, Ops, RateSample, Socket};
use libloading::Library;
use std::path::Path;

/// The name of the ops in such a library: `-DBENTPIPE_OPS=bentpipe_ops`.
pub const OPS_SYMBOL: &str = "bentpipe_ops";

/// The hooks of a control; built in, or from a library that stays loaded.
#[derive(Clone, Copy, Debug)]
pub struct Hooks(pub(super) &'static Ops);

/// Why a shared library gives no hooks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The system cannot load it.
    #[error("the system cannot load it: {0}")]
    Load(String),
    /// It has no such symbol.
    #[error("it has no symbol `{0}`: expected a file that ends with CONTROL(\"name\", ...)")]
    Missing(&'static str),
    /// It was compiled against other headers.
    #[error(
        "its structures have {found:?} bytes: expected {expected:?}, those of the headers of this \
         version"
    )]
    Layout {
        /// Sizes in the library.
        found: [u32; 4],
        /// Sizes of the structures in this build, bytes.
        expected: [u32; 4],
    },
}

impl Hooks {
    /// The hooks of a built-in control.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Hooks> {
        ffi::ops(name).map(Hooks)
    }

    /// Loads the library at `path`, which was compiled from a control and
    /// `native.c`, for the rest of the process; the second value is the number of
    /// parameters that its C reads.
    ///
    /// The code in it runs with the rights of this process. It is as trusted as a
    /// program that the user starts.
    ///
    /// # Errors
    /// If it cannot be loaded, lacks a symbol or has another layout.
    pub fn open(path: &Path) -> Result<(Hooks, Option<u32>), OpenError> {
        // SAFETY: loading runs initialisers of the library, which was compiled from
        // the C that the user named; C that is compiled against our headers has
        // none.
        let library = unsafe { Library::new(path) }.map_err(|e| OpenError::Load(e.to_string()))?;
        // SAFETY: native.c, which is compiled into every such library, declares this
        // symbol as a constant array of four words.
        let sizes = unsafe { library.get::<*const [u32; 4]>(b"bentpipe_native_sizes\0") }
            .map(|symbol| unsafe { **symbol })
            .map_err(|_| OpenError::Missing("bentpipe_native_sizes"))?;
        let expected = [
            size_of::<Socket>(),
            size_of::<AckSample>(),
            size_of::<RateSample>(),
            size_of::<Ops>(),
        ];
        let expected = expected.map(|size| size as u32);
        if sizes != expected {
            return Err(OpenError::Layout {
                found: sizes,
                expected,
            });
        }
        // SAFETY: the sizes say that the library was compiled against our headers,
        // where CONTROL declares this symbol as a constant `tcp_congestion_ops`, whose
        // layout is that of `Ops`. It is never written, and the library is never
        // unloaded (see `forget` below), so that the reference lives as long as the
        // process. Its hooks take the exclusive reference that they are given.
        let ops: &'static Ops = unsafe {
            let symbol = library
                .get::<*const Ops>(b"bentpipe_ops\0")
                .map_err(|_| OpenError::Missing(OPS_SYMBOL))?;
            &**symbol
        };
        // SAFETY: PARAMETERS declares this symbol as a constant word.
        let count = unsafe { library.get::<*const u32>(b"bentpipe_parameter_count\0") }
            .map(|symbol| unsafe { **symbol })
            .ok();
        std::mem::forget(library);
        Ok((Hooks(ops), count))
    }

    /// The name in the C, of at most 15 letters.
    #[must_use]
    pub fn name(self) -> String {
        self.0.name()
    }
}
