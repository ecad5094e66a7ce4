//! Users' congestion controls.

use bentpipe_document::schema::Kind;
use bentpipe_document::table;

table! {
    /// a congestion control of one's own; flows and transports name it as they name a built-in one
    pub(crate) ControlTable at "control.NAME", named "control",
        example "[control.mine]\nfile = \"mine.c\"\n[flow.download]\ntransport = \"mine\"";
    /// where it is, seen from this file: a `.c` file of the kernel's form, the folder of a Rust crate
    /// that `bentpipe cc new` made, or the shared library of one
    file: String [Kind::Text], required;
}
