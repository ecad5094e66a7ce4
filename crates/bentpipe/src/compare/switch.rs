//! How a setting is switched on: where, with which commands, and what must be
//! installed before.

use super::candidate::{Availability, Candidate, Hosts};
use super::linux;
use super::pep::Pep;
use bentpipe_outcome::record;

/// What the program that asks can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Build {
    /// It loads congestion controls into the kernel: `bentpipe kernel load`.
    pub kernel: bool,
}

impl Build {
    /// A build with or without the kernel's congestion controls.
    #[must_use]
    pub const fn with_kernel(kernel: bool) -> Build {
        Build { kernel }
    }
}

record! {
    /// Commands that switch a setting on, in their order.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct SwitchOn document {
        /// Where the commands are typed, and what else must be there, in sentences;
        /// empty if there is nothing to do.
        label text: String;
        /// The commands, each a line.
        key commands: Vec<String>;
    }
}

/// Debian's packages for a build with the kernel's congestion controls.
const PACKAGES: &str =
    "apt-get install build-essential pkg-config clang llvm libelf-dev zlib1g-dev";

impl Candidate {
    /// How it is switched on where `pep` stands at the gateway, with the build
    /// at hand.
    #[must_use]
    pub fn switch_on(&self, hosts: Hosts, pep: Pep, build: Build) -> SwitchOn {
        if hosts == Hosts::Rfc {
            return self.on_rfc_hosts();
        }
        if pep == Pep::Gateway {
            return SwitchOn {
                text: "A box with `bentpipe gateway` on each side of the satellite; servers and \
                       users change nothing. The first command writes a file and a key for each \
                       box, where ADDRESS is the hub's on the Internet's side (docs/gateway.md):"
                    .to_owned(),
                commands: self.preset.clone(),
            };
        }
        if self.setting.quic {
            return self.in_a_quic_library();
        }
        let commands = self.commands(build);
        let text = match (pep, commands.is_empty()) {
            (Pep::Split, true) => "At the gateway: a proxy that splits TCP connections, such as \
                                   PEPsal or that of the modem's vendor, with the default of Linux."
                .to_owned(),
            (Pep::Split, false) => "At the gateway: a proxy that splits TCP connections, such as \
                                    PEPsal on Linux. There, as root:"
                .to_owned(),
            (Pep::Snoop, _) => "Snoop has no implementation for the Linux of today: this is a \
                                prediction."
                .to_owned(),
            (_, true) => String::new(),
            (_, false) => "On the server that sends, as root; users change nothing:".to_owned(),
        };
        match pep {
            Pep::Snoop => SwitchOn {
                text,
                commands: Vec::new(),
            },
            _ => SwitchOn { text, commands },
        }
    }

    /// QUIC runs in the server's program, which chooses by itself.
    fn in_a_quic_library(&self) -> SwitchOn {
        if self.availability != Availability::Quic {
            return SwitchOn {
                text: "This is a prediction: common QUIC libraries do not offer it.".to_owned(),
                commands: Vec::new(),
            };
        }
        let control = &self.setting.control;
        let early = match self.setting.zero_rtt {
            true => " allow-0rtt",
            false => "",
        };
        let mut commands = vec![format!(
            "bind quic4@:443 ssl crt FILE alpn h3{early} quic-cc-algo {}   # HAProxy",
            if control == "reno" {
                "newreno"
            } else {
                control
            }
        )];
        if let Some(window) = self.setting.initial_window {
            commands = vec![
                format!("config.set_cc_algorithm_name(\"{control}\")?;   // quiche, in Rust"),
                format!("config.set_initial_congestion_window_packets({window});"),
            ];
            if self.setting.zero_rtt {
                commands.push("config.enable_early_data();".to_owned());
            }
        }
        SwitchOn {
            text: "QUIC runs in the server's program: choose the congestion control in its \
                   configuration or its QUIC library; users change nothing, and a proxy that splits \
                   TCP does nothing for it. For example:"
                .to_owned(),
            commands,
        }
    }

    fn on_rfc_hosts(&self) -> SwitchOn {
        let text = match self.preset.is_empty() {
            true => "There is nothing to switch on: this is an idealised variant.",
            false => "Linux has something like it, which behaves differently in places:",
        };
        SwitchOn {
            text: text.to_owned(),
            commands: self.preset.clone(),
        }
    }

