//! Why a request was not answered.

use crate::bounds;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bentpipe::compare::{self, QuestionError};
use bentpipe_present::question;
use serde_json::{Map, Value, json};

/// Why a request was not answered: a status and words for the person at the page.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    status: StatusCode,
    message: String,
    /// More of it, such as the place in a file.
    details: Map<String, Value>,
}

impl Problem {
    /// What was asked is wrong.
    pub fn wrong(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is nothing of that name.
    pub fn missing(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, message)
    }

    /// A limit was reached.
    pub fn limit(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, message)
    }

    /// It may not be asked.
    pub fn forbidden(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, message)
    }

    /// The program has a fault.
    pub fn fault() -> Problem {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the work ended by a fault of this program",
        )
    }

    /// A problem with a status of its own.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Problem {
        Problem {
            status,
            message: message.into(),
            details: Map::new(),
        }
    }

    /// Adds something to what the page is sent, such as diagnostics.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Problem {
        self.details.insert(name.to_owned(), value);
        self
    }

    /// `{"error": {"message": ..., ...}}`.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut error = self.details.clone();
        error.insert("message".to_owned(), self.message.clone().into());
        json!({ "error": error })
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self.document())).into_response()
    }
}

impl From<bentpipe::Error> for Problem {
    fn from(error: bentpipe::Error) -> Problem {
        use bentpipe::Error;
        let note = match &error {
            Error::Run { source, .. } => bounds::note(source),
            _ => "",
        };
        let problem = Problem::wrong(format!("{error}{note}"));
        match error {
            Error::Question(error) => error.into(),
            Error::UnknownTransport { .. } => problem.with("option", "transport".into()),
            _ => problem,
        }
    }
}

impl From<QuestionError> for Problem {
    /// The page shows it at the field of the option.
    fn from(error: QuestionError) -> Problem {
        let problem = Problem::wrong(question::for_page(&error));
        match (error.option, error.problem) {
            (Some(option), _) => problem.with("option", option.into()),
            (None, compare::Problem::Unknown { name, .. }) => problem.with("option", name.into()),
            (None, _) => problem,
        }
    }
}
