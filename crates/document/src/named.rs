//! Tables by name.

use crate::diagnostic::{Diagnostic, Reported};
use crate::reading::{Declared, DeclaredKinds, Given, Read};
use crate::schema::Kind;
use crate::source::Place;
use crate::value::check_name;

/// Tables by name, in the order of the file.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// Those whose names are good, each with what it is.
    pub tables: Vec<OneNamed<T>>,
    /// Every name in the file, good or bad.
    pub names: Vec<String>,
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named {
            tables: Vec::new(),
            names: Vec::new(),
        }
    }
}

/// A table with its name.
#[derive(Clone, Debug)]
pub struct OneNamed<T> {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub place: Place,
    /// Its content, unless its errors have been reported.
    pub table: Result<T, Reported>,
}

impl<T> Named<T> {
    fn each(
        given: Given<'_>,
        read: impl Fn(Given<'_>) -> Result<T, Reported>,
    ) -> Result<Named<T>, Reported> {
        let group = &given.entry.key;
        let mut named = Named::default();
        for entry in given.table()?.iter() {
            named.names.push(entry.key.clone());
            if let Err(expected) = check_name(&entry.key) {
                let message = format!("`{}` cannot be the name of a {group}", entry.key);
                given.report(Diagnostic::new(entry.key_place, message).label(expected));
                continue;
            }
            let inner = Given {
                entry,
                of: given.of,
            };
            named.tables.push(OneNamed {
                name: entry.key.clone(),
                place: entry.key_place,
                table: read(inner),
            });
        }
        Ok(named)
    }

    /// True where the file has a table of that name, good or bad: it is not
    /// unknown, and what is wrong with it was reported.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }
}

impl<T: Declared> Read for Named<T> {
    const KIND: Kind = Kind::Named(T::section);

    fn read(given: Given<'_>, _: &Kind) -> Result<Named<T>, Reported> {
        Named::each(given, |given| given.declared())
    }
}

/// Tables by name, each with a `kind`.
#[derive(Clone, Debug)]
pub struct NamedKinds<T>(pub Named<T>);

impl<T> Default for NamedKinds<T> {
    fn default() -> NamedKinds<T> {
        NamedKinds(Named::default())
    }
}

impl<T: DeclaredKinds> Read for NamedKinds<T> {
    const KIND: Kind = Kind::NamedKinds(T::kinds);

    fn read(given: Given<'_>, _: &Kind) -> Result<NamedKinds<T>, Reported> {
        Named::each(given, |given| given.kinds()).map(NamedKinds)
    }
}
