//! The nodes around a satellite link: server and gateway before it, terminals and their users
//! behind it.
//!
//! | terminals | the satellite link |
//! |---|---|
//! | one | a pair of links, `satellite` and `satellite.reverse` |
//! | several | `satellite` from the gateway, which all of them share, and from each terminal a `return-N` of its own with its own queue. They meet at a node `satellite`, from which packets go on at once: what is queued, delayed and lost is so on these links |

use super::path::NetworkPath;
use super::pep::Pep;
use crate::Error;
use bentpipe_link::{Limit, LinkSettings, QueueSettings};
use bentpipe_scenario::{NodeId, ScenarioBuilder};
use bentpipe_tcp::Transport;
use bentpipe_units::{Duration, Rate};

/// Slowest rate between server and gateway; it is ten times that of the link.
const SLOWEST: Rate = Rate::from_mbps(100);

/// Round trip between the terminal and its user, where they are two nodes.
const HOME_RTT: Duration = Duration::from_millis(2);

/// The nodes between which flows run.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) server: NodeId,
    /// Where the link begins: the gateway, or the server where there is none.
    pub(super) hub: NodeId,
    /// Where the link that all share ends.
    pub(super) shared_end: NodeId,
    /// The terminals, where proxies stand on the users' side.
    pub(super) terminals: Vec<NodeId>,
    /// Where the users of each terminal are: the terminal itself, unless a proxy stands there.
    homes: Vec<NodeId>,
}

impl Network {
    /// Adds nodes and links to `builder`. Users are behind `terminals`; routers are those that
    /// `transports` need.
    ///
    /// # Errors
    /// As [`NetworkPath::add_links`].
    pub(super) fn build<'a>(
        builder: &mut ScenarioBuilder,
        path: &NetworkPath,
        pep: Pep,
        terminals: u32,
        transports: impl Iterator<Item = &'a Transport>,
    ) -> Result<Network, Error> {
        // One of several has a number.
        let named = |name: &str, number: u32| match terminals {
            0 | 1 => name.to_owned(),
            _ => format!("{name}-{number}"),
        };
        let numbers = 1..=terminals.max(1);
        let server = builder.node("server");
        let homes: Vec<NodeId> = numbers
            .clone()
            .map(|number| builder.node(named("user", number)))
            .collect();
        let gateway = path.server_rtt.map(|_| builder.node("gateway"));
        let hub = gateway.unwrap_or(server);
        let satellite = (homes.len() > 1).then(|| builder.node("satellite"));
        let boxes: Vec<NodeId> = match pep {
            Pep::Gateway => numbers
                .clone()
                .map(|number| builder.node(named("terminal", number)))
                .collect(),
            Pep::None | Pep::Split | Pep::Snoop => Vec::new(),
        };
        let terminals = if boxes.is_empty() { &homes } else { &boxes };
        let shared_end = match satellite {
            Some(satellite) => {
                path.add_links(builder, (hub, satellite), terminals, transports)?;
                satellite
            }
            None => {
                path.add_link(builder, (hub, terminals[0]), transports);
                terminals[0]
            }
        };
        let fast = SLOWEST.max(Rate::from_bps(path.rate.bps().saturating_mul(10)));
        if let (Some(gateway), Some(rtt)) = (gateway, path.server_rtt) {
            builder.link("internet", server, gateway, ground(fast, rtt));
        }
        for (number, (terminal, home)) in numbers.zip(boxes.iter().zip(&homes)) {
            let home_link = ground(fast, HOME_RTT);
            builder.link(named("home", number), *terminal, *home, home_link);
        }
        Ok(Network {
            server,
            hub,
            shared_end,
            terminals: terminals.clone(),
            homes,
        })
    }

    /// Where a user is.
    pub(super) fn home(&self, user: u32) -> NodeId {
        let terminal = terminal_of(user, self.homes.len() as u32);
        self.homes[terminal as usize]
    }
}

/// The terminal of a user, both counted from zero.
///
/// Users take the terminals in turn, each round one further than the last: so they are spread
/// evenly, one user more moves nobody, and users who do the same by turns, such as every second
/// one, do not share the same terminals.
pub(super) fn terminal_of(user: u32, terminals: u32) -> u32 {
    let terminals = terminals.max(1);
    (user + user / terminals) % terminals
}

fn ground(rate: Rate, rtt: Duration) -> LinkSettings {
    LinkSettings::new(
        rate,
        rtt / 2,
        QueueSettings::drop_tail(Limit::Packets(10_000)),
    )
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
