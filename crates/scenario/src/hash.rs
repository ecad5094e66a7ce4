//! The hash that identifies a scenario.

mod canonical;

use crate::model::Scenario;
use bentpipe_units::Fnv128;
use canonical::Canonical;
use serde::Serialize;
use serde_json::Serializer;
use std::fmt;
use std::io::{self, Write};

/// Content hash of a scenario: 128 bits, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioHash(pub u128);

impl fmt::Display for ScenarioHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// FNV-1a with 128 bits, over text.
#[derive(Default)]
struct Fnv(Fnv128);

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Scenario {
    /// Hash of everything that can change what a run of the scenario does,
    /// the same on every machine: nodes, links, flows with their transports
    /// and routes, duration and limits. Name, description and seed do not
    /// count, so that replications share it.
    ///
    /// The hash is FNV-1a (128 bits) over [`Scenario::canonical_text`]. It
    /// changes when a version of the program adds a field to the model.
    #[must_use]
    pub fn hash(&self) -> ScenarioHash {
        let mut fnv = Fnv::default();
        // Writing into a hash cannot fail.
        let format = Canonical::default();
        let _ = self.serialize(&mut Serializer::with_formatter(&mut fnv, format));
        ScenarioHash(fnv.0.value())
    }

    /// The text that [`Scenario::hash`] is computed from, to see why two
    /// hashes differ: the model as JSON, its fields in the order of their
    /// declaration, quantities as whole numbers of their smallest unit,
    /// fractions by their bits.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = Vec::new();
        let format = Canonical::default();
        let _ = self.serialize(&mut Serializer::with_formatter(&mut text, format));
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_values_of_fnv_1a() {
        let hash = |text: &str| {
            let mut fnv = Fnv::default();
            let _ = fnv.write_all(text.as_bytes());
            ScenarioHash(fnv.0.value()).to_string()
        };
        assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
