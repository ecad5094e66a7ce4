//! Runs packetdrill scripts against a TCP endpoint in virtual time.
//!
//! [packetdrill](https://github.com/google/packetdrill) tests the TCP of a kernel: a script says
//! which system calls an application makes and which packets arrive, and which packets are to
//! leave, when. Here the same language runs against [`bentpipe_tcp::Endpoint`]: no root, no
//! device, no waiting, and the same result on every machine.
//!
//! | part | file | in short |
//! |---|---|---|
//! | language | `parse`, [`script`] | a text becomes events |
//! | assertions | [`assertion`] | the Python between `%{` and `}%`, as far as scripts use it |
//! | settings | `settings` | what commands in backticks set |
//! | adapter | `host`, `connection`, `wire` | sockets, handshake options, sequence numbers, Nagle's algorithm: what an endpoint of a simulation has no need of |
//! | interpreter | `run` | waits, injects, compares |
//! | verdicts | [`report`], `suite` | pass, fail with the first difference, or what is not modelled |
//!
//! The endpoint decides what is sent and when; the adapter only translates. Where a script needs
//! what neither has, its verdict is *not modelled*, with the line and the reason.

pub mod assertion;
mod connection;
mod host;
mod parse;
pub mod report;
mod run;
pub mod script;
mod settings;
mod suite;
mod text;
mod wire;

pub use report::{Difference, Note, Reason, Report, Verdict};
pub use run::{Settings, SettingsError, run};
pub use script::Script;
pub use suite::{Counts, Missing, Suite};