    fn commands(&self, build: Build) -> Vec<String> {
        let control = &self.setting.control;
        let choose = format!("sysctl -w net.ipv4.tcp_congestion_control={control}");
        let mut lines = Vec::new();
        match self.availability {
            Availability::Default | Availability::Setting => {}
            Availability::Module => {
                if let Some(module) = linux::module(control) {
                    lines.push(format!("modprobe {module}"));
                }
                lines.push(choose);
            }
            Availability::Kernel => {
                if !build.kernel {
                    lines.push(PACKAGES.to_owned());
                    lines.push("make   # a bentpipe that can load it".to_owned());
                }
                let parameters = self.setting.parameters.iter();
                let set: String = parameters
                    .map(|(name, value)| format!(" --set {name}={value}"))
                    .collect();
                lines.push(format!("bentpipe kernel load {control}{set}"));
                lines.push(choose);
            }
            Availability::Quic
            | Availability::Gateway
            | Availability::Absent
            | Availability::Reference => {
                return Vec::new();
            }
        }
        lines.extend(self.route());
        lines.extend(self.buffers());
        lines
    }

    /// One command for all that belongs to the route: a second would undo the
    /// first.
    fn route(&self) -> Option<String> {
        let window = self.setting.initial_window;
        let window = window.map(|n| format!(" initcwnd {n}"));
        let clamp = self.clamp.map(|n| format!(" cwnd lock {n}"));
        let options = [window, clamp].into_iter().flatten().collect::<String>();
        (!options.is_empty()).then(|| format!("ip route change default via GATEWAY{options}"))
    }

    fn buffers(&self) -> Vec<String> {
        let Some(room) = self.room else {
            return Vec::new();
        };
        // Linux advertises half of the buffer.
        let bytes = room.get().saturating_mul(2);
        vec![
            format!("sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {bytes}\""),
            format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {bytes}\"   # on the user's side"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::lineup::Lineup;
    use super::super::path::tests::path;
    use super::*;

    fn lines(setting: &str, pep: Pep, kernel: bool) -> Vec<String> {
        let path = path();
        let lineup = Lineup::new(Hosts::Linux, &path, 1);
        let candidate = lineup.candidate(setting.parse().unwrap()).unwrap();
        let build = Build::with_kernel(kernel);
        candidate.switch_on(Hosts::Linux, pep, build).commands
    }

    #[test]
    fn lines_switch_on_what_was_compared() {
        assert!(lines("cubic", Pep::None, false).is_empty());
        assert_eq!(
            lines("reno", Pep::None, false),
            ["sysctl -w net.ipv4.tcp_congestion_control=reno"]
        );
        assert_eq!(
            lines("bbr + IW 32", Pep::None, false),
            [
                "modprobe tcp_bbr",
                "sysctl -w net.ipv4.tcp_congestion_control=bbr",
                "ip route change default via GATEWAY initcwnd 32",
            ]
        );
        assert_eq!(
            lines("cubic + IW 32 + clamp 1 BDP", Pep::None, false),
            ["ip route change default via GATEWAY initcwnd 32 cwnd lock 500"]
        );
        assert_eq!(lines("cubic + buffers", Pep::None, false).len(), 2);
    }

    #[test]
    fn quic_is_configured_in_the_program() {
        let haproxy = lines("reno + QUIC", Pep::Split, false);
        assert_eq!(haproxy.len(), 1);
        assert!(haproxy[0].contains("quic-cc-algo newreno"), "{haproxy:?}");
        let quiche = lines("bbr + IW 32 + QUIC", Pep::None, false);
        assert!(quiche[1].contains("packets(32)"), "{quiche:?}");
        let early = lines("cubic + QUIC + 0-RTT", Pep::None, false);
        assert!(early[0].contains(" allow-0rtt "), "{early:?}");
        assert!(lines("hybla + QUIC", Pep::None, false).is_empty());
        assert!(lines("cubic + buffers + QUIC", Pep::None, false).is_empty());
    }

    #[test]
    fn what_this_build_cannot_load_begins_with_what_to_install() {
        let with = lines("bp_const + k=2", Pep::Split, true);
        assert_eq!(with[0], "bentpipe kernel load bp_const --set k=2");
        let without = lines("bp_const", Pep::Split, false);
        assert!(without[0].starts_with("apt-get install"), "{without:?}");
        assert!(without[1].starts_with("make "), "{without:?}");
        assert_eq!(without[2], "bentpipe kernel load bp_const");
    }
}
