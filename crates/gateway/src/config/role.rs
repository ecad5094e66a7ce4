//! The role of the box, and how it reaches the other one.

use super::hubs::{HubAddress, HubAddresses};
use super::link::Link;
use super::read::{self, PORT, Reading};
use bentpipe_document::schema::{Kind, SPAN};
use bentpipe_document::{Context, Diagnostic, OptionalField, Placed, Reported};
use bentpipe_units::{Bytes, Duration as Span};
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Where the box stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One box: kernel TCP on both sides.
    Single,
    /// On the users' side of the satellite, with a hub beyond it.
    Terminal,
    /// On the Internet's side of the satellite: it serves terminals.
    Hub,
}

impl Role {
    /// The words of the file.
    pub const WORDS: [(&'static str, Role); 3] = [
        ("single", Role::Single),
        ("terminal", Role::Terminal),
        ("hub", Role::Hub),
    ];

    /// As the file writes it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Role::Single => "single",
            Role::Terminal => "terminal",
            Role::Hub => "hub",
        }
    }
}

/// What becomes of new connections while the other box does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WhenDown {
    /// They pass directly, without the gateway.
    #[default]
    Open,
    /// They are refused.
    Closed,
}

/// When a client of SOCKS or CONNECT is told that its connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Answer {
    /// At once: a connection costs no round trip, and a refusal is a reset.
    Early,
    /// When the server has answered: it costs a round trip, and a refusal is a
    /// refusal.
    #[default]
    Confirmed,
}

/// The association with the other box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Hub: where it listens (UDP, and TCP for the fallback). Terminal: any.
    pub listen: SocketAddr,
    /// Terminal: where its hubs are, the preferred one first. Hub: empty.
    pub hubs: Vec<HubAddress>,
    /// Terminal: how long a preferred hub must have answered before new connections go back to it.
    pub return_after: Duration,
    /// File of this box's private key.
    pub key: PathBuf,
    /// Public keys of the boxes that it talks to, as `bentpipe gateway keys`
    /// prints them.
    pub peers: Vec<String>,
    /// Longest time without a packet from the other box in which connections are
    /// kept.
    pub outage: Duration,
    /// What becomes of new connections while the other box does not answer.
    pub when_down: WhenDown,
    /// Bytes that a connection may have under way to this box.
    pub stream_window: u64,
    /// Whether repairs protect what is sent last, where loss is seen.
    pub coding: bool,
    /// Whether TLS over TCP replaces the association where UDP does not pass.
    pub fallback: bool,
    /// Congestion control of the kernel for the fallback, where the kernel has it.
    pub fallback_control: String,
}

bentpipe_document::table! {
    /// the association of the two boxes: one QUIC connection over the satellite, on which each box knows the other by its key
    pub(super) TunnelTable at "tunnel", called "the tunnel of",
        example "[tunnel]\naddress = \"203.0.113.7:4433\"\npeers = [\"bpk1...\"]";
    /// a terminal: where its hub is, or its hubs in order of preference, each a box of its own; new connections go to the first that answers, over QUIC before TLS. The addresses of a name are looked up at each attempt, and all are tried. A hub: where it listens, on UDP and, for the fallback, on TCP
    address: HubAddresses, or "`[::]:4433` at a hub; a terminal needs one";
    /// how long a hub must have answered without a break before new connections go back to it from one that comes later in `address`
    return_after: Span [SPAN], default "30 s";
    /// the file with this box's private key, which `bentpipe gateway keys` writes
    key: String [Kind::File], or "the name of this file, with `.key` instead of `.toml`";
    /// the public keys of the boxes that it talks to, as `bentpipe gateway keys` prints them there: a terminal's hubs, each of which may be reached at any `address`; a hub's terminals
    peers: Vec<String> [Kind::Names("box, by its public key")], required;
    /// how long connections are kept while nothing arrives from the other box
    outage: Span [SPAN], default "10 min";
    /// what becomes of new connections while the other box does not answer: they pass directly, or they are refused
    when_down: WhenDown { "open" => WhenDown::Open, "closed" => WhenDown::Closed }, default "open";
    /// how many bytes one connection may have under way to this box
    stream_window: Bytes [Kind::Size { min: 65_536, max: 1 << 30 }], or "twice the product of the link's rate and round trip, at least 4 MB";
    /// whether the boxes send repairs after the last packets before a pause, where packets are lost at random: a small transfer then seldom waits a round trip for one. Both boxes must want it
    coding: bool, default true;
    /// whether each connection gets a TLS connection of its own, over TCP, where UDP is blocked
    fallback: bool, default true;
    /// the kernel's congestion control for those connections; its default where it has none of this name
    fallback_control: String [Kind::Name("congestion control of the kernel")], default "bp_hybla";
}

