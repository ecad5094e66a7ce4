//! The transports that are compared: each with what it is and how it is
//! switched on.

use super::entries::{all, of_note};
use super::setup::Path;
use crate::exit::{Failure, did_you_mean};
use bentpipe_tcp::Transport;

/// How far a transport is from being used, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// What a Linux host does unless told otherwise.
    Default,
    /// A setting of what a Linux host runs anyway.
    Setting,
    /// Another congestion control that comes with Linux.
    Module,
    /// Not in stock Linux.
    Absent,
    /// Of the past, or a bound: shown to compare with, never recommended.
    Reference,
}

impl Reach {
    /// One word for tables and JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reach::Default => "default",
            Reach::Setting => "setting",
            Reach::Module => "in Linux",
            Reach::Absent => "not in Linux",
            Reach::Reference => "reference",
        }
    }
}

/// One transport of the comparison.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// As `--transport` takes it and tables show it.
    pub(crate) name: String,
    /// What it is, in a line.
    pub(crate) about: String,
    /// How far it is from being used.
    pub(crate) reach: Reach,
    /// Commands and calls that switch it on, at the sender; empty where none
    /// can.
    pub(crate) switch: Vec<String>,
    /// Its settings.
    pub(crate) transport: Transport,
}

/// The name of what a Linux host does unless told otherwise.
pub(crate) const DEFAULT: &str = "cubic";

/// The name of the bound.
pub(crate) const IDEAL: &str = "ideal";

/// Those that are compared only if they are named.
const ON_DEMAND: [&str; 8] = [
    "tahoe",
    "reno",
    "fack",
    "sack-iw32",
    "const-2",
    "linear-20",
    "mtsi-320k",
    "hybla-unpaced",
];

/// Those that are compared unless `--transport` says otherwise.
pub(crate) fn selection(path: &Path) -> Vec<Candidate> {
    of_note(path)
        .into_iter()
        .filter(|c| !ON_DEMAND.contains(&c.name.as_str()))
        .collect()
}

/// Those of these names; `all` stands for every one.
pub(crate) fn named(names: &[String], path: &Path) -> Result<Vec<Candidate>, Failure> {
    let all = all(path);
    let mut chosen: Vec<Candidate> = Vec::new();
    for name in names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()) {
        let found: Vec<&Candidate> = all
            .iter()
            .filter(|c| name == "all" || c.name == name)
            .collect();
        if found.is_empty() && name != IDEAL {
            return Err(unknown(name, &all));
        }
        for candidate in found {
            if !chosen.iter().any(|c| c.name == candidate.name) {
                chosen.push(candidate.clone());
            }
        }
    }
    if chosen.is_empty() {
        return Err(Failure::new("--transport names nothing to compare"));
    }
    Ok(chosen)
}

fn unknown(name: &str, all: &[Candidate]) -> Failure {
    let names = || all.iter().map(|c| c.name.as_str()).chain([IDEAL, "all"]);
    let hint = did_you_mean(name, names());
    let list: Vec<&str> = names().collect();
    Failure::new(format!(
        "there is no transport `{name}` to compare{hint}\n  known: {}",
        list.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::setup::tests::path;
    use super::*;

    #[test]
    fn every_transport_of_the_list_builds() {
        let mut fast = path();
        fast.rate = bentpipe_units::Rate::from_mbps(200);
        for path in [path(), fast] {
            let list = all(&path);
            for candidate in &list {
                assert!(
                    candidate.transport.controller().is_ok(),
                    "{}",
                    candidate.name
                );
                assert_eq!(list.iter().filter(|c| c.name == candidate.name).count(), 1);
                let switched = match candidate.reach {
                    Reach::Setting | Reach::Module => true,
                    // Some of these have a kernel congestion control.
                    Reach::Absent => continue,
                    Reach::Default | Reach::Reference => false,
                };
                assert_eq!(!candidate.switch.is_empty(), switched, "{}", candidate.name);
            }
            assert!(
                list.iter()
                    .any(|c| c.name == DEFAULT && c.reach == Reach::Default)
            );
            assert!(selection(&path).len() >= 12);
        }
    }

    #[test]
    fn names_are_looked_up_once_and_misspelt_ones_get_a_hint() {
        let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let chosen = named(&names("mtsi, cubic,mtsi,ideal"), &path()).unwrap();
        assert_eq!(
            chosen.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
            ["mtsi", "cubic"]
        );
        assert_eq!(
            named(&names("all"), &path()).unwrap().len(),
            all(&path()).len()
        );
        let Err(Failure::Message(message)) = named(&names("hyblla"), &path()) else {
            panic!("a misspelt name was accepted");
        };
        assert!(message.contains("did you mean `hybla`?"), "{message}");
        assert!(named(&names(" ,"), &path()).is_err());
    }
}
