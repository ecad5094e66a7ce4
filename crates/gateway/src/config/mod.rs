//! The configuration: plain values for every part, and the TOML file from which they are read.
//!
//! Each section is a file: its table (keys, meanings, defaults, declared once with
//! `bentpipe_document::table!`), the values that it becomes, and its checks.

mod entry;
mod hubs;
mod limits;
mod link;
mod net;
mod operate;
mod pair;
mod policy;
mod priority;
mod read;
mod role;
mod subscribers;
mod terminals;
mod udp;
mod wan;

pub use entry::{Intercept, Listener};
pub use hubs::HubAddress;
pub use limits::Limits;
pub use link::{Link, RateSource};
pub use net::{INTERFACE, Nets, Ports, Prefix, is_interface};
pub use operate::{Level, Log, Status, control_folder};
pub use pair::{HUB, Pair, TERMINAL};
pub use policy::Policy;
pub use priority::{Priority, Urgency};
pub use read::PORT;
pub use role::{Answer, Role, Tunnel, WhenDown};
pub use subscribers::{Class, Plan, Quota, Subscribers, WEIGHT};
pub use terminals::Terminal;
pub use udp::{Action, Udp, UdpRule};
pub use wan::{Bind, MOST_WANS, Wan};

use bentpipe_document::reading::Declared;
use bentpipe_document::schema::Section;
use bentpipe_document::{Context, Diagnostic, Diagnostics, Errors, Parsed, Placed, Reported};
use read::Reading;
use std::path::Path;

/// What `[link]` is called among several WANs.
pub const LINK: &str = "link";

/// The whole configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Its name: that of its file, without `.toml`.
    pub name: String,
    /// Where the box stands.
    pub role: Role,
    /// The satellite link, as this box sends into it.
    pub link: Link,
    /// Further WANs between the same boxes.
    pub wans: Vec<Wan>,
    /// The association with the other box; `None` for one box.
    pub tunnel: Option<Tunnel>,
    /// Interception of forwarded connections.
    pub intercept: Option<Intercept>,
    /// The SOCKS5 listener.
    pub socks: Option<Listener>,
    /// The HTTP CONNECT listener.
    pub connect: Option<Listener>,
    /// What this box may connect to on behalf of the other.
    pub policy: Policy,
    /// Which connections go first over the satellite.
    pub priority: Priority,
    /// Who shares the link.
    pub subscribers: Subscribers,
    /// A hub: what its terminals get of the link.
    pub terminals: Vec<Terminal>,
    /// What becomes of the clients' UDP.
    pub udp: Udp,
    /// Limits, beyond which connections bypass the gateway or are refused.
    pub limits: Limits,
    /// How the gateway shows itself.
    pub status: Status,
    /// What is logged, and how.
    pub log: Log,
}

bentpipe_document::table! {
    /// a configuration of the gateway
    pub(crate) Top at "", called "the configuration",
        example "role = \"terminal\"\n\n[link]\nrate = \"2 Mbit/s\"\n\n[tunnel]\naddress = \"203.0.113.7:4433\"\npeers = [\"bpk1...\"]\n\n[intercept]\ninterfaces = [\"lan0\"]";
    /// where the box stands: `single` alone; `terminal` on the users' side of the satellite, with a hub beyond it; `hub` on the Internet's side
    role: Role { all Role::WORDS }, required;
    /// the satellite link, as this box sends into it
    link: link::LinkTable, or "a link whose rate is measured";
    /// further WANs between the same two boxes
    wan: Vec<wan::WanTable>, or "the link is the only one";
    /// the association with the other box
    tunnel: role::TunnelTable, or "there is no other box";
    /// interception of the connections that this machine forwards
    intercept: entry::InterceptTable, or "nothing is intercepted";
    /// a SOCKS5 listener
    socks: entry::SocksTable, or "no listener";
    /// a listener for HTTP CONNECT
    connect: entry::ConnectTable, or "no listener";
    /// what this box may connect to on behalf of the other
    policy: policy::PolicyTable, or "its defaults";
    /// which connections go first over the satellite
    priority: priority::PriorityTable, or "small before bulk, all ports alike";
    /// who shares the link: each subscriber an equal part, for all of its connections
    subscribers: subscribers::SubscribersTable, or "each client's address";
    /// a hub: what its terminals get of the link
    terminal: Vec<terminals::TerminalTable>, or "the same for all";
    /// UDP: calls, DNS and QUIC, carried through the association or not
    udp: udp::UdpTable, or "at a terminal, it passes beside the gateway; a hub carries it";
    /// limits, beyond which new intercepted connections pass directly, SOCKS5 and CONNECT answer with an error, and a hub resets
    limits: limits::LimitsTable, or "its defaults";
    /// how the gateway shows itself
    status: operate::StatusTable, or "its defaults";
    /// what is logged
    log: operate::LogTable, or "its defaults";
}

/// The table of a whole configuration. All others are found from its keys.
#[must_use]
pub fn schema() -> &'static Section {
    Top::section()
}

/// The reference of the configuration, as Markdown: `docs/gateway-reference.md`.
#[must_use]
pub fn reference() -> String {
    let tables = bentpipe_document::reference::markdown(schema());
    format!("{INTRODUCTION}\n{tables}")
}

const INTRODUCTION: &str = "\
# The configuration of the gateway

Every table and key of a file for [`bentpipe gateway`](gateway.md), as `bentpipe gateway
schema` prints them; `--json` prints a JSON Schema, by which editors complete and check.
Paths start from the folder of the file.
";

