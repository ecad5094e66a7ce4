//! What was found, in sentences.

use super::super::path::NetworkPath;
use super::super::pep::Pep;
use super::super::switch::{Build, SwitchOn};
use super::super::words::row_name;
use super::{Advice, Capacity, CapacityRow, Known};

impl CapacityRow {
    /// How many users, in words: `31 users (29 to 33)`.
    #[must_use]
    pub fn text(&self) -> String {
        let users = self.users.unwrap_or(0);
        let counted = match users {
            1 => "one user".to_owned(),
            n => format!("{n} users"),
        };
        match (self.known, self.interval) {
            (Known::Users, _) if users == 0 => "not even one user".to_owned(),
            (Known::Users, Some([least, most])) if least < most => {
                format!("{counted} ({least} to {most})")
            }
            (Known::Users, _) => counted,
            (Known::All, _) => format!("{users} users and maybe more"),
            (Known::AtLeast, _) => format!("at least {counted}"),
            (Known::None, _) if self.fewest > 1 => format!("fewer than {} users", self.fewest),
            (Known::None, _) => "not even one user".to_owned(),
            (Known::Nothing, _) => "an unknown number of users".to_owned(),
        }
    }
}

impl Capacity {
    /// The advice, in a sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let row = row_name(self.recommended());
        match self.advice {
            Advice::Use => format!("Use {row}."),
            Advice::Keep => format!("Keep {row}."),
            Advice::Open => format!("Open: keep {row} for now."),
        }
    }

    /// The advice and what it rests on, in sentences; the first is the headline.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let verdict = &self.answer.verdict;
        let base = row_name(&self.answer.rows[verdict.baseline]);
        let text = |row: usize| self.of_row(row).map_or_else(String::new, CapacityRow::text);
        let (pick, before) = (
            verdict.pick.unwrap_or(verdict.baseline),
            text(verdict.baseline),
        );
        let target = self.target;
        let nobody_fits = self.rows.iter().all(|row| row.users == Some(0));
        let mut lines = vec![self.headline()];
        lines.push(match self.advice {
            Advice::Use => format!(
                "The link carries {} with `{target}`; with {base} {before}.",
                text(pick)
            ),
            Advice::Keep | Advice::Open if nobody_fits => {
                format!("`{target}` does not hold for even one user.")
            }
            Advice::Keep | Advice::Open => {
                format!("The link carries {before} with `{target}`.")
            }
        });
        match self.advice {
            Advice::Use => {}
            Advice::Keep if nobody_fits => {}
            Advice::Keep => lines.push("No other setting is worth a change.".to_owned()),
            Advice::Open => lines.extend(self.what_may_carry_more()),
        }
        if let Some(faster) = self.not_available() {
            lines.push(faster);
        }
        lines
    }

    /// Settings that may carry more users.
    fn what_may_carry_more(&self) -> Option<String> {
        let base = self.answer.verdict.baseline;
        let is_candidate =
            |row: &&CapacityRow| row.row != base && self.answer.rows[row.row].is_deployable();
        let first = self.rows.iter().find(is_candidate)?;
        let name = row_name(&self.answer.rows[first.row]);
        Some(match first.known {
            Known::Nothing | Known::AtLeast => {
                "The time did not suffice: more `--time` would tell.".to_owned()
            }
            _ => format!(
                "{name} may carry more, {}; more `--time` would tell.",
                first.text()
            ),
        })
    }

    /// What carries more than the pick and cannot be switched on.
    fn not_available(&self) -> Option<String> {
        let pick = self.of_row(self.answer.verdict.pick?)?.users?;
        let first = self
            .rows
            .first()
            .filter(|row| row.users.is_some_and(|n| n > pick))?;
        let row = &self.answer.rows[first.row];
        (!row.is_deployable()).then(|| {
            format!(
                "{} would carry {}, and cannot be switched on today.",
                row_name(row),
                first.text()
            )
        })
    }

    /// How the pick is switched on.
    #[must_use]
    pub fn switch_on(&self, build: Build) -> SwitchOn {
        self.answer.switch_on(build)
    }

    /// The link.
    #[must_use]
    pub fn path(&self) -> &NetworkPath {
        &self.answer.path
    }

    /// True if several proxies were compared.
    #[must_use]
    pub fn has_proxies(&self) -> bool {
        self.answer.peps().iter().any(|pep| *pep != Pep::None)
    }
}
