//! What one transport does over time: window, rate, queue, packets, and why.
//!
//! # `POST /api/link/curves`
//!
//! `{options, row: {pep, transport}, size?, user?, seed?}`: options as of `/api/link`;
//! `size` is an index into the answer's sizes (the last unless given), `user` counts from
//! 1 on (the first), `seed` names a run (that of median time). Answers with lines: first
//! `{"run": ...}` ([`run`]), then `{"band": ...}` over the other runs of the same setting
//! ([`band`]; `null` of a single one), and `{"done": true}`.
//!
//! # `POST /api/link/packets`
//!
//! The same, with `from` and `to` in seconds of the run: its packets one by one
//! ([`packets`]).

mod band;
mod packets;
mod run;

use crate::Problem;
use crate::app::App;
use crate::link::{Answers, Question};
use crate::routes::stream;
use crate::work::{self, Results};
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use bentpipe::compare::{Answer, Pep, Row};
use bentpipe::recording::Detail;
use bentpipe::sim::Stop;
use bentpipe::units::{Duration, Time};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/link/curves", stream(curves))
        .route("/api/link/packets", post(steps))
}

/// Which run of which row.
#[derive(Clone, Debug, Deserialize)]
struct Asked {
    options: Vec<(String, String)>,
    row: RowName,
    size: Option<usize>,
    user: Option<u32>,
    seed: Option<u64>,
}

/// A row by its proxy and its transport.
#[derive(Clone, Debug, Deserialize)]
struct RowName {
    pep: String,
    transport: String,
}

/// Packets between two times.
#[derive(Clone, Debug, Deserialize)]
struct AskedPackets {
    #[serde(flatten)]
    run: Asked,
    /// Seconds from the start of the run.
    from: f64,
    to: f64,
}

/// A row of an answer, and one of its sizes.
struct Chosen {
    answer: Arc<Answer>,
    row: usize,
    size: usize,
    user: u32,
}

impl Chosen {
    fn row(&self) -> &Row {
        &self.answer.rows[self.row]
    }
}

impl Asked {
    /// Finds the row in the answer, which is made if it is not kept.
    fn choose(&self, app: &App, stop: &Stop) -> Result<Chosen, Problem> {
        let question = Question {
            options: self.options.clone(),
            tab: None,
        };
        let answer = app.kept::<Answers>().of(app, &question, stop)?;
        let named = |row: &Row| row.name == self.row.transport && row.pep.name() == self.row.pep;
        let row = answer.rows.iter().position(named).ok_or_else(|| {
            let known = Pep::ALL.iter().any(|(name, _)| *name == self.row.pep);
            Problem::missing(match known {
                true => format!("`{}` is not compared here", self.row.transport),
                false => format!("there is no proxy `{}`", self.row.pep),
            })
        })?;
        let last = answer.sizes.len().saturating_sub(1);
        let size = self.size.unwrap_or(last);
        if size > last {
            return Err(Problem::wrong(format!("there are {} sizes", last + 1)));
        }
        let users = match answer.beside {
            Some(_) => answer.users_shared,
            None => answer.users,
        };
        let user = self.user.unwrap_or(1);
        if user == 0 || user > users {
            return Err(Problem::wrong(format!("users are 1 to {users}")));
        }
        let chosen = Chosen {
            answer,
            row,
            size,
            user: user - 1,
        };
        let recordable = chosen.answer.check_recordable(chosen.size);
        recordable.map_err(|error| Problem::limit(error.to_string()))?;
        Ok(chosen)
    }

    fn detail(&self, chosen: &Chosen, stop: &Stop) -> Detail {
        Detail {
            user: chosen.user,
            seed: self.seed,
            stop: stop.clone(),
            ..Detail::default()
        }
    }
}

/// Sends a run over time, and then what other runs of the same did.
fn curves(app: &App, Json(asked): Json<Asked>, results: &Results) -> Result<(), Problem> {
    let stop = results.stop();
    let chosen = asked.choose(app, &stop)?;
    let detail = asked.detail(&chosen, &stop);
    let recording = chosen.answer.record(chosen.row(), chosen.size, &detail)?;
    let end = recording.end();
    if !results.send(&json!({ "run": run::document(&chosen, &recording) })) {
        return Ok(());
    }
    drop(recording);
    let band = band::document(&chosen, end, &stop)?;
    results.send(&json!({ "band": band }));
    results.send(&json!({ "done": true }));
    Ok(())
}

/// Answers with packets.
async fn steps(
    State(app): State<App>,
    Json(asked): Json<AskedPackets>,
) -> Result<Json<Value>, Problem> {
    let times = [asked.from, asked.to];
    if times.iter().any(|t| !t.is_finite() || *t < 0.0) || asked.to < asked.from {
        return Err(Problem::wrong("`from` and `to` are seconds of the run"));
    }
    let jobs = app.jobs.clone();
    work::once_until(&jobs, move |stop| {
        let chosen = asked.run.choose(&app, stop)?;
        let mut detail = asked.run.detail(&chosen, stop);
        let time = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds.min(1e6));
        let between = times.map(time);
        detail.packets = Some(between);
        let recording = chosen.answer.record(chosen.row(), chosen.size, &detail)?;
        Ok(packets::document(&recording, between))
    })
    .await
}
