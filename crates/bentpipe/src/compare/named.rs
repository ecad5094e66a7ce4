//! The rows of an answer by their names.

use super::answer::{Answer, Row};
use super::cell::Cell;
use super::comparison::Comparison;
use super::pep::Pep;
use super::result::{RunResult, UserResult};
use crate::Error;

impl Answer {
    /// What the table calls a row: the transport, after its proxy where there are several.
    #[must_use]
    pub fn row_name(&self, row: &Row) -> String {
        match self.peps().len() {
            0 | 1 => row.name.clone(),
            _ => format!("{} {}", row.pep.name(), row.name),
        }
    }

    /// The row of that name, an index into [`Answer::rows`]: `cubic`, `bbr + IW 32`, or
    /// `split cubic` with the proxy, which must be said only where several rows have the
    /// transport.
    ///
    /// # Errors
    /// [`Error::Row`] if there is none or more than one, with the names that there are.
    pub fn row_named(&self, name: &str) -> Result<usize, Error> {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let behind = name.split_once(' ').and_then(|(first, rest)| {
            let known = Pep::ALL.iter().find(|(pep, _)| *pep == first);
            known.map(|(_, pep)| (*pep, rest))
        });
        let is_it = |row: &Row| match behind {
            Some((pep, transport)) => row.pep == pep && row.name == transport,
            None => row.name == name,
        };
        let found: Vec<usize> = (0..self.rows.len())
            .filter(|i| is_it(&self.rows[*i]))
            .collect();
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(Error::Row(self.no_row(&name))),
            several => {
                let names = several.iter().map(|i| self.row_name(&self.rows[*i]));
                let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                Err(Error::Row(format!(
                    "there are several rows `{name}`; say which proxy: {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// That there is no row of that name, and which there are.
    fn no_row(&self, name: &str) -> String {
        let known: Vec<String> = self.rows.iter().map(|row| self.row_name(row)).collect();
        let nearest = bentpipe_cc::nearest(name, known.iter().map(String::as_str));
        let hint = nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!(
            "there is no row `{name}` in the answer{hint}\n  rows: {}",
            known.join(", ")
        )
    }
}

impl Cell {
    /// One run and one user who stand for all: the run of median time, and of its users
    /// with the setting the one whose time is nearest to their mean. `None` if no run
    /// ended.
    #[must_use]
    pub fn typical(&self) -> Option<(&RunResult, u32)> {
        let run = self.median_run()?;
        let activity = run.own.first()?.activity;
        let mean = run.time_s(activity)?;
        let away = |user: &UserResult| user.time_s.map(|time| (time - mean).abs());
        let alike = run.own.iter().filter(|user| user.activity == activity);
        let nearest = alike
            .filter_map(|user| Some((away(user)?, user.user)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map(|(_, user)| (run, user))
    }
}

impl Comparison {
    /// The rows that an answer will have, without runs: to look at names before a long
    /// comparison begins.
    ///
    /// # Errors
    /// If the settings describe no path, or a transport is unknown.
    pub fn without_runs(&self) -> Result<Answer, Error> {
        super::engine::unrun(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Bytes;

    fn answer(peps: &[Pep]) -> Answer {
        let question = Comparison::new().size(Bytes::new(100_000));
        let question = question.peps(peps.iter().copied());
        let question = question.transports(["cubic", "cubic + IW 32", "bbr"]);
        question.without_runs().unwrap()
    }

    #[test]
    fn a_row_is_found_as_the_table_prints_it() {
        let answer = answer(&[Pep::None, Pep::Split]);
        for (i, row) in answer.rows.iter().enumerate() {
            assert_eq!(answer.row_named(&answer.row_name(row)).unwrap(), i);
        }
        let why = |name: &str| answer.row_named(name).unwrap_err().to_string();
        assert!(why("bbr").contains("say which proxy: `none bbr`, `split bbr`"));
        assert!(why("split bbbr").contains("did you mean `split bbr`?"));
        assert_eq!(
            answer.row_named("  split   cubic + IW 32 ").unwrap(),
            answer.row_named("split cubic + IW 32").unwrap()
        );
    }

    #[test]
    fn without_proxies_the_transport_is_the_name() {
        let answer = answer(&[Pep::None]);
        assert_eq!(answer.row_name(&answer.rows[0]), answer.rows[0].name);
        assert_eq!(
            answer.row_named("none bbr").unwrap(),
            answer.row_named("bbr").unwrap()
        );
        let why = answer.row_named("").unwrap_err().to_string();
        assert!(why.contains("rows: "), "{why}");
    }
}
