//! The worked examples of the papers, run by the C of each control.

mod common;
mod delay;
mod hybla;
mod large;
mod marchese;
mod search;
mod westwood;
