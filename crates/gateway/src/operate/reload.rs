//! Reloading: settings of a new configuration that change at once, and those that wait for a
//! restart.

use crate::config::Config;

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
    live("[priority]", old.priority != new.priority);
    live(
        "[limits] connections",
        old.limits.connections != new.limits.connections,
    );
    live("[limits] drain", old.limits.drain != new.limits.drain);
    live("[log] level", old.log.level != new.log.level);
    let down = |config: &Config| config.tunnel.as_ref().map(|tunnel| tunnel.when_down);
    live("[tunnel] when_down", down(old) != down(new));
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
    later("[tunnel]", {
        let mut same = new.tunnel.clone();
        if let (Some(same), Some(old)) = (&mut same, &old.tunnel) {
            same.when_down = old.when_down;
        }
        same != old.tunnel
    });
    // The budgets of the buffers are made at the start.
    later("[limits] memory", old.limits.memory != new.limits.memory);
    later("[intercept]", old.intercept != new.intercept);
    // Its rules are those of the interception.
    later("[udp]", old.udp != new.udp);
    later("[socks]", old.socks != new.socks);
    later("[connect]", old.connect != new.connect);
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
        assert_eq!(
            changes(&old, &new).later,
            ["[tunnel]", "[socks]", "[connect]"]
        );
    }
}
