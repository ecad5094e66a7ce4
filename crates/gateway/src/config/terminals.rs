//! What each of a hub's terminals gets of its link beside the others.

use super::role::{Role, Tunnel};
use super::subscribers::WEIGHT;
use bentpipe_document::schema::{Kind, integer};
use bentpipe_document::{Diagnostic, OptionalField, Placed, Reported};
use bentpipe_units::Rate;

/// No cap is lower.
const LEAST_CAP: Rate = Rate::from_bps(64_000);

/// What one terminal gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Its public key, one of the tunnel's peers.
    pub key: String,
    /// What the operator calls it.
    pub name: Option<String>,
    /// How much it gets beside others.
    pub weight: u64,
    /// The rate at which the hub sends to it, at most.
    pub cap: Option<Rate>,
}

bentpipe_document::table! {
    /// a hub: what one of its terminals gets of each link beside the others. A terminal without a section has a weight of 100 and no cap
    pub(super) TerminalTable at "terminal", called "a terminal of",
        example "[[terminal]]\nkey = \"bpk1...\"\nname = \"ferry\"\nweight = 300\ncap = \"30 Mbit/s\"";
    /// its public key, one of `tunnel.peers`
    key: String [Kind::Name("box, by its public key")], required;
    /// what status calls it
    name: String [Kind::Name("terminal")], or "none";
    /// how much it gets over QUIC beside others that want more
    weight: u64 [integer(10, 1_000)], default 100;
    /// the rate at which the hub sends to it at most: over QUIC on each WAN, with headers of IP, and over the fallback in all, without; at least 64 kbit/s
    cap: Rate, or "none";
}

/// The sections.
pub(super) fn read(
    role: Placed<Role>,
    tunnel: Option<&Tunnel>,
    tables: OptionalField<Vec<TerminalTable>>,
) -> Result<Vec<Terminal>, Reported> {
    let Some(tables) = tables? else {
        return Ok(Vec::new());
    };
    let mut terminals: Vec<Terminal> = Vec::new();
    for table in tables.value {
        let context = table.context.clone();
        let (key, cap) = (table.key?, table.cap?);
        let wrong = |what: String, label: &str| {
            Err(context.report(Diagnostic::new(key.place, what).label(label)))
        };
        if role.value != Role::Hub {
            let error = Diagnostic::new(key.place, "only a hub has terminals")
                .label("a terminal's own users are `[subscribers]`")
                .related(role.place, "this role");
            return Err(context.report(error));
        }
        let peers = tunnel.map_or(&[][..], |tunnel| &tunnel.peers);
        if !peers.contains(&key.value) {
            let what = format!("`{}` is none of `tunnel.peers`", key.value);
            return wrong(what, "expected the key of a terminal");
        }
        if terminals.iter().any(|it| it.key == key.value) {
            let what = format!("`{}` has another section", key.value);
            return wrong(what, "expected one for each terminal");
        }
        if let Some(cap) = cap.as_ref().filter(|cap| cap.value < LEAST_CAP) {
            let what = format!("a cap of {}, below {LEAST_CAP}", cap.value);
            let label = "acknowledgements and what tells an outage need some of it";
            return Err(context.report(Diagnostic::new(cap.place, what).label(label)));
        }
        terminals.push(Terminal {
            key: key.value,
            name: table.name?.map(|name| name.value),
            weight: table.weight?.value,
            cap: cap.map(|cap| cap.value),
        });
    }
    Ok(terminals)
}

impl super::Config {
    /// What the terminal with this key gets beside others, and at most.
    #[must_use]
    pub fn terminal_terms(&self, key: &str) -> (u64, Option<Rate>) {
        let terminal = self.terminal(key);
        terminal.map_or((WEIGHT, None), |it| (it.weight, it.cap))
    }

    /// What the file says of the terminal with this key.
    #[must_use]
    pub fn terminal(&self, key: &str) -> Option<&Terminal> {
        self.terminals.iter().find(|it| it.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    const HUB: &str =
        "role = \"hub\"\nlink.rate = \"20 Mbit/s\"\n[tunnel]\npeers = [\"a\", \"b\", \"c\"]\n";

    #[test]
    fn terminals_have_weights_and_caps() {
        let text = format!(
            "{HUB}[[terminal]]\nkey = \"b\"\nname = \"ferry\"\nweight = 300\n[[terminal]]\nkey = \"a\"\ncap = \"2 Mbit/s\"\n"
        );
        let config = config_from_str(&text).unwrap();
        assert_eq!(config.terminal_terms("a"), (100, Some(Rate::from_mbps(2))));
        assert_eq!(config.terminal_terms("b"), (300, None));
        assert_eq!(config.terminal_terms("c"), (100, None));
        assert_eq!(config.terminal("b").unwrap().name.as_deref(), Some("ferry"));
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        let refused = |text: &str, part: &str| {
            let error = config_from_str(text).unwrap_err().render(false);
            assert!(error.contains(part), "{error}");
        };
        let one = "[[terminal]]\nkey = \"a\"\n";
        refused(&format!("{HUB}{one}{one}"), "another section");
        refused(
            &format!("{HUB}[[terminal]]\nkey = \"d\"\n"),
            "none of `tunnel.peers`",
        );
        refused(&format!("{HUB}{one}weight = 0\n"), "weight");
        refused(
            &format!("{HUB}{one}cap = \"1 kbit/s\"\n"),
            "below 64 kbit/s",
        );
        let ship = HUB
            .replace("hub", "terminal")
            .replace("peers", "address = \"192.0.2.7\"\npeers");
        refused(&format!("{ship}[socks]\n{one}"), "only a hub");
    }
}
