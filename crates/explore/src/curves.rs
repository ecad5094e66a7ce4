//! What one transport does over time: window, rate, queue, packets, and why.

use crate::server::App;
use axum::Router;

pub(crate) fn routes() -> Router<App> {
    Router::new()
}