impl Config {
    /// Reads a configuration. `path` names it in messages; relative paths in it
    /// start from the folder of `path`, and its name is that of the file.
    ///
    /// # Errors
    /// With everything that is wrong, each at its place.
    pub fn read(path: &Path, text: &str) -> Result<Config, Diagnostics> {
        let parsed = Parsed::new(&path.to_string_lossy(), text)?;
        let errors = Errors::new(parsed.origin.clone());
        let config = config(&parsed.table, path, &errors);
        errors.finish(config)
    }

    /// The name of a WAN by its number, 0 of `[link]`; `None` where that is the only one.
    #[must_use]
    pub fn wan_name(&self, number: usize) -> Option<&str> {
        let wan = number.checked_sub(1).map(|at| self.wans.get(at));
        match wan {
            None => (!self.wans.is_empty()).then_some(LINK),
            Some(wan) => wan.map(|wan| wan.name.as_str()),
        }
    }

    /// The link of the WAN with this name.
    #[must_use]
    pub fn link_of(&self, wan: Option<&str>) -> &Link {
        let found = self.wans.iter().find(|it| Some(it.name.as_str()) == wan);
        found.map_or(&self.link, |wan| &wan.link)
    }

    /// The same with a further WAN in place of the link.
    #[must_use]
    pub fn over(&self, wan: &Wan) -> Config {
        Config {
            link: wan.link.clone(),
            ..self.clone()
        }
    }

    /// Bytes that all connections may hold for sending over a link of the configured rate: sent over
    /// the satellite and not acknowledged. A part of `limits.memory`.
    #[must_use]
    pub fn held_for_sending(&self) -> u64 {
        let memory = self.limits.memory;
        let ahead = |rate| crate::tunnel::ahead(rate, self.link.rtt);
        self.link.configured().map_or(memory, ahead).min(memory)
    }
}

/// Reads a configuration from a text, as if it were `gateway.toml` in the working
/// folder: for tests and programs that make one.
///
/// # Errors
/// As [`Config::read`].
pub fn config_from_str(text: &str) -> Result<Config, Diagnostics> {
    Config::read(Path::new("gateway.toml"), text)
}

fn config(
    table: &bentpipe_document::Table,
    path: &Path,
    errors: &Errors,
) -> Result<Config, Reported> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = match stem {
        Some(stem) if stem != "-" => stem.into_owned(),
        _ => "gateway".to_owned(),
    };
    let top = Top::from_context(Context::top::<Top>(table, errors, "the configuration"));
    let reading = Reading {
        top: &top.context,
        folder: path.parent().unwrap_or(Path::new("")),
        name: &name,
    };
    let role = top.role?;
    let link = reading
        .or_defaults(top.link)
        .and_then(|table| link::read(&reading, role.value, table));
    // Sections are read one after the other, so that one pass finds what is wrong
    // in each.
    let tunnel = match &link {
        Ok(link) => role::read(&reading, role, link, top.tunnel),
        Err(reported) => Err(*reported),
    };
    let wans = match &tunnel {
        Ok(tunnel) => wan::read(role, tunnel.as_ref(), top.wan),
        Err(reported) => Err(*reported),
    };
    let terminals = match &tunnel {
        Ok(tunnel) => terminals::read(role, tunnel.as_ref(), top.terminal),
        Err(reported) => Err(*reported),
    };
    let intercept = entry::intercept(top.intercept);
    let socks = entry::socks(&reading, top.socks);
    let connect = entry::connect(&reading, top.connect);
    let policy = reading.or_defaults(top.policy).and_then(policy::read);
    let priority = reading.or_defaults(top.priority).and_then(priority::read);
    let subscribers = reading
        .or_defaults(top.subscribers)
        .and_then(|table| subscribers::read(role, table));
    // One that is wrong is reported on its own.
    let has_udp = !matches!((&intercept, &socks), (Ok(None), Ok(None)));
    let udp = udp::read(role, has_udp, top.udp);
    let limits = reading.or_defaults(top.limits).and_then(limits::read);
    let status = reading
        .or_defaults(top.status)
        .and_then(|table| operate::status(&reading, table));
    let log = reading
        .or_defaults(top.log)
        .and_then(|table| operate::log(&reading, table));
    let config = Config {
        name: name.clone(),
        role: role.value,
        link: link?,
        wans: wans?,
        tunnel: tunnel?,
        intercept: intercept?,
        socks: socks?,
        connect: connect?,
        policy: policy?,
        priority: priority?,
        subscribers: subscribers?,
        terminals: terminals?,
        udp: udp?,
        limits: limits?,
        status: status?,
        log: log?,
    };
    check_ways_in(&reading, role, &config)?;
    Ok(config)
}

/// Connections must be able to reach a box on the users' side.
fn check_ways_in(
    reading: &Reading<'_>,
    role: Placed<Role>,
    config: &Config,
) -> Result<(), Reported> {
    let none = config.intercept.is_none() && config.socks.is_none() && config.connect.is_none();
    if role.value != Role::Hub && none {
        let message = format!("no connection can reach this {}", role.value.word());
        let error = Diagnostic::new(role.place, message)
            .label("this role needs a way in")
            .help("`[intercept]` takes what this machine forwards (needs root)")
            .help("`[socks]` and `[connect]` listen for clients that ask (need no root)");
        return Err(reading.top.report(error));
    }
    if role.value == Role::Single && config.intercept.is_none() {
        let error = Diagnostic::new(role.place, "one box needs `[intercept]`")
            .label("this role stands in the path of connections");
        return Err(reading.top.report(error));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
