//! TOML documents with places, diagnostics, and tables that are declared once.
//!
//! [`Parsed`] is a document in which every key and value has its place;
//! [`Diagnostics`] point at such places in the manner of rustc. [`Override`]s
//! set single values from outside the file.

mod declare;
pub mod diagnostic;
mod named;
pub mod names;
mod overriding;
mod parsed;
mod path;
pub mod reading;
pub mod reference;
mod render;
pub mod schema;
pub mod source;
pub mod tree;
pub mod value;

pub use diagnostic::{Diagnostic, Diagnostics, Errors, Reported};
pub use named::{Named, NamedKinds, OneNamed};
pub use overriding::Override;
pub use parsed::{Parsed, SetRules};
pub use path::key_text;
pub use reading::{Context, Field, OptionalField, Placed};
pub use source::{Origin, Place, SetBy, Setting, printable};
pub use tree::{Entry, Item, Table, Value};
pub use value::{Problem, Scalar};
