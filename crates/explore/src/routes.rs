//! Routes of a view: a question in JSON, and a function that answers it as a job of the tab
//! that asks.

use crate::Problem;
use crate::app::App;
use crate::work::{self, Results};
use axum::extract::{FromRequest, State};
use axum::routing::{MethodRouter, post};
use serde_json::Value;

/// A route that answers with one document.
pub(crate) fn once<Q, M, F>(answer: F) -> MethodRouter<App>
where
    Q: FromRequest<App, M> + Send + 'static,
    M: 'static,
    F: FnOnce(&App, Q) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
{
    post(move |State(app): State<App>, question: Q| async move {
        let jobs = app.jobs.clone();
        work::once(&jobs, move || answer(&app, question)).await
    })
}

/// A route that answers with lines while its work goes on.
pub(crate) fn stream<Q, M, F>(answer: F) -> MethodRouter<App>
where
    Q: FromRequest<App, M> + Send + 'static,
    M: 'static,
    F: FnOnce(&App, Q, &Results) -> Result<(), Problem> + Clone + Send + Sync + 'static,
{
    post(move |State(app): State<App>, question: Q| async move {
        let jobs = app.jobs.clone();
        work::stream(&jobs, move |results| answer(&app, question, results))
    })
}
