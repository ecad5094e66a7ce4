//! Further WANs between the same two boxes: satellite and 5G, or two satellites.

use super::link::{Link, RateSource};
use super::net::{INTERFACE, is_interface};
use super::read;
use super::role::{Role, Tunnel};
use bentpipe_document::reading::{Given, Read};
use bentpipe_document::schema::{Kind, SPAN, integer};
use bentpipe_document::tree::Value;
use bentpipe_document::{Diagnostic, OptionalField, Placed, Problem, Reported};
use bentpipe_units::{Duration as Span, Rate, Ratio};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Where packets to the hub leave this box.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Bind {
    /// By this network interface, whatever the routes say.
    Interface(String),
    /// From this address of the box, by which its rules of routing tell them.
    Address(IpAddr),
}

/// What it looks like.
const BIND: &str = "the name of an interface, such as `wwan0`, or an address of this box";

impl FromStr for Bind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Bind, Problem> {
        if let Ok(address) = text.parse() {
            return Ok(Bind::Address(address));
        }
        match is_interface(text) {
            true => Ok(Bind::Interface(text.to_owned())),
            false => Err(Problem::new(format!("`{text}` is neither"), BIND)),
        }
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bind::Interface(name) => f.write_str(name),
            Bind::Address(address) => address.fmt(f),
        }
    }
}

impl Read for Bind {
    const KIND: Kind = Kind::Form(BIND);

    fn read(given: Given<'_>, _: &Kind) -> Result<Bind, Reported> {
        let item = &given.entry.item;
        let read = match &item.value {
            Value::Text(text) => text.parse(),
            other => Err(Problem::new(other.kind(), BIND)),
        };
        read.map_err(|problem: Problem| given.report(problem.at(item.place, &given.entry.key)))
    }
}

/// A further WAN: it has an association of its own with each hub.
#[derive(Clone, Debug, PartialEq)]
pub struct Wan {
    /// Its name in logs and status.
    pub name: String,
    /// The port of the hub for it, UDP and TCP.
    pub port: u16,
    /// The link, as this box sends into it.
    pub link: Link,
}

bentpipe_document::table! {
    /// a further WAN between the same boxes, beside `[link]`: satellite and 5G, or two satellites. Connections are bonded: each uses all WANs that bring it further, and goes on over the others when one fails. Each box has a section for it, with the same port
    pub(super) WanTable at "wan", called "a WAN of",
        example "[[wan]]\nname = \"5g\"\nport = 4434\nbind = \"wwan0\"\nrtt = \"60 ms\"";
    /// its name in logs and status
    name: String, required;
    /// the port of the hub for it, on UDP and, for the fallback, on TCP: by it the hub knows the WAN
    port: u64 [integer(1, 65_535)], required;
    /// a terminal: the interface by which packets to the hub leave over it, or the address of this box from which they do
    bind: Bind, or "as they are routed";
    /// the rate at which this box may send into it, headers of IP included
    rate: Rate, or "measured";
    /// its round trip without queues
    rtt: Span [SPAN], default "100 ms";
    /// the transport over it: one of `bentpipe transports`, or `complete-knowledge`
    transport: String [Kind::Name("transport")], or "`complete-knowledge` with a rate, `bbr` without";
    /// the largest IP packet that it carries (its MTU), bytes
    packet: u64 [integer(1280, 9000)], default 1500;
}

/// Most WANs besides the link: a connection has a subflow on each.
pub const MOST_WANS: usize = 3;

