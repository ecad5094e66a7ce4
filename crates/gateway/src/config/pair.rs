//! The files of two boxes that know each other: what `bentpipe gateway new` writes.

use super::{Bind, HubAddress};
use crate::tunnel::keys::PublicKey;
use bentpipe_units::{Duration, Rate};

/// A satellite link with a box at each end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Where the hub is, as the terminal reaches it.
    pub hub: HubAddress,
    /// Rate towards the users.
    pub rate: Rate,
    /// Rate back.
    pub return_rate: Rate,
    /// Round trip without queues.
    pub rtt: Duration,
    /// The interfaces at which the users' connections arrive; empty: all but those that lead to
    /// the hub.
    pub interfaces: Vec<String>,
    /// Users reach the terminal by SOCKS5 in place of interception.
    pub socks: bool,
    /// Further WANs, each with its name and where the terminal's packets leave for it. They have the
    /// ports after the hub's.
    pub wans: Vec<(String, Bind)>,
}

/// The names of both files, without `.toml`.
pub const HUB: &str = "hub";
/// As [`HUB`].
pub const TERMINAL: &str = "terminal";

impl Pair {
    /// The ports of the hub.
    pub fn ports(&self) -> impl Iterator<Item = u16> + use<> {
        let first = self.hub.port();
        (0..=self.wans.len()).filter_map(move |more| first.checked_add(u16::try_from(more).ok()?))
    }

    /// The sections of the further WANs, with where each leaves at the terminal.
    fn wans(&self, at_terminal: bool) -> String {
        let sections = self.wans.iter().zip(self.ports().skip(1));
        let sections = sections.map(|((name, bind), port)| {
            let bind = match at_terminal {
                true => format!("bind = \"{bind}\"\n"),
                false => String::new(),
            };
            format!(
                "\n[[wan]]                  # connections are bonded over all WANs\n\
                 name = \"{name}\"\nport = {port}\n{bind}\
                 # rate = \"10 Mbit/s\"     # as this box sends into it; without it, it is measured\n\
                 # rtt = \"60 ms\"          # without queues, where it is not 100 ms\n"
            )
        });
        sections.collect()
    }

