//! The explorer: the laboratory as a page in the browser.
//!
//! [`Server`] listens on this machine alone, holds the page in itself and answers its
//! requests: each module is a view of the page, and what it asks is computed by the
//! library that the command uses, and shown by the crate `bentpipe-present` as the command
//! shows it. Runs on this machine's own TCP come from the command ([`RealHosts`]).
//! `web/` is the page itself.
//!
//! # How requests look
//!
//! `POST /api/...` with a JSON object answers with a JSON object, or, where results come
//! while work goes on, with one JSON object per line ([`work`]). A mistake of the asker is
//! status 400 with `{"error": {"message": ...}}` ([`Problem`]). A client that goes away
//! stops its work.
//!
//! # A view of one's own
//!
//! Its answers are a module with `routes()`, which this file names twice: as a module and in
//! `views`. It is given `App`, keeps its state there (`App::kept`), and makes its routes with `routes`. The
//! page has a component in `web/src/views/`, which `web/src/app/views.ts` names.

mod app;
mod assets;
mod bounds;
mod connections;
mod curves;
mod files;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
pub mod guard;
mod link;
mod papers;
mod peer;
mod presets;
mod problem;
mod recent;
mod routes;
mod running;
mod scenario;
mod server;
mod sky;
mod studies;
pub mod work;

pub use app::{OnBoth, RealHosts};
pub use assets::is_built;
pub use folder::OpenError;
pub use problem::Problem;
pub use server::{Server, ServerError, Settings};

use app::App;
use axum::Router;

/// The routes of every view.
fn views() -> Router<App> {
    Router::new()
        .merge(link::routes())
        .merge(presets::routes())
        .merge(curves::routes())
        .merge(scenario::routes())
        .merge(sky::routes())
        .merge(studies::routes())
        .merge(papers::routes())
        .merge(files::routes())
}
