//! What became of a script.

use bentpipe_document::{Diagnostic, Diagnostics};

/// The verdict on a script, with what stands beside it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Name of the script's file.
    pub script: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Settings of the script that the model does not have.
    pub notes: Vec<Note>,
    /// What its code printed.
    pub printed: Vec<String>,
    /// Events that ran.
    pub events: usize,
}

impl Report {
    /// That of a script which cannot be read.
    pub(crate) fn unreadable(name: &str, errors: &Diagnostics) -> Report {
        let first = errors.errors.first();
        Report {
            script: name.to_owned(),
            verdict: Verdict::Unreadable {
                line: first.and_then(Diagnostic::line).unwrap_or(1),
                column: first.and_then(Diagnostic::column).unwrap_or(1),
                message: first.map_or("", Diagnostic::message).to_owned(),
            },
            notes: Vec::new(),
            printed: Vec::new(),
            events: 0,
        }
    }
}

/// The verdict on a script.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// Everything came as the script expects it.
    Pass,
    /// Something came otherwise.
    Fail {
        /// The first difference.
        difference: Difference,
    },
    /// The script needs what the model does not have.
    NotModelled {
        /// What, and where.
        reason: Reason,
    },
    /// The script is not written in the language.
    Unreadable {
        /// Line of the script, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail { .. } => "fail",
            Verdict::NotModelled { .. } => "not modelled",
            Verdict::Unreadable { .. } => "unreadable",
        }
    }
}

/// A difference between a script and what happened.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Line of the script, from 1.
    pub line: usize,
    /// What differs, such as `sequence number` or `time`.
    pub what: String,
    /// What the script expects.
    pub expected: String,
    /// When, seconds; empty where that does not matter.
    pub expected_at: String,
    /// What happened.
    pub found: String,
    /// When, seconds; empty where nothing happened.
    pub found_at: String,
}

/// Why a script cannot run to its end.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reason {
    /// Line of the script, from 1.
    pub line: usize,
    /// What is missing: the same words for the same thing, so that it can be counted.
    pub what: String,
    /// The difference that it led to, where the script ran on without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// A setting that the model does not have.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// Line of the script, from 1.
    pub line: usize,
    /// The setting.
    pub what: String,
}
