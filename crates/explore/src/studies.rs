//! The view of studies: runs filtered and grouped, figures with other axes.

use crate::server::App;
use axum::Router;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}
