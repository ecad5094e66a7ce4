//! Reloading: settings of a new configuration that change at once, and those that wait for a
//! restart.

use crate::config::{Config, Role};

/// The differences between two configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Settings that change at once.
    pub live: Vec<&'static str>,
    /// Settings that change with the next restart.
    pub later: Vec<&'static str>,
}

/// Compares the configuration in force with a new one.
#[must_use]
pub fn changes(old: &Config, new: &Config) -> Changes {
    let mut changes = Changes::default();
    let mut live = |what, differs: bool| {
        if differs {
            changes.live.push(what);
        }
    };
    live("[link] rate", old.link.rate != new.link.rate);
    live("[policy]", old.policy != new.policy);
    // Plans hold at once; prefixes, classes and priorities for the connections that begin from now on.
    live("[subscribers]", old.subscribers != new.subscribers);
    live("[[terminal]]", old.terminals != new.terminals);
    live("[priority]", old.priority != new.priority);
    live(
        "[limits] connections",
        old.limits.connections != new.limits.connections,
    );
    live("[limits] drain", old.limits.drain != new.limits.drain);
    live("[log] level", old.log.level != new.log.level);
    live("[udp]", new.role == Role::Hub && old.udp != new.udp);
    live("[log] flows", old.log.flows != new.log.flows);
    if let (Some(old), Some(new)) = (&old.tunnel, &new.tunnel) {
        live("[tunnel] address", old.hubs != new.hubs);
        live(
            "[tunnel] return_after",
            old.return_after != new.return_after,
        );
        live("[tunnel] peers", old.peers != new.peers);
        live("[tunnel] key", old.key != new.key);
        live("[tunnel] when_down", old.when_down != new.when_down);
    }
    // One box serves its listeners from threads of its own.
    let relistens = new.role == Role::Terminal && old.role == new.role;
    live("[socks]", relistens && old.socks != new.socks);
    live("[connect]", relistens && old.connect != new.connect);
    let mut later = |what, differs: bool| {
        if differs {
            changes.later.push(what);
        }
    };
    later("role", old.role != new.role);
    later("[link]", {
        let mut same = new.link.clone();
        same.rate.clone_from(&old.link.rate);
        same != old.link
    });
    later("[[wan]]", old.wans != new.wans);
    later("[tunnel]", {
        let mut same = new.tunnel.clone();
        if let (Some(same), Some(old)) = (&mut same, &old.tunnel) {
            same.hubs.clone_from(&old.hubs);
            same.return_after = old.return_after;
            same.peers.clone_from(&old.peers);
            same.key.clone_from(&old.key);
            same.when_down = old.when_down;
        }
        same != old.tunnel
    });
    // The budgets of the buffers are made at the start.
    later("[limits] memory", old.limits.memory != new.limits.memory);
    later("[intercept]", old.intercept != new.intercept);
    // At a terminal its rules are those of the interception.
    later("[udp]", new.role != Role::Hub && old.udp != new.udp);
    later("[socks]", !relistens && old.socks != new.socks);
    later("[connect]", !relistens && old.connect != new.connect);
    later("[status]", old.status != new.status);
    later(
        "[log]",
        (old.log.json, &old.log.qlog) != (new.log.json, &new.log.qlog),
    );
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    const SHIP: &str = "role = \"terminal\"\n[link]\nrate = \"2 Mbit/s\"\n[tunnel]\n\
                        address = \"192.0.2.7\"\npeers = [\"k\"]\n[socks]\n";

    #[test]
    fn each_change_is_said_once_and_where_it_belongs() {
        let old = config_from_str(SHIP).unwrap();
        assert_eq!(changes(&old, &old), Changes::default());
        let text = SHIP
            .replace("2 Mbit/s", "3 Mbit/s")
            .replace("peers", "when_down = \"closed\"\npeers");
        let new = config_from_str(&text).unwrap();
        let found = changes(&old, &new);
        assert_eq!(found.live, ["[link] rate", "[tunnel] when_down"]);
        assert!(found.later.is_empty());
        let limits = "[limits]\nconnections = 7\nmemory = \"9 MB\"\ndrain = \"7 s\"\n";
        let found = changes(&old, &config_from_str(&format!("{SHIP}{limits}")).unwrap());
        assert_eq!(found.live, ["[limits] connections", "[limits] drain"]);
        assert_eq!(found.later, ["[limits] memory"]);
        let text = SHIP
            .replace("192.0.2.7", "192.0.2.8")
            .replace("[socks]", "[connect]");
        let new = config_from_str(&text).unwrap();
        let found = changes(&old, &new);
        assert_eq!(found.live, ["[tunnel] address", "[socks]", "[connect]"]);
        assert!(found.later.is_empty());
        let text = SHIP.replace("peers", "return_after = \"5 s\"\nkey = \"other\"\npeers");
        let text = text.replace("\"k\"", "\"k\", \"l\"");
        let found = changes(&old, &config_from_str(&text).unwrap());
        let tunnel = ["[tunnel] return_after", "[tunnel] peers", "[tunnel] key"];
        assert_eq!(found.live, tunnel);
        let text = SHIP.replace("peers", "outage = \"5 s\"\npeers");
        assert_eq!(
            changes(&old, &config_from_str(&text).unwrap()).later,
            ["[tunnel]"]
        );
        let hub = |port: u16| {
            let tunnel = format!("[tunnel]\naddress = \":{port}\"\npeers = [\"k\"]\n");
            config_from_str(&format!("role = \"hub\"\n{tunnel}")).unwrap()
        };
        assert_eq!(changes(&hub(4433), &hub(4434)).later, ["[tunnel]"]);
    }
}
