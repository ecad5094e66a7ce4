//! The view of papers: printed numbers beside ours, claims with their evidence.

use crate::server::App;
use axum::Router;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}