/// The section, which both roles of two boxes need.
pub(super) fn read(
    reading: &Reading<'_>,
    role: Placed<Role>,
    link: &Link,
    table: OptionalField<TunnelTable>,
) -> Result<Option<Tunnel>, Reported> {
    let Some(table) = table? else {
        return match role.value {
            Role::Single => Ok(None),
            Role::Terminal | Role::Hub => {
                let message = format!("a {} needs `[tunnel]`", role.value.word());
                let error = Diagnostic::new(role.place, message)
                    .label("this role has another box to talk to")
                    .help("`[tunnel]` says where that box is and which key it has");
                Err(reading.top.report(error))
            }
        };
    };
    let (key_place, table) = (table.key, table.value);
    let context = table.context.clone();
    if role.value == Role::Single {
        let error = Diagnostic::new(key_place, "one box has no tunnel")
            .label("remove this section")
            .related(role.place, "this role has no other box");
        return Err(context.report(error));
    }
    let addresses = match table.address? {
        Some(addresses) => Some(check_addresses(&context, role.value, addresses)?),
        None if role.value == Role::Hub => None,
        None => return Err(context.missing("address")),
    };
    let any = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), PORT);
    let (listen, hubs) = match (role.value, addresses) {
        (Role::Hub, Some(one)) => (one.first().and_then(HubAddress::address), Vec::new()),
        (_, hubs) => (None, hubs.unwrap_or_default()),
    };
    let key = match table.key? {
        Some(path) => reading.path(&path.value),
        None => reading.path(&format!("{}.key", reading.name)),
    };
    let peers = table.peers?;
    if peers.value.is_empty() {
        let error = Diagnostic::new(peers.place, "`peers` is empty")
            .label("expected what `bentpipe gateway keys` prints at the other box");
        return Err(context.report(error));
    }
    Ok(Some(Tunnel {
        listen: listen.unwrap_or(any),
        hubs,
        return_after: read::time(table.return_after?.value),
        key,
        peers: peers.value,
        outage: read::time(table.outage?.value),
        when_down: table.when_down?.value,
        stream_window: match table.stream_window? {
            Some(window) => window.value.get(),
            None => (2 * link.product()).max(4_000_000),
        },
        coding: table.coding?.value,
        fallback: table.fallback?.value,
        fallback_control: table.fallback_control?.value,
    }))
}

/// Most hubs of a terminal: it keeps an association with each.
const MOST_HUBS: usize = 8;

/// The addresses, as the role can use them.
fn check_addresses(
    context: &Context,
    role: Role,
    addresses: Placed<HubAddresses>,
) -> Result<Vec<HubAddress>, Reported> {
    let (place, addresses) = (addresses.place, addresses.value.0);
    let wrong = |message: String, label: &str| {
        Err(context.report(Diagnostic::new(place, message).label(label)))
    };
    if addresses.is_empty() {
        return wrong("`address` is empty".to_owned(), "expected at least one");
    }
    if role == Role::Hub {
        if addresses.len() > 1 {
            return wrong(
                "a hub listens at one address".to_owned(),
                "`[::]` is all of its addresses",
            );
        }
        if let Some(name) = addresses.first().and_then(HubAddress::name) {
            let message = format!("a hub listens at an address of its own, and `{name}` is a name");
            return wrong(message, "`[::]` is all of its addresses");
        }
        return Ok(addresses);
    }
    if addresses.len() > MOST_HUBS {
        let message = format!(
            "a terminal has {MOST_HUBS} hubs at most, and these are {}",
            addresses.len()
        );
        return wrong(message, "it keeps an association with each");
    }
    for (at, hub) in addresses.iter().enumerate() {
        if addresses[..at].contains(hub) {
            return wrong(format!("`{hub}` is listed twice"), "each hub once");
        }
        if hub
            .address()
            .is_some_and(|address| address.ip().is_unspecified())
        {
            return wrong(
                format!("`{hub}` is not the address of a hub"),
                "expected where it is reached",
            );
        }
    }
    Ok(addresses)
}
