//! The congestion controls for the kernel, `bpf/*.bpf.c`: what there is, which
//! parameters each takes, and the same C compiled for this machine.
//!
//! One source of three uses: the loader of `bentpipe-linux` puts a control into
//! the kernel, the simulator runs it as `bp_*` through [`Native`], and a test
//! compares that with the Rust of `bentpipe-cc` step by step.
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
mod native;
mod parameter;
mod values;

pub use catalogue::{Brief, CONTROLS, Control, find, nearest};
pub use native::{AckSample, CongestionEvent, CongestionState, Native, RateSample, Socket};
pub use parameter::{Kind, Parameter};
pub use values::{ValueError, Values};
