//! Published numbers: CSV files with the columns `row`, `column`, `value` and optionally `note`.
//!
//! A row's label consists of the labels of its axes joined by ` / `, a column's of those of its
//! axes and its value joined by ` | `, as in `500 Kbit/s / 1 Mbyte` and `TCP MTSI | loss`. `-` is a
//! cell that the paper leaves empty.

use std::collections::BTreeMap;

/// Between the labels of a row's axes.
pub const ROW_JOIN: &str = " / ";

/// Between the labels of a column's axes and its value.
pub const COLUMN_JOIN: &str = " | ";

/// The published numbers of a table or figure.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Reference {
    cells: BTreeMap<(String, String), Published>,
}

/// A published number with its place in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The published number, in the unit of the table.
    pub value: f64,
    /// Digits after its point.
    pub decimals: u32,
    /// A remark on it; may be empty.
    pub note: String,
}

impl Reference {
    /// Reads a file's text.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn parse(text: &str) -> Result<Reference, String> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| e.to_string())?.clone();
        let column = |name: &str| header.iter().position(|h| h.trim() == name);
        let find = |name: &str| {
            column(name).ok_or_else(|| {
                format!("column `{name}` is missing; the columns are row, column, value, note")
            })
        };
        let (row, col, value) = (find("row")?, find("column")?, find("value")?);
        let note = column("note");
        let mut reference = Reference::default();
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            let field = |i: usize| record.get(i).unwrap_or("").trim();
            if field(value) == "-" {
                continue;
            }
            let number: f64 = field(value)
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .ok_or_else(|| format!("line {line}: `{}` is not a number", field(value)))?;
            let published = Published {
                value: number,
                decimals: decimals(field(value)),
                note: note.map_or("", field).to_owned(),
            };
            let key = (field(row).to_owned(), field(col).to_owned());
            if reference.cells.insert(key.clone(), published).is_some() {
                return Err(format!(
                    "line {line}: `{}`, `{}` is there twice",
                    key.0, key.1
                ));
            }
        }
        Ok(reference)
    }

    /// The published number of a cell.
    #[must_use]
    pub fn get(&self, row: &str, column: &str) -> Option<&Published> {
        self.cells.get(&(row.to_owned(), column.to_owned()))
    }

    /// Labels of rows and columns.
    pub(crate) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cells
            .keys()
            .map(|(row, column)| (row.as_str(), column.as_str()))
    }
}

fn decimals(text: &str) -> u32 {
    let digits = text.split_once('.').map_or("", |(_, digits)| digits);
    digits.chars().take_while(char::is_ascii_digit).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let r = Reference::parse("row,column,value,note\na / b,x,18.962,odd\na / b,y,-\nc,x,3\n");
        let r = r.unwrap();
        let cell = r.get("a / b", "x").unwrap();
        assert_eq!(
            (cell.value, cell.decimals, cell.note.as_str()),
            (18.962, 3, "odd")
        );
        assert_eq!(r.get("a / b", "y"), None);
        assert_eq!(r.get("c", "x").unwrap().decimals, 0);
    }

    #[test]
    fn mistakes_are_named() {
        let e = |text| Reference::parse(text).unwrap_err();
        assert!(e("row,value\n").starts_with("column `column` is missing"));
        assert_eq!(
            e("row,column,value\na,b,x\n"),
            "line 2: `x` is not a number"
        );
        assert_eq!(
            e("row,column,value\na,b,1\na,b,2\n"),
            "line 3: `a`, `b` is there twice"
        );
    }
}
