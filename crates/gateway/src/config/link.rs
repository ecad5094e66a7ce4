//! The satellite link, as this box sends into it.

use super::net::Interfaces;
use super::read::{self, Reading};
use super::role::Role;
use bentpipe_document::schema::{Kind, SPAN, integer};
use bentpipe_document::{Diagnostic, Reported};
use bentpipe_units::{Duration as Span, Rate};
use std::path::PathBuf;
use std::time::Duration;

/// Where the rate of the link is known from.
#[derive(Clone, Debug, PartialEq)]
pub enum RateSource {
    /// It is fixed.
    Fixed(Rate),
    /// A file holds it, such as `18.5 Mbit/s`; it is read again when it changes.
    File {
        /// The file.
        path: PathBuf,
        /// The rate before the file can be read.
        first: Rate,
    },
    /// It is measured.
    Measured,
}

/// The satellite link, as this box sends into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Rate at which this box may send, IP packets and all.
    pub rate: RateSource,
    /// Round trip without queues; it sizes buffers before it is measured.
    pub rtt: Duration,
    /// The transport over the satellite, by its name in `cc`, such as
    /// `complete-knowledge`, `hybla` or `bbr`; in one box a control of the kernel,
    /// such as `bp_hybla`.
    pub transport: String,
    /// The network interfaces that lead to the satellite.
    pub interfaces: Vec<String>,
    /// The largest IP packet that the path between the two boxes carries, bytes.
    pub packet: u16,
}

/// The rate that buffers are sized by where none is configured.
const ASSUMED: Rate = Rate::from_mbps(50);

impl Link {
    /// The rate that is configured, if one is.
    #[must_use]
    pub const fn configured(&self) -> Option<Rate> {
        match &self.rate {
            RateSource::Fixed(rate) | RateSource::File { first: rate, .. } => Some(*rate),
            RateSource::Measured => None,
        }
    }

    /// Product of rate and round trip, bytes.
    #[must_use]
    pub fn product(&self) -> u64 {
        let rate = self.configured().unwrap_or(ASSUMED);
        rate.bytes_in(Span::from_nanos(
            u64::try_from(self.rtt.as_nanos()).unwrap_or(u64::MAX),
        ))
        .get()
    }
}

bentpipe_document::table! {
    /// the satellite link, as this box sends into it
    pub(super) LinkTable at "link", called "the link of",
        example "[link]\nrate = \"20 Mbit/s\"\nrtt = \"550 ms\"";
    /// the rate at which this box may send into the link, headers of IP included; with `rate_file`, the rate until the file can be read
    rate: Rate, or "measured";
    /// a file that holds the rate, such as `18.5 Mbit/s`, which the modem or a script rewrites when the rate changes
    rate_file: String [Kind::File], or "`rate` holds";
    /// the round trip over the link without queues; it sizes buffers
    rtt: Span [SPAN], default "600 ms";
    /// the transport over the satellite: in two boxes one of `bentpipe transports`, or `complete-knowledge`; in one box a congestion control of the kernel
    transport: String [Kind::Name("transport")], or "`complete-knowledge` in two boxes, `bp_hybla` in one";
    /// the network interfaces that lead to the satellite
    interfaces: Interfaces, or "those of the routes to the other box";
    /// the largest IP packet that the path between the two boxes carries (its MTU), bytes; a path that turns out to carry less is noticed after some losses
    packet: u64 [integer(1280, 9000)], default 1500;
}

/// The section.
pub(super) fn read(reading: &Reading<'_>, role: Role, table: LinkTable) -> Result<Link, Reported> {
    let context = table.context.clone();
    let rate = table.rate?.map(|rate| rate.value);
    let rate = match (table.rate_file?, rate) {
        (Some(file), Some(first)) => RateSource::File {
            path: reading.path(&file.value),
            first,
        },
        (Some(file), None) => {
            let error = Diagnostic::new(file.key, "`rate_file` needs `rate`")
                .label("the rate until this file can be read")
                .help("add `rate`, such as the lowest that the link is sold with");
            return Err(context.report(error));
        }
        (None, Some(rate)) => RateSource::Fixed(rate),
        (None, None) => RateSource::Measured,
    };
    let transport = match table.transport? {
        Some(name) => name.value,
        None if role == Role::Single => "bp_hybla".to_owned(),
        None => "complete-knowledge".to_owned(),
    };
    Ok(Link {
        rate,
        rtt: read::time(table.rtt?.value),
        transport,
        interfaces: table
            .interfaces?
            .map_or_else(Vec::new, |names| names.value.0),
        packet: u16::try_from(table.packet?.value).unwrap_or(1500),
    })
}
