//! The satellite link, as this box sends into it.

use super::net::Interfaces;
use super::read::{self, Reading};
use super::role::Role;
use super::wan::Bind;
use bentpipe_document::schema::{Kind, SPAN, integer};
use bentpipe_document::{Diagnostic, Reported};
use bentpipe_units::{Duration as Span, Rate, Ratio};
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
    /// Share of the rate that is left to other traffic; zero where the rate is measured.
    pub reserve: Ratio,
    /// Share of the rate that is left to other traffic as far as it is there.
    pub beside: Ratio,
    /// Round trip without queues; it sizes buffers before it is measured.
    pub rtt: Duration,
    /// The transport over the satellite, by its name in `cc`, such as
    /// `complete-knowledge`, `hybla` or `bbr`; in one box a control of the kernel,
    /// such as `bp_hybla`.
    pub transport: String,
    /// The network interfaces that lead to the satellite.
    pub interfaces: Vec<String>,
    /// Terminal: where packets to the hub leave; `None`: as they are routed.
    pub bind: Option<Bind>,
    /// The largest IP packet that the path between the two boxes carries, bytes.
    pub packet: u16,
}

/// The rate that buffers are sized by where none is configured.
const ASSUMED: Rate = Rate::from_mbps(50);

/// Largest reserve. An association that carries less than half of the rate while data waits is
/// suspected to be throttled.
const MOST_RESERVED: f64 = 0.4;
/// Largest share of what passes beside the tunnel.
const MOST_BESIDE: f64 = 0.9;

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
    /// the share of the rate that is left to what does not pass through the tunnel, such as calls, QUIC and VPNs, which otherwise wait behind it or are lost; at most 40%, in two boxes, and each reserves for the direction in which it sends
    reserve: Ratio, or "0: the gateway uses all of the rate";
    /// the share of the rate, at most, that is left to what leaves beside the tunnel through `interfaces`, as far as there is any: it is counted ten times a second, and the tunnel gives way
    beside: Ratio, or "0: the gateway does not look";
    /// the round trip over the link without queues; it sizes buffers
    rtt: Span [SPAN], default "600 ms";
    /// the transport over the satellite: in two boxes one of `bentpipe transports`, or `complete-knowledge`; in one box a congestion control of the kernel
    transport: String [Kind::Name("transport")], or "`complete-knowledge` in two boxes, `bp_hybla` in one";
    /// the network interfaces that lead to the satellite
    interfaces: Interfaces, or "those of the routes to the other box";
    /// a terminal with several WANs: the interface by which packets to the hub leave over this one, or the address of this box from which they do
    bind: Bind, or "as they are routed";
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
    let reserve = match table.reserve? {
        None => Ratio::ZERO,
        Some(reserve) => {
            let wrong = if role == Role::Single {
                Some("one box does not keep a rate: the kernel sends, at what it measures")
            } else if rate == RateSource::Measured {
                Some("a share needs a rate: add `rate`")
            } else if reserve.value.get() > MOST_RESERVED {
                Some("at most 40%: with less than half of the rate the link seems to be throttled")
            } else {
                None
            };
            if let Some(label) = wrong {
                let error = Diagnostic::new(reserve.place, "`reserve` cannot be kept");
                return Err(context.report(error.label(label)));
            }
            reserve.value
        }
    };
    let interfaces = read::or_default(table.interfaces)?.0;
    let beside = match table.beside? {
        None => Ratio::ZERO,
        Some(beside) => {
            let wrong = if role == Role::Single {
                Some("one box does not keep a rate: the kernel sends, at what it measures")
            } else if rate == RateSource::Measured {
                Some("a share needs a rate: add `rate`")
            } else if interfaces.is_empty() {
                Some("say where it is counted: add `interfaces`, those to the satellite alone")
            } else if beside.value.get() > MOST_BESIDE {
                Some("at most 90%")
            } else {
                None
            };
            if let Some(label) = wrong {
                let error = Diagnostic::new(beside.place, "`beside` cannot be kept");
                return Err(context.report(error.label(label)));
            }
            beside.value
        }
    };
    let bind = table.bind?;
    if let Some(bind) = bind.as_ref().filter(|_| role != Role::Terminal) {
        let error = Diagnostic::new(
            bind.place,
            "only a terminal chooses where its packets leave",
        )
        .label("remove it here");
        return Err(context.report(error));
    }
    let transport = match table.transport? {
        Some(name) => name.value,
        None if role == Role::Single => "bp_hybla".to_owned(),
        None => "complete-knowledge".to_owned(),
    };
    Ok(Link {
        rate,
        reserve,
        beside,
        rtt: read::time(table.rtt?.value),
        transport,
        interfaces,
        bind: bind.map(|bind| bind.value),
        packet: u16::try_from(table.packet?.value).unwrap_or(1500),
    })
}
