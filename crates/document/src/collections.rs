//! Values in arrays, and by names that the file chooses.

use crate::diagnostic::{Diagnostic, Reported};
use crate::reading::{Field, Given, Placed, Read};
use crate::schema::Kind;
use crate::tree::{Entry, Item, Value};

/// The values of an array.
#[derive(Clone, Debug)]
pub struct Each<T>(pub Vec<Placed<T>>);

/// The values of an array, or a single one in its place.
#[derive(Clone, Debug)]
pub struct Many<T>(pub Vec<Placed<T>>);

/// Values by name, in the order of the file.
#[derive(Clone, Debug)]
pub struct Map<T>(pub Vec<(String, Placed<T>)>);

impl<T> Default for Many<T> {
    fn default() -> Many<T> {
        Many(Vec::new())
    }
}

impl<T> Many<T> {
    /// The values without their places.
    #[must_use]
    pub fn values(self) -> Vec<T> {
        self.0.into_iter().map(|one| one.value).collect()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Map<T> {
        Map(Vec::new())
    }
}

impl<T> Map<T> {
    /// The values with their names, without their places.
    pub fn values(self) -> impl Iterator<Item = (String, T)> {
        self.0.into_iter().map(|(name, one)| (name, one.value))
    }
}

/// The value of an element of the array that a key has.
fn element<T: Read>(given: Given<'_>, item: &Item, kind: &Kind) -> Field<T> {
    let entry = Entry {
        key: given.entry.key.clone(),
        key_place: item.place,
        item: item.clone(),
    };
    let element = Given {
        entry: &entry,
        of: given.of,
    };
    Ok(Placed {
        value: T::read(element, kind)?,
        place: item.place,
        key: given.entry.key_place,
    })
}

/// All of an array, unless one of it was wrong: then what is wrong with each is reported.
fn all<T: Read>(given: Given<'_>, items: &[Item], kind: &Kind) -> Result<Vec<Placed<T>>, Reported> {
    let read: Vec<Field<T>> = items
        .iter()
        .map(|item| element(given, item, kind))
        .collect();
    read.into_iter().collect()
}

impl<T: Read> Read for Each<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn read(given: Given<'_>, kind: &Kind) -> Result<Each<T>, Reported> {
        let inner = match kind {
            Kind::List(inner) => inner,
            _ => &T::KIND,
        };
        match &given.entry.item.value {
            Value::List(items) => all(given, items, inner).map(Each),
            other => {
                let message = format!("`{}` is {}", given.entry.key, other.kind());
                let error = Diagnostic::new(given.entry.item.place, message);
                Err(given.report(error.label(format!("expected {kind}"))))
            }
        }
    }
}

impl<T: Read> Read for Many<T> {
    const KIND: Kind = Kind::Many(&T::KIND);

    fn read(given: Given<'_>, kind: &Kind) -> Result<Many<T>, Reported> {
        let inner = match kind {
            Kind::Many(inner) => inner,
            _ => &T::KIND,
        };
        let item = &given.entry.item;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(item),
        };
        all(given, items, inner).map(Many)
    }
}

impl<T: Read> Read for Map<T> {
    const KIND: Kind = Kind::Map(&T::KIND);

    fn read(given: Given<'_>, kind: &Kind) -> Result<Map<T>, Reported> {
        let inner = match kind {
            Kind::Map(inner) => inner,
            _ => &T::KIND,
        };
        let read = given.table()?.iter().map(|entry| {
            let of = given.of;
            let value = T::read(Given { entry, of }, inner)?;
            let (place, key) = (entry.item.place, entry.key_place);
            Ok((entry.key.clone(), Placed { value, place, key }))
        });
        let read: Vec<Result<_, Reported>> = read.collect();
        read.into_iter().collect::<Result<_, _>>().map(Map)
    }
}

#[cfg(test)]
#[allow(
    dead_code,
    clippy::vec_init_then_push,
    reason = "lints look into macros of their own crate"
)]
mod tests {
    use super::*;
    use crate::reading::Declared;
    use crate::schema::integer;
    use crate::{Context, Errors, Parsed, reference};

    const COUNTS: Kind = Kind::Map(&integer(1, 9));

    crate::table! {
        /// a list of things
        Things at "", called "the list";
        /// their names
        names: Many<String>, or "none";
        /// how many there are of each
        counts: Map<u32> [COUNTS], or "one";
        /// anything
        values: Each<Item> [Kind::List(&Kind::Any)], or "none";
    }

    fn read(text: &str) -> (Things, String) {
        let parsed = Parsed::new("things.toml", text).unwrap();
        let errors = Errors::new(parsed.origin);
        let top = Context::top::<Things>(&parsed.table, &errors, "the list");
        let things = Things::from_context(top);
        (things, errors.take().to_string())
    }

    #[test]
    fn one_stands_for_an_array_of_one() {
        for (text, expected) in [
            ("names = 'a'", &["a"][..]),
            ("names = ['a', 'b']", &["a", "b"]),
        ] {
            let (things, _) = read(text);
            assert_eq!(things.names.unwrap().unwrap().value.values(), expected);
        }
    }

    #[test]
    fn values_keep_their_names_and_places() {
        let (things, said) = read("counts = { b = 2, a = 3 }\nvalues = [1, { x = true }]");
        let counts = things.counts.unwrap().unwrap().value.values();
        let counts: Vec<(String, u32)> = counts.collect();
        assert_eq!(counts, [("b".to_owned(), 2), ("a".to_owned(), 3)]);
        let values = things.values.unwrap().unwrap().value.0;
        assert_eq!(values[1].place.span(), Some(39..51));
        assert_eq!(said, "");
    }

    #[test]
    fn every_wrong_element_is_reported_at_its_place() {
        let (_, said) = read("names = ['a', 1, true]\ncounts = { a = 10, b = 0 }\nvalues = 'x'");
        assert_eq!(
            said,
            "things.toml:1:15: `names`: expected a string, found a whole number\n\
             things.toml:1:18: `names`: expected a string, found a boolean\n\
             things.toml:2:16: `a`: 10 is too large\n\
             things.toml:2:24: `b`: 0 is too small\n\
             things.toml:3:10: `values` is a string"
        );
    }

    #[test]
    fn their_schema_is_that_of_their_elements() {
        let schema = reference::json_schema(Things::section(), "Things");
        let of = |key: &str, path: &str| schema["properties"][key].pointer(path).cloned();
        assert_eq!(of("names", "/anyOf/1/items/type"), Some("string".into()));
        assert_eq!(
            of("counts", "/additionalProperties/maximum"),
            Some(9.into())
        );
        assert_eq!(of("values", "/items"), Some(serde_json::json!({})));
    }
}
