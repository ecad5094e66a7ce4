//! How questions and answers look: text, tables, JSON, figures, maps and pages.
//!
//! The command, the explorer and the Python package show the same things, and this is the
//! one place that says how. It is above the library `bentpipe`, whose results it takes, and
//! below the three. It opens no file, reads no clock and writes only into the writer that
//! it is given.
//!
//! # What is where
//!
//! | to show | use |
//! |---|---|
//! | what a comparison asks | [`question`] |
//! | the answer of a comparison | [`answer`] |
//! | what differs between two of these | [`diff`] |
//! | how many users a link carries | [`capacity`] |
//! | a link fitted to a capture | [`fit`] |
//! | what a run did | [`outcome`] |
//! | what the packets of a connection did | [`sequence`] |
//! | what a scenario would run | [`scenario`] |
//! | its network and satellites | [`map`] |
//! | a study, a paper, and what came out | [`study`] |
//! | the transports that there are | [`transports`] |
//! | the languages of scenarios and studies | [`schema`] |
//! | the types of documents for the page | [`typescript`] |
//! | an error of the library | [`message()`] |
//! | any text of the above | [`output::Output`] |
//!
//! Functions named `print` write text for people into an [`output::Output`], those named
//! `text` give the same as a string, and those named `document` give JSON with units in the
//! names of its keys. A `chart` is a figure that the caller draws.

// A new kind of objection, cost or application that is not shown does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod answer;
pub mod capacity;
mod curves;
pub mod diff;
pub mod fit;
mod groups;
pub mod map;
mod measures;
mod message;
pub mod outcome;
pub mod output;
pub mod packetdrill;
pub mod question;
pub mod scenario;
pub mod schema;
pub mod sequence;
pub mod study;
pub mod transports;
pub mod typescript;

pub use message::{Message, message, rendered};
