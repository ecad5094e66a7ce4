//! Creates, switches and removes the rules.

use super::plan::{Passing, Plan, Treatment};
use super::record::Record;
use super::script;
use super::system::{self, Error};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Place of the routing rule among the others: before that of the main table.
const PREFERENCE: &str = "7227";

/// The rules of a running gateway.
///
/// Dropping this leaves them in place: connections that are handed to another
/// process still need them, and they let connections pass where no socket
/// listens.
#[derive(Debug)]
pub struct Rules {
    plan: Plan,
    record: Record,
    treatment: Treatment,
    folder: PathBuf,
}

impl Rules {
    /// Makes the rules, in place of any that a gateway with the same name has left
    /// or still has. `folder` gets the record of what was made. New connections go to the gateway.
    ///
    /// Listen before this: the rules let connections pass until then.
    ///
    /// # Errors
    /// Where something is missing; then nothing is changed.
    pub fn install(plan: Plan, folder: &Path) -> Result<Rules, Error> {
        Rules::install_so(plan, folder, Passing::Gateway)
    }

    /// As [`Rules::install`], with another treatment of new connections.
    ///
    /// # Errors
    /// As [`Rules::install`].
    pub fn install_so(
        plan: Plan,
        folder: &Path,
        treatment: impl Into<Treatment>,
    ) -> Result<Rules, Error> {
        let treatment = treatment.into();
        let text = script::install(&plan, treatment);
        system::nft_check(&text)?;
        let record = Record {
            table: plan.table(),
            mark: plan.mark,
            namespace: system::namespace(),
        };
        let mut before = Record::all(folder)?;
        before.retain(|(_, old)| old.table == record.table && old.namespace == record.namespace);
        record.write(folder)?;
        let made = route(&plan).and_then(|()| system::nft(&text));
        let file = record.path(folder);
        // The first error is the one to report.
        if let Err(error) = made {
            let _ = match before.pop() {
                None => undo(&record, &file),
                Some((_, old)) => keep(&old, &record, folder),
            };
            return Err(error);
        }
        for (path, old) in before {
            // Another mark than before leaves routes that the new ones do not replace.
            if old.mark != record.mark
                && let Err(error) = unroute(&old, folder)
            {
                tracing::warn!("routes of the former mark {} stay: {error}", old.mark);
            }
            if path != file {
                drop(fs::remove_file(path));
            }
        }
        Ok(Rules {
            plan,
            record,
            treatment,
            folder: folder.into(),
        })
    }

    /// Treatment of what arrives by the rules.
    #[must_use]
    pub const fn treatment(&self) -> Treatment {
        self.treatment
    }

    /// The plan that the rules follow.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Changes what becomes of new connections. Those that exist go on.
    ///
    /// # Errors
    /// Where `nft` fails; then nothing is changed.
    pub fn switch(&mut self, treatment: impl Into<Treatment>) -> Result<(), Error> {
        let treatment = treatment.into();
        if treatment != self.treatment {
            system::nft(&script::install(&self.plan, treatment))?;
            self.treatment = treatment;
        }
        Ok(())
    }

    /// Follows a new plan, such as after a reload. Connections that exist go on.
    ///
    /// # Errors
    /// Where `nft` or `ip` fails.
    pub fn replace(&mut self, plan: Plan) -> Result<(), Error> {
        if plan == self.plan {
            return Ok(());
        }
        if plan.table() != self.plan.table() {
            system::nft(&script::remove(&self.plan.table()))?;
        }
        let treatment = self.treatment;
        *self = Rules::install(plan, &self.folder)?;
        self.switch(treatment)
    }

    /// New connections that the rules have sent to the gateway since they were made
    /// or last switched.
    ///
    /// # Errors
    /// Where `nft` fails, for instance because the rules were removed.
    pub fn taken(&self) -> Result<u64, Error> {
        self.count(script::TAKEN)
    }

    /// As [`Rules::taken`], new connections that passed directly or were refused
    /// because the rules were switched so.
    ///
    /// # Errors
    /// As [`Rules::taken`].
    pub fn passed(&self) -> Result<u64, Error> {
        self.count(script::PASSED)
    }

    fn count(&self, counter: &str) -> Result<u64, Error> {
        let table = self.plan.table();
        let found = system::nft_json(&["list", "counter", "inet", &table, counter])?;
        let parts = found["nftables"].as_array();
        let counter = parts.and_then(|parts| parts.iter().find_map(|part| part.get("counter")));
        Ok(counter.and_then(|c| c["packets"].as_u64()).unwrap_or(0))
    }

    /// Removes the rules and their record.
    ///
    /// # Errors
    /// Where `nft` or `ip` fails; the record then stays.
    pub fn remove(self) -> Result<(), Error> {
        undo(&self.record, &self.record.path(&self.folder))
    }
}

