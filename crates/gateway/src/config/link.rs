//! The satellite link, as this box sends into it.

use bentpipe_units::Rate;
use std::path::PathBuf;
use std::time::Duration;

/// Where the rate of the link is known from.
#[derive(Clone, Debug, PartialEq)]
pub enum RateSource {
    /// It is fixed.
    Fixed(Rate),
    /// A file holds it, such as `18.5 Mbit/s`; it is read again when it changes.
    File {
        /// The file.
        path: PathBuf,
        /// The rate before the file can be read.
        first: Rate,
    },
    /// It is measured.
    Measured,
}

/// The satellite link, as this box sends into it.
#[derive(Clone, Debug)]
pub struct Link {
    /// Rate at which this box may send, IP packets and all.
    pub rate: RateSource,
    /// Round trip without queues; it sizes buffers before it is measured.
    pub rtt: Duration,
    /// The transport over the satellite, by its name in `cc`, such as
    /// `complete-knowledge`, `hybla` or `bbr`; in one box a control of the kernel,
    /// such as `bp_hybla`.
    pub transport: String,
}
