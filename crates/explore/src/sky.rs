//! The view of satellites: where they are, what they see, the path of a flow.

use crate::server::App;
use axum::Router;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}