/// The rules of a gateway that a record speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The table of nftables, in the family inet.
    pub table: String,
    /// The mark, which is also the number of the routing table.
    pub mark: u32,
    /// Path of the record.
    pub file: PathBuf,
    /// False where it was made in another network namespace than this process is
    /// in, and has to be removed there.
    pub here: bool,
}

/// The rules that gateways have made, running or not, by their records.
///
/// # Errors
/// Where the folder cannot be read.
pub fn left(folder: &Path) -> Result<Vec<Left>, Error> {
    let here = system::namespace();
    let all = Record::all(folder)?.into_iter();
    Ok(all
        .map(|(file, record)| Left {
            here: record.namespace.is_none() || record.namespace == here,
            table: record.table,
            mark: record.mark,
            file,
        })
        .collect())
}

/// Removes rules that a gateway has left, and their record. It may be repeated.
///
/// # Errors
/// Where `nft` or `ip` fails; the record then stays.
pub fn remove(left: &Left) -> Result<(), Error> {
    let record = Record {
        table: left.table.clone(),
        mark: left.mark,
        namespace: system::namespace(),
    };
    undo(&record, &left.file)
}

/// Removes what a record of this namespace, which is in `file`, speaks of.
fn undo(record: &Record, file: &Path) -> Result<(), Error> {
    system::nft(&script::remove(&record.table))?;
    unroute(record, file.parent().unwrap_or(file))?;
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::Record {
            path: file.into(),
            error,
        }),
        _ => Ok(()),
    }
}

/// After new rules could not be made: the rules of the gateway before are still in the
/// kernel, and its record holds again.
fn keep(old: &Record, new: &Record, folder: &Path) -> Result<(), Error> {
    if old.mark != new.mark {
        unroute(new, folder)?;
    }
    old.write(folder)
}

/// The families that the routes are for.
fn families(ipv6: bool) -> impl Iterator<Item = &'static str> {
    ["-4", "-6"].into_iter().take(1 + usize::from(ipv6))
}

/// Delivers packets with the mark to this machine.
fn route(plan: &Plan) -> Result<(), Error> {
    let mark = plan.mark.to_string();
    for family in families(plan.ipv6) {
        system::ip(&[
            family, "route", "replace", "local", "default", "dev", "lo", "table", &mark,
        ])?;
        let rule = [
            family, "rule", "add", "fwmark", &mark, "lookup", &mark, "pref", PREFERENCE,
        ];
        match system::ip(&rule) {
            Err(Error::Failed { said, .. }) if said.contains("File exists") => {}
            other => drop(other?),
        }
    }
    Ok(())
}

/// Removes the routes of a record's mark, whether or not they are there. They stay where
/// another gateway of this namespace, which is one with another table, has the same mark.
fn unroute(record: &Record, folder: &Path) -> Result<(), Error> {
    let others = Record::all(folder)?;
    let shares = |other: &Record| {
        let here = other.namespace.is_none() || other.namespace == record.namespace;
        here && other.mark == record.mark && other.table != record.table
    };
    if others.iter().any(|(_, other)| shares(other)) {
        return Ok(());
    }
    let mark = record.mark.to_string();
    for family in families(system::has_ipv6()) {
        let rule = [
            family, "rule", "del", "fwmark", &mark, "lookup", &mark, "pref", PREFERENCE,
        ];
        gone(system::ip(&rule))?;
        let route = [family, "route", "flush", "table", &mark];
        gone(system::ip(&route))?;
    }
    Ok(())
}

/// Missing objects need no removal.
fn gone(removed: Result<String, Error>) -> Result<(), Error> {
    match removed {
        Err(Error::Failed { said, .. })
            if ["No such file", "does not exist", "No such process"]
                .iter()
                .any(|words| said.contains(words)) =>
        {
            Ok(())
        }
        other => other.map(drop),
    }
}

/// Tries the rules on this machine's kernel, and changes nothing.
///
/// # Errors
/// Missing requirements, and the remedies.
pub fn check(plan: &Plan) -> Result<(), Error> {
    system::ip(&["rule"])?;
    system::nft_check(&script::install(plan, Passing::Gateway.into()))
}

/// The rules as `nft` reads them, and the commands of `ip` that go with them.
#[must_use]
pub fn print(plan: &Plan) -> String {
    let mark = plan.mark;
    let mut text = script::install(plan, Passing::Gateway.into());
    for family in families(plan.ipv6) {
        let _ = write!(
            text,
            "# ip {family} route replace local default dev lo table {mark}\n\
             # ip {family} rule add fwmark {mark} lookup {mark} pref {PREFERENCE}\n"
        );
    }
    text
}
