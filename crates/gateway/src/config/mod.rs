//! The configuration: plain values that every part takes, and the TOML file that
//! they are read from.
//!
//! Each section is a file: its table (keys, meanings, defaults, declared once with
//! `bentpipe_document::table!`), the values that it becomes, and its checks.

mod limits;
mod link;
mod role;

pub use limits::Limits;
pub use link::{Link, RateSource};
pub use role::{Answer, Role, Tunnel, WhenDown};

/// The whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the box stands.
    pub role: Role,
    /// The satellite link, as this box sends into it.
    pub link: Link,
    /// The association with the other box; `None` for one box.
    pub tunnel: Option<Tunnel>,
    /// Limits, beyond which connections bypass the gateway or are refused.
    pub limits: Limits,
}
