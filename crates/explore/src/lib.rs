//! The explorer: the laboratory as a page in the browser.
//!
//! [`Server`] listens on this machine alone, holds the page in itself and answers its
//! requests: each module is a view of the page, and what it asks is computed by the
//! library that the command uses. What the page must show as the command does comes
//! through [`Laboratory`], which the command implements. `web/` is the page itself.
//!
//! # How requests look
//!
//! `POST /api/...` with a JSON object answers with a JSON object, or, where results come
//! while work goes on, with one JSON object per line ([`work`]). A mistake of the asker is
//! status 400 with `{"error": {"message": ...}}` ([`Problem`]). A client that goes away
//! stops its work.

mod assets;
mod bounds;
mod connections;
mod curves;
mod files;
pub mod guard;
mod laboratory;
mod link;
mod papers;
mod peer;
mod presets;
mod problem;
mod scenario;
mod server;
mod sky;
mod studies;
pub mod work;

pub use assets::is_built;
pub use files::OpenError;
pub use laboratory::{Choice, Laboratory, OptionHelp, OptionKind, Printed, Refused, Shown};
pub use problem::Problem;
pub use scenario::{Drawing, DrawnFlow, DrawnLink, DrawnNode};
pub use server::{Server, ServerError, Settings};
