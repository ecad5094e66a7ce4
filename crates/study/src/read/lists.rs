//! Arrays of tables: all of one are read before one of them fails, and their names occur once.

use crate::schema::given;
use bentpipe_document::{Context, Diagnostic, OptionalField, Place, Reported};

/// What `read` makes of each table of an array: of all of them, so that all their errors are
/// found.
pub(super) fn each<K, T>(
    tables: OptionalField<Vec<K>>,
    read: impl Fn(K) -> Result<T, Reported>,
) -> Result<Vec<T>, Reported> {
    let tables = given(tables)?.unwrap_or_default();
    let read: Vec<_> = tables.into_iter().map(read).collect();
    read.into_iter().collect()
}

/// Reports each name that is not the first of its kind.
pub(super) fn once<'a>(top: &Context, kind: &str, names: impl Iterator<Item = (&'a str, Place)>) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, place) in names {
        if seen.contains(&name) {
            let message = format!("two {kind} are named `{name}`");
            top.report(Diagnostic::new(place, message));
        }
        seen.push(name);
    }
}
