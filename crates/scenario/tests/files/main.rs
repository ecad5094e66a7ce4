//! Scenario files: the language, its errors, what is written, and the networks they make.

mod constellations;
mod errors;
mod examples;
mod jitter;
mod language;
mod media;
mod mentioned;
mod middleboxes;
mod overrides;
mod protection;
mod routing;
mod schema;
mod streams;
mod terminals;
mod timelines;
mod transports;
