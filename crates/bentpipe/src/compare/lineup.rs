//! The transports that are compared: what each one is and how it is switched
//! on.

use super::entries::{all, of_note};
use super::path::NetworkPath;
use crate::Error;
use crate::own::OwnControl;
use bentpipe_cc::nearest;
use bentpipe_tcp::Transport;

/// How far a transport is from being used, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Availability {
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

impl Availability {
    /// One word for tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Availability::Default => "default",
            Availability::Setting => "setting",
            Availability::Module => "in Linux",
            Availability::Absent => "not in Linux",
            Availability::Reference => "reference",
        }
    }
}

/// One transport of the comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    /// As `--transport` takes it and tables show it.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// How far it is from being used.
    pub availability: Availability,
    /// Commands and calls that switch it on, at the sender; empty where none
    /// can.
    pub switch: Vec<String>,
    /// Its settings.
    pub transport: Transport,
    /// A congestion control of the program that takes the place of the
    /// transport's.
    pub(crate) own: Option<OwnControl>,
}

/// The name of what a Linux host does unless told otherwise.
pub const DEFAULT: &str = "cubic";

/// The name of the bound.
pub const IDEAL: &str = "ideal";

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
pub(super) fn selection(path: &NetworkPath) -> Vec<Candidate> {
    of_note(path)
        .into_iter()
        .filter(|c| !ON_DEMAND.contains(&c.name.as_str()))
        .collect()
}

/// Those of these names; `all` stands for every one.
pub(super) fn named(names: &[String], path: &NetworkPath) -> Result<Vec<Candidate>, Error> {
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
        return Err(Error::setting("transport", "names nothing to compare"));
    }
    Ok(chosen)
}

fn unknown(name: &str, all: &[Candidate]) -> Error {
    let names = || all.iter().map(|c| c.name.as_str()).chain([IDEAL, "all"]);
    Error::UnknownTransport {
        name: name.to_owned(),
        nearest: nearest(name, names()).map(str::to_owned),
        known: names().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::tests::path;
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
                let switched = match candidate.availability {
                    Availability::Setting | Availability::Module => true,
                    // Some of these have a kernel congestion control.
                    Availability::Absent => continue,
                    Availability::Default | Availability::Reference => false,
                };
                assert_eq!(!candidate.switch.is_empty(), switched, "{}", candidate.name);
            }
            assert!(
                list.iter()
                    .any(|c| c.name == DEFAULT && c.availability == Availability::Default)
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
        let message = named(&names("hyblla"), &path()).unwrap_err().to_string();
        assert!(message.contains("did you mean `hybla`?"), "{message}");
        assert!(named(&names(" ,"), &path()).is_err());
    }
}
