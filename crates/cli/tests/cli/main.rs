//! The command line as its users meet it: the built binary, run in a folder of
//! its own.

mod common;
mod compare;
mod help;
mod run;
mod study;
