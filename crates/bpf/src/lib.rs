//! The congestion controls for the kernel, `bpf/*.bpf.c`: their catalogue, their parameters, and
//! the same C compiled for this machine.
//!
//! One source has three uses: the loader of `bentpipe-linux` puts a control into the kernel, the
//! simulator runs it as `bp_*` through [`Native`], and a test compares that with the Rust of
//! `bentpipe-cc` step by step.
//!
//! ```
//! use bentpipe_bpf::{Values, find};
//!
//! let control = find("bp_const").ok_or("no such control")?;
//! let mut values = Values::new(control);
//! values.set("k=2")?;
//! assert_eq!(values.words(), [0, 0, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
mod control;
mod native;
mod parameter;
mod source;
mod values;

pub use catalogue::{CONTROLS, find, nearest};
pub use control::{Brief, Control};
pub use native::{
    AckSample, CongestionEvent, CongestionState, Hooks, Native, OPS_SYMBOL, OpenError, RateSample,
    Socket,
};
pub use parameter::{Kind, Parameter};
pub use source::SourceError;
pub use values::{ValueError, Values};

/// The headers that a control is compiled against, and `native.c`, by their names:
/// to compile a control of one's own at run time.
pub static HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/headers.rs"));