/// The sections.
pub(super) fn read(
    role: Placed<Role>,
    tunnel: Option<&Tunnel>,
    tables: OptionalField<Vec<WanTable>>,
) -> Result<Vec<Wan>, Reported> {
    let Some(tables) = tables? else {
        return Ok(Vec::new());
    };
    let mut wans: Vec<Wan> = Vec::new();
    for table in tables.value {
        let context = table.context.clone();
        let name = table.name?;
        let wrong = |place, what: String, label: &str| {
            Err(context.report(Diagnostic::new(place, what).label(label)))
        };
        if role.value == Role::Single {
            return wrong(
                name.place,
                "one box has no WANs to bond".to_owned(),
                "the other end of each is a hub",
            );
        }
        if wans.len() == MOST_WANS {
            let what = format!("more than {MOST_WANS} WANs besides the link");
            return wrong(name.place, what, "each connection has a subflow on each");
        }
        if !is_interface(&name.value) {
            let what = format!("{:?} is no name of a WAN", name.value);
            return wrong(name.place, what, &format!("expected {INTERFACE}"));
        }
        if name.value == super::LINK || wans.iter().any(|wan| wan.name == name.value) {
            let what = format!("`{}` is the name of another WAN", name.value);
            return wrong(name.place, what, "expected a name of its own");
        }
        let port = table.port?;
        let hubs = tunnel.map_or(&[][..], |tunnel| &tunnel.hubs);
        let mut others = hubs.iter().enumerate();
        if others.any(|(at, hub)| hubs[..at].iter().any(|it| it.is_beside(hub))) {
            let what = "two hubs of `address` are at one host".to_owned();
            return wrong(
                port.place,
                what,
                "this port of that host can be one hub's only",
            );
        }
        let number = u16::try_from(port.value).unwrap_or(u16::MAX);
        let main = tunnel.iter().flat_map(|tunnel| {
            let hubs = tunnel.hubs.iter().map(super::HubAddress::port);
            hubs.chain((role.value == Role::Hub).then_some(tunnel.listen.port()))
        });
        let mut taken = main.chain(wans.iter().map(|wan| wan.port));
        if taken.any(|other| other == number) {
            let what = format!("port {number} is another WAN's");
            return wrong(
                port.place,
                what,
                "each WAN has a port of its own at the hub",
            );
        }
        let bind = table.bind?;
        if let Some(bind) = bind.as_ref().filter(|_| role.value == Role::Hub) {
            return wrong(
                bind.place,
                "a hub answers where its terminals ask".to_owned(),
                "remove it here",
            );
        }
        let rate = table.rate?.map(|rate| rate.value);
        let transport = match (table.transport?, rate) {
            (Some(name), _) => name.value,
            (None, Some(_)) => "complete-knowledge".to_owned(),
            (None, None) => "bbr".to_owned(),
        };
        wans.push(Wan {
            name: name.value,
            port: number,
            link: Link {
                rate: rate.map_or(RateSource::Measured, RateSource::Fixed),
                reserve: Ratio::ZERO,
                beside: Ratio::ZERO,
                rtt: read::time(table.rtt?.value),
                transport,
                interfaces: Vec::new(),
                bind: bind.map(|bind| bind.value),
                packet: u16::try_from(table.packet?.value).unwrap_or(1500),
            },
        });
    }
    Ok(wans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;
    use std::time::Duration;

    const SHIP: &str = "role = \"terminal\"\n[link]\nrate = \"10 Mbit/s\"\n[tunnel]\n\
                        address = \"192.0.2.7\"\npeers = [\"k\"]\n[socks]\n";
    const FIVE: &str = "[[wan]]\nname = \"5g\"\nport = 4434\n";

    #[test]
    fn a_wan_is_a_link_with_a_port() {
        let text = format!(
            "{SHIP}{FIVE}bind = \"wwan0\"\n[[wan]]\nname = \"leo\"\nport = 4435\n\
                            rate = \"50 Mbit/s\"\nbind = \"192.0.2.9\"\n"
        );
        let wans = config_from_str(&text).unwrap().wans;
        assert_eq!(wans[0].link.bind, Some(Bind::Interface("wwan0".to_owned())));
        assert_eq!(wans[0].link.transport, "bbr");
        assert_eq!(wans[0].link.rtt, Duration::from_millis(100));
        assert_eq!(wans[1].link.configured(), Some(Rate::from_mbps(50)));
        assert_eq!(wans[1].link.transport, "complete-knowledge");
        assert!(matches!(wans[1].link.bind, Some(Bind::Address(_))));
        assert!(config_from_str(SHIP).unwrap().wans.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_place() {
        let hub = "role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n";
        let single = "role = \"single\"\n[intercept]\n";
        let four = (5..9).map(|n| format!("[[wan]]\nname = \"{n}\"\nport = {n}\n"));
        let four = four.collect::<String>();
        for (text, keys, why) in [
            (
                SHIP,
                &format!("{FIVE}{FIVE}")[..],
                "the name of another WAN",
            ),
            (
                SHIP,
                &FIVE.replace("4434", "4433"),
                "port 4433 is another WAN's",
            ),
            (
                hub,
                &FIVE.replace("4434", "4433"),
                "port 4433 is another WAN's",
            ),
            (
                hub,
                &format!("{FIVE}bind = \"eth0\"\n"),
                "a hub answers where",
            ),
            (single, FIVE, "one box has no WANs"),
            (SHIP, &four, "more than 3 WANs"),
            (SHIP, &format!("{FIVE}bind = \"a b\"\n"), "is neither"),
            (SHIP, "[[wan]]\nname = \"5g\"\n", "port"),
            (SHIP, &FIVE.replace("5g", "5 g"), "is no name of a WAN"),
            (SHIP, &FIVE.replace("5g", "link"), "the name of another WAN"),
            (
                &SHIP.replace("\"192.0.2.7\"", "[\"192.0.2.7\", \"192.0.2.7:5533\"]"),
                FIVE,
                "two hubs of `address` are at one host",
            ),
        ] {
            let errors = config_from_str(&format!("{text}{keys}")).unwrap_err();
            assert!(errors.to_string().contains(why), "{errors}");
        }
    }
}