    /// The hub's configuration, for the terminal with this key.
    #[must_use]
    pub fn hub_file(&self, terminal: PublicKey) -> String {
        let port = self.hub.port();
        let listens = match port {
            super::PORT => String::new(),
            _ => format!("address = \"[::]:{port}\"\n"),
        };
        let ports: Vec<String> = self.ports().map(|port| port.to_string()).collect();
        let ports = match &ports[..] {
            [port] => format!("port {port}"),
            ports => format!("ports {}", ports.join(", ")),
        };
        format!(
            "# The box on the Internet's side of the satellite. Its private key is in {HUB}.key.
# UDP and TCP {ports} must be open to the terminal.
role = \"hub\"

[link]                   # as this box sends into it, towards the users
rate = \"{rate}\"
rtt = \"{rtt}\"
# rate_file = \"/run/modem/rate\"  # where the modem's rate changes: a file that holds it
# reserve = \"10%\"        # left to what does not pass through the gateway, such as VPNs

[tunnel]
{listens}# The public keys of its terminals; add one for each.
peers = [\"{terminal}\"]

# [policy]               # private nets and this box itself are not reached, unless allowed here
# allow = [\"10.20.0.0/16\"]
{wans}",
            rate = self.rate,
            rtt = self.rtt,
            wans = self.wans(false),
        )
    }

    /// The terminal's configuration, for the hub with this key.
    #[must_use]
    pub fn terminal_file(&self, hub: PublicKey) -> String {
        let entrance = match (self.socks, self.interfaces.is_empty()) {
            (true, _) => "[socks]                  # a SOCKS5 listener on 127.0.0.1:1080; needs no root\n".to_owned(),
            (false, true) => {
                "[intercept]              # all TCP connections that this machine forwards; needs root\n\
                 # interfaces = [\"lan0\"]  # where the users are, if not at all but those towards the hub\n\
                 # except_ports = [22]\n"
                    .to_owned()
            }
            (false, false) => {
                let names: Vec<String> =
                    self.interfaces.iter().map(|name| format!("{name:?}")).collect();
                format!(
                    "[intercept]              # TCP connections that this machine forwards; needs root\n\
                     interfaces = [{}]\n# except_ports = [22]\n",
                    names.join(", ")
                )
            }
        };
        let udp = match self.socks {
            true => "",
            false => {
                "\n[udp]                    # their QUIC, calls and DNS, under the same turns; without it,\n\
                 # [[udp.rule]]           # UDP passes beside the gateway\n\
                 # action = \"pass\"\n# ports = [53]\n"
            }
        };
        let bind = match self.wans.is_empty() {
            true => "",
            false => {
                "# bind = \"sat0\"          # its interface, where the route to the hub leads elsewhere\n"
            }
        };
        format!(
            "# The box on the users' side of the satellite. Its private key is in {TERMINAL}.key.
role = \"terminal\"

[link]                   # as this box sends into it, towards the Internet
rate = \"{rate}\"
rtt = \"{rtt}\"
# rate_file = \"/run/modem/rate\"  # where the modem's rate changes: a file that holds it
# reserve = \"10%\"        # left to what does not pass through the gateway, such as VPNs
{bind}
[tunnel]
address = \"{address}\"  # or an array of several, in order of preference
# The public key of its hub.
peers = [\"{hub}\"]
# when_down = \"closed\"   # new connections while the hub does not answer: refused, not direct

{entrance}{udp}{wans}",
            rate = self.return_rate,
            rtt = self.rtt,
            wans = self.wans(true),
            address = self.hub,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Role};
    use super::*;
    use crate::tunnel::keys::Identity;
    use std::path::Path;

    fn pair() -> Pair {
        Pair {
            hub: "203.0.113.7:4433".parse().unwrap(),
            rate: Rate::from_mbps(50),
            return_rate: Rate::from_bps(2_500_000),
            rtt: Duration::from_millis(600),
            interfaces: Vec::new(),
            socks: false,
            wans: Vec::new(),
        }
    }

    /// Both files as the gateway reads them.
    fn read(pair: &Pair) -> [Config; 2] {
        let keys = [(); 2].map(|()| Identity::generate().unwrap().public());
        let files = [
            (HUB, pair.hub_file(keys[1]), keys[1]),
            (TERMINAL, pair.terminal_file(keys[0]), keys[0]),
        ];
        files.map(|(name, text, peer)| {
            let path = format!("/etc/bentpipe/{name}.toml");
            let config = Config::read(Path::new(&path), &text)
                .unwrap_or_else(|e| panic!("{}\n{text}", e.render(false)));
            let tunnel = config.tunnel.clone().unwrap();
            assert_eq!(tunnel.peers, [peer.to_string()]);
            assert_eq!(tunnel.key, Path::new(&format!("/etc/bentpipe/{name}.key")));
            config
        })
    }

    #[test]
    fn both_files_are_valid_and_know_each_other() {
        let [hub, terminal] = read(&pair());
        assert_eq!((hub.role, terminal.role), (Role::Hub, Role::Terminal));
        assert_eq!(hub.link.configured(), Some(Rate::from_mbps(50)));
        assert_eq!(terminal.link.configured(), Some(Rate::from_bps(2_500_000)));
        assert_eq!(hub.link.rtt, terminal.link.rtt);
        assert_eq!(hub.tunnel.unwrap().listen.port(), 4433);
        assert_eq!(terminal.tunnel.unwrap().hubs, [pair().hub]);
        assert!(hub.intercept.is_none() && terminal.intercept.is_some());
        assert!(hub.udp.carries() && terminal.udp.carries());
    }

    #[test]
    fn ports_interfaces_and_socks_are_written() {
        let other = Pair {
            hub: "[2001:db8::7]:9000".parse().unwrap(),
            interfaces: vec!["lan0".to_owned(), "wlan0.5".to_owned()],
            ..pair()
        };
        let [hub, terminal] = read(&other);
        assert_eq!(hub.tunnel.unwrap().listen.port(), 9000);
        assert_eq!(terminal.intercept.unwrap().interfaces, other.interfaces);
        let bonded = Pair {
            wans: vec![
                ("5g".to_owned(), Bind::Interface("wwan0".to_owned())),
                (
                    "leo".to_owned(),
                    Bind::Address("192.0.2.7".parse().unwrap()),
                ),
            ],
            ..pair()
        };
        let [hub, terminal] = read(&bonded);
        for (at, wan) in terminal.wans.iter().enumerate() {
            assert_eq!(wan.link.bind.as_ref(), Some(&bonded.wans[at].1));
            assert_eq!(
                (&hub.wans[at].name, hub.wans[at].port),
                (&wan.name, wan.port)
            );
        }
        assert_eq!(
            hub.wans.iter().map(|it| it.port).collect::<Vec<_>>(),
            [4434, 4435]
        );
        let [_, socks] = read(&Pair {
            socks: true,
            ..pair()
        });
        assert!(socks.socks.is_some() && socks.intercept.is_none() && !socks.udp.carries());
    }
}
