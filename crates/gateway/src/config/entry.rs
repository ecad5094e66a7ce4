//! How connections reach the gateway: interception, SOCKS5, HTTP CONNECT.

use super::net::{Interfaces, Nets, Ports};
use super::read::{self, ADDRESS, Reading};
use super::role::Answer;
use bentpipe_document::schema::{Kind, integer};
use bentpipe_document::{OptionalField, Reported};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Interception of TCP connections that the box forwards (nftables TPROXY).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intercept {
    /// Interfaces at which connections arrive; empty: all but the satellite's.
    pub interfaces: Vec<String>,
    /// Nets of clients; empty: all.
    pub from: Nets,
    /// Nets of servers; empty: all.
    pub to: Nets,
    /// Nets, of clients or servers, whose connections pass untouched.
    pub except: Nets,
    /// Ports of servers; empty: all.
    pub ports: Ports,
    /// Ports of servers to which connections pass untouched.
    pub except_ports: Ports,
    /// True if servers see the client's address, not the box's.
    pub keep_source: bool,
    /// Port of the intercepting socket, which only this machine uses.
    pub port: u16,
    /// Mark of packets and number of the routing table.
    pub mark: u32,
}

/// A listener for clients that ask for connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Where it listens.
    pub listen: SocketAddr,
    /// When clients are told that their connection stands.
    pub answer: Answer,
    /// File with the names and passwords of those who may use it; `None`: everybody.
    pub users: Option<PathBuf>,
}

bentpipe_document::table! {
    /// interception: TCP connections that this machine forwards pass through the gateway, and neither end sees it
    pub(super) InterceptTable at "intercept", called "the interception of",
        example "[intercept]\ninterfaces = [\"lan0\"]\nexcept_ports = [22]";
    /// the interfaces at which connections arrive
    interfaces: Interfaces, or "all but those that lead to the satellite: `interfaces` of `[link]`, or that of the route to the other box";
    /// the nets of clients
    from: Nets, or "all";
    /// the nets of servers
    to: Nets, or "all";
    /// nets, of clients or servers, whose connections pass untouched; those to this machine, to the other box and within a link always do
    except: Nets, or "none";
    /// the ports of servers
    ports: Ports, or "all";
    /// ports of servers to which connections pass untouched
    except_ports: Ports, or "none";
    /// whether servers get the connection from the client's address; if not, from the address of the box, which then needs no routes back
    keep_source: bool, default true;
    /// the port of the intercepting socket on this machine
    port: u32 [integer(1, 65_535)], default 4434;
    /// the mark of intercepted packets, and the number of their routing table
    mark: u32 [integer(256, 0xffff_ffff)], default 20_993;
}

bentpipe_document::table! {
    /// a SOCKS5 listener, which needs no root: for a laptop or a container
    pub(super) SocksTable at "socks", called "the SOCKS listener of", example "[socks]\nlisten = \"127.0.0.1:1080\"";
    /// where it listens; without `users`, everybody who reaches it may use it, so keep it to this machine or to a net that is trusted
    listen: String [Kind::Form(ADDRESS)], default "127.0.0.1:1080";
    /// when a client is told that its connection stands: `early`, at once, which saves a round trip but makes a refusal a reset; `confirmed`, when the server has answered
    answer: Answer { "early" => Answer::Early, "confirmed" => Answer::Confirmed }, default "confirmed";
    /// a file with a line `name:password` for each of those who may use it; both cross the net in the clear
    users: String [Kind::File], or "everybody may use it";
}

bentpipe_document::table! {
    /// a listener for HTTP CONNECT, which needs no root: for browsers and for `https_proxy`
    pub(super) ConnectTable at "connect", called "the CONNECT listener of", example "[connect]\nlisten = \"127.0.0.1:8080\"";
    /// where it listens; without `users`, everybody who reaches it may use it, so keep it to this machine or to a net that is trusted
    listen: String [Kind::Form(ADDRESS)], default "127.0.0.1:8080";
    /// when a client is told that its connection stands: `early`, at once, which saves a round trip but makes a refusal a reset; `confirmed`, when the server has answered
    answer: Answer { "early" => Answer::Early, "confirmed" => Answer::Confirmed }, default "confirmed";
    /// a file with a line `name:password` for each of those who may use it; both cross the net in the clear
    users: String [Kind::File], or "everybody may use it";
}

/// The section on interception.
pub(super) fn intercept(
    table: OptionalField<InterceptTable>,
) -> Result<Option<Intercept>, Reported> {
    let Some(table) = table? else { return Ok(None) };
    let table = table.value;
    Ok(Some(Intercept {
        interfaces: read::or_default(table.interfaces)?.0,
        from: read::or_default(table.from)?,
        to: read::or_default(table.to)?,
        except: read::or_default(table.except)?,
        ports: read::or_default(table.ports)?,
        except_ports: read::or_default(table.except_ports)?,
        keep_source: table.keep_source?.value,
        port: u16::try_from(table.port?.value).unwrap_or(u16::MAX),
        mark: table.mark?.value,
    }))
}

macro_rules! listener {
    ($(#[$doc:meta])* $name:ident of $Table:ident) => {
        $(#[$doc])*
        pub(super) fn $name(
            reading: &Reading<'_>,
            table: OptionalField<$Table>,
        ) -> Result<Option<Listener>, Reported> {
            let Some(table) = table? else { return Ok(None) };
            let table = table.value;
            Ok(Some(Listener {
                listen: read::address(&table.context, &table.listen?, "listen", None)?,
                answer: table.answer?.value,
                users: table.users?.map(|path| reading.path(&path.value)),
            }))
        }
    };
}

listener! {
    /// The section on SOCKS5.
    socks of SocksTable
}

listener! {
    /// The section on HTTP CONNECT.
    connect of ConnectTable
}
