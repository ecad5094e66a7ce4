//! The rules of a fuzzy queue in a scenario: 25 percentages, five rows.

use bentpipe_document::reading::{Given, Read};
use bentpipe_document::schema::Kind;
use bentpipe_document::{Form, Problem, Reported, Scalar, Value};
use bentpipe_link::FuzzyRules;

/// Probabilities by level (rows) and change of the level (columns), 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules(pub(crate) FuzzyRules);

impl Rules {
    /// Reads five rows of five percentages; the rows are separated by `/`.
    fn parse(text: &str) -> Option<Rules> {
        let mut rules = FuzzyRules::default();
        let rows: Vec<&str> = text.split('/').collect();
        if rows.len() != rules.len() {
            return None;
        }
        for (row, text) in rules.iter_mut().zip(rows) {
            let cells: Vec<&str> = text.split_whitespace().collect();
            if cells.len() != row.len() {
                return None;
            }
            for (cell, text) in row.iter_mut().zip(cells) {
                let percent: f64 = text.parse().ok()?;
                *cell = Some(percent).filter(|p| (0.0..=100.0).contains(p))? / 100.0;
            }
        }
        Some(Rules(rules))
    }
}

impl Scalar for Rules {
    const KIND: Kind = Kind::Form(
        "25 percentages, five rows by level from empty to full, separated by `/`, of five by \
         change from falling fast to rising fast",
    );

    fn read(value: &Value, kind: &Kind) -> Result<Rules, Problem> {
        let found = match value {
            Value::Text(text) => match Rules::parse(text) {
                Some(rules) => return Ok(rules),
                None => format!("`{text}`"),
            },
            other => other.kind().to_string(),
        };
        Err(Problem::new(format!("found {found}"), kind))
    }
}

impl Read for Rules {
    const KIND: Kind = <Rules as Scalar>::KIND;

    fn read(given: Given<'_>, kind: &Kind) -> Result<Rules, Reported> {
        given.scalar(kind)
    }
}

impl<C: ?Sized> Form<FuzzyRules, C> for Rules {
    fn settle(&self, _: &C) -> Result<FuzzyRules, Reported> {
        Ok(self.0)
    }

    fn written(model: &FuzzyRules) -> Value {
        let rows = model.map(|row| row.map(|share| percent(share).to_string()).join(" "));
        rows.join(" / ").into()
    }
}

/// The percentage that is read as this share.
fn percent(share: f64) -> f64 {
    let shown = share * 100.0;
    let near = [shown, shown.next_up(), shown.next_down()];
    near.into_iter()
        .find(|x| x / 100.0 == share)
        .unwrap_or(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_five_rows_of_five_percentages() {
        let text = "0 0 0 0 0 / 0 0 0 1 2 / 0 1 2 5 10 / 2 5 10 20 40 / 10 20 40 70 100";
        let rules = Rules::parse(text).map(|rules| rules.0);
        assert_eq!(rules, Some(bentpipe_link::FuzzySettings::RULES));
        for wrong in [
            "",
            "1 2 3",
            "0/0/0/0/0",
            &text.replace("70", "101"),
            &text[2..],
        ] {
            assert_eq!(Rules::parse(wrong), None, "{wrong}");
        }
    }
}
