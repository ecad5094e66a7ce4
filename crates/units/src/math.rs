//! Powers, logarithms and roots that give the same bits on every machine.
//!
//! The platform's libm may differ in the last bit between machines; these are
//! pure Rust with pinned algorithms (the `libm` crate, a port of musl's).

pub use libm::{
    acos, asin, atan2, cbrt, ceil, cos, exp, exp2, floor, log as ln, log2, log10, pow, sin, sqrt,
    tan,
};
