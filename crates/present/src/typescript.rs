//! The types of documents for the explorer's page, in TypeScript.

use bentpipe_outcome::{Key, Kind, Shape};
use std::fmt::Write as _;

/// The interfaces of these records and of those in them, each once.
#[must_use]
pub fn interfaces(records: &[Shape]) -> String {
    let mut found = Vec::new();
    for shape in records {
        collect(shape, &mut found);
    }
    let texts: Vec<String> = found
        .iter()
        .map(|(name, keys)| interface(name, keys))
        .collect();
    texts.join("\n")
}

fn collect<'a>(shape: &'a Shape, found: &mut Vec<(&'a str, &'a [Key])>) {
    match shape {
        Shape::Optional(of) | Shape::List(of) | Shape::Map(of) => collect(of, found),
        Shape::Record(name, keys) if !found.iter().any(|(known, _)| known == name) => {
            found.push((name, keys));
            for key in keys {
                collect(&key.shape, found);
            }
        }
        Shape::Cell(_) | Shape::Rows(_) | Shape::Record(..) => {}
    }
}

fn interface(name: &str, keys: &[Key]) -> String {
    let mut text = format!("export interface {name} {{\n");
    for key in keys {
        let mark = if key.optional { "?" } else { "" };
        let (name, about, of) = (key.name, &key.about, written(&key.shape));
        // Writing into a string does not fail.
        let _ = writeln!(text, "  /** {about} */ readonly {name}{mark}: {of};");
    }
    text + "}\n"
}

/// The type of a value.
fn written(shape: &Shape) -> String {
    match shape {
        Shape::Cell(Kind::Text) => "string".to_owned(),
        Shape::Cell(Kind::Flag) => "boolean".to_owned(),
        // The page is told how many rows there are.
        Shape::Cell(Kind::Integer | Kind::Number) | Shape::Rows(_) => "number".to_owned(),
        Shape::Optional(of) => format!("{} | null", written(of)),
        Shape::List(of) if matches!(**of, Shape::Optional(_)) => {
            format!("readonly ({})[]", written(of))
        }
        Shape::List(of) => format!("readonly {}[]", written(of)),
        Shape::Map(of) => format!("Readonly<Record<string, {}>>", written(of)),
        Shape::Record(name, _) => (*name).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_outcome::{Datum, Named, Rows, record};

    record! {
        /// A part.
        struct Part document {
            /// A number.
            gauge x: Option<f64> as "x_s";
        }
    }

    record! {
        /// All shapes.
        struct All document {
            /// A text. It is long.
            label name: String;
            /// A flag.
            optional is: bool;
            /// Parts by name.
            key parts: Named<Option<Part>>;
            /// Each part.
            key list: Vec<Option<Part>>;
            /// How many.
            counter rows: Rows<Part>;
        }
    }

    #[test]
    fn each_record_is_an_interface() {
        assert_eq!(
            interfaces(&[All::shape(), Part::shape()]),
            "export interface All {\n\
             \x20 /** a text */ readonly name: string;\n\
             \x20 /** a flag */ readonly is?: boolean;\n\
             \x20 /** parts by name */ readonly parts: Readonly<Record<string, Part | null>>;\n\
             \x20 /** each part */ readonly list: readonly (Part | null)[];\n\
             \x20 /** how many */ readonly rows: number;\n\
             }\n\n\
             export interface Part {\n\
             \x20 /** a number */ readonly x_s: number | null;\n\
             }\n"
        );
    }
}
