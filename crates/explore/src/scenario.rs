//! The view of a scenario: its text checked, its network drawn, its run.

use crate::server::App;
use axum::Router;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}
