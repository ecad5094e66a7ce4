//! TOML documents with places, diagnostics, and tables that are declared once.
//!
//! [`Parsed`] is a document in which every key and value knows its position; [`Diagnostics`] point
//! at such positions in the style of rustc. [`Override`]s set single values from outside the file.

mod collections;
mod declare;
pub mod diagnostic;
pub mod form;
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
mod write;

pub use collections::{Each, Many, Map};
pub use diagnostic::{Diagnostic, Diagnostics, Errors, Reported};
pub use form::Form;
pub use named::{Named, NamedKinds, OneNamed};
pub use overriding::Override;
pub use parsed::{Parsed, SetRules};
pub use path::key_text;
pub use reading::{Context, Field, OptionalField, Placed};
pub use source::{Origin, Place, SetBy, Setting, printable};
pub use tree::{Entry, Item, Table, Value};
pub use value::{Problem, Scalar};
