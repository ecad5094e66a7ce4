//! What makes two runs the same scenario.

mod boxes;
mod flows;
mod links;
mod media;
mod queues;
mod transports;

use crate::model::{Limits, Node, Scenario, Stranded};
use bentpipe_tcp::Transport;
use boxes::{write_middlebox, write_pep};
use flows::write_flow;
use links::write_link;
use media::write_medium;
use std::fmt::{self, Write};
use transports::write_transport;

/// Content hash of a scenario: 128 bits, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioHash(pub u128);

impl fmt::Display for ScenarioHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Where FNV-1a with 128 bits starts.
const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// FNV-1a with 128 bits, over text.
struct Fnv(u128);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 ^= u128::from(byte);
            self.0 = self
                .0
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
        }
        Ok(())
    }
}

impl Scenario {
    /// Hash of everything that can change what a run of the scenario does,
    /// the same on every machine: nodes, links, flows with their transports
    /// and routes, duration and limits. Name, description and seed do not
    /// count, so that replications share it.
    ///
    /// The hash is FNV-1a (128 bits) over a canonical text: fields in a fixed
    /// order, quantities as whole numbers, fractions by their bits. It changes
    /// when a version of the program adds a field.
    #[must_use]
    pub fn hash(&self) -> ScenarioHash {
        let mut fnv = Fnv(OFFSET_BASIS);
        // Writing into a hash cannot fail.
        let _ = write_scenario(&mut fnv, self);
        ScenarioHash(fnv.0)
    }

    /// The text that [`Scenario::hash`] is computed from, to see why two
    /// hashes differ.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = String::new();
        let _ = write_scenario(&mut text, self);
        text
    }
}

// Every function below takes its value apart completely: a field that is added
// to the model must be added here, or this file does not compile.

fn write_scenario(w: &mut impl Write, scenario: &Scenario) -> fmt::Result {
    let Scenario {
        name: _,
        description: _,
        duration,
        seed: _,
        nodes,
        links,
        media,
        flows,
        stranded,
        middleboxes,
        peps,
        limits,
    } = scenario;
    let Limits { events, packets } = limits;
    writeln!(
        w,
        "scenario 1 duration={} events={events} packets={packets}",
        duration.as_nanos()
    )?;
    // A scenario in which it makes no difference keeps its hash.
    if *stranded == Stranded::Rerouted {
        writeln!(w, "stranded packets are rerouted")?;
    }
    for Node { name } in nodes {
        writeln!(w, "node {name:?}")?;
    }
    for link in links {
        write_link(w, link)?;
    }
    for medium in media {
        write_medium(w, medium)?;
    }
    let mut last: Option<&Transport> = None;
    for flow in flows {
        write_flow(w, flow)?;
        match &flow.transport {
            None => writeln!(w, " datagrams")?,
            Some(transport) if last == Some(transport) => writeln!(w, " same")?,
            Some(transport) => write_transport(w, transport)?,
        }
        last = flow.transport.as_ref();
    }
    middleboxes.iter().try_for_each(|b| write_middlebox(w, b))?;
    peps.iter().try_for_each(|p| write_pep(w, p))
}

/// A fraction, exactly.
struct Bits(f64);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The two zeros are the same number.
        let x = if self.0 == 0.0 { 0.0 } else { self.0 };
        write!(f, "{:x}", f64::to_bits(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_values_of_fnv_1a() {
        let hash = |text: &str| {
            let mut fnv = Fnv(OFFSET_BASIS);
            let _ = fnv.write_str(text);
            ScenarioHash(fnv.0).to_string()
        };
        assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
