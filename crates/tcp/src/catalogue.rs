//! Ready-made transports by name, and how settings become a transport.
//!
//! Four layers decide each setting, the first that says something wins:
//!
//! 1. what a scenario writes for its transport,
//! 2. what makes up the named transport itself: its congestion control with
//!    parameters and pacing, MTSI's initial window of 6 and buffers, the recovery
//!    of those that are a recovery (`tahoe`, `fack`, `scps-tp`),
//! 3. what the named transport only suggests ([`Suggested`]: the recovery of
//!    `newreno`, timestamps of `hybla`), unless the host has a stack of its own
//!    ([`crate::Rules::decides_alone`]),
//! 4. the rules of the host profile (an acknowledgement per two segments).
//!
//! So the profile alone chooses the stack: `sack`, `newreno` and `hybla` on the
//! profile `linux` all run RACK-TLP. On `rfc` and `ns-2` the suggestions hold; on
//! `ns-2` they choose among its agents (Newreno, Sack1). A recovery that a profile
//! does not have is refused ([`HostProfile::has`]).
//!
//! The default profile is `rfc`. Buffers that no layer sets are so large that they
//! do not bind.

mod named;

pub use named::{NamedTransport, find_transport, nearest_transport, transports};

use crate::{
    CongestionControlChoice, DelayedAck, HostProfile, Pacing, Polling, Recovery, Transport,
};
use bentpipe_cc::Parameters;
use bentpipe_units::{Bytes, Duration, Segments};

/// Buffer of a transport that says nothing about it: 16 MB, more than the
/// bandwidth-delay product of 200 Mbit/s x 0.6 s.
pub const DEFAULT_BUFFER: Bytes = Bytes::new(16_000_000);

/// The buffers of a host that has none: the largest window that can be advertised.
const UNBOUNDED_BUFFER: Bytes = Bytes::new(1 << 30);

/// Size of a full packet at the IP layer where no MSS is set.
pub const DEFAULT_PACKET: u32 = 1500;

/// Settings of a transport of which each may be left to the layer below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransportSettings {
    /// The algorithm that moves the window; `newreno` where no layer says.
    pub congestion_control: Option<CongestionControlChoice>,
    /// The control that runs in its place on the host profile `linux`: the
    /// kernel's own of the same name. A layer that names a congestion control
    /// itself gets that one on every profile.
    pub on_linux: Option<&'static str>,
    /// Its parameters. They belong to the algorithm of this layer or, where it
    /// names none, of the layer below.
    pub parameters: Parameters,
    /// How the host behaves around it.
    pub profile: Option<HostProfile>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Maximum segment size; where no layer says, what fills a packet of
    /// [`DEFAULT_PACKET`] bytes: 1448 with timestamps, 1460 without.
    pub mss: Option<u32>,
    /// Initial window, segments.
    pub initial_window: Option<Segments>,
    /// Initial slow start threshold, segments, which may be infinite.
    pub initial_ssthresh: Option<Segments>,
    /// Send buffer.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer.
    pub receive_buffer: Option<Bytes>,
    /// Full segments per ACK.
    pub ack_count: Option<u32>,
    /// Longest delay of an ACK.
    pub ack_timer: Option<Duration>,
    /// Segments at the start that are acknowledged at once.
    pub quick_acks: Option<u32>,
    /// Timestamps option.
    pub timestamps: Option<bool>,
    /// Limited transmit.
    pub limited_transmit: Option<bool>,
    /// Recovery fix.
    pub recovery_fix: Option<bool>,
    /// Undo of spurious retransmissions.
    pub undo: Option<bool>,
    /// Packet spacing.
    pub pacing: Option<Pacing>,
    /// Explicit congestion notification.
    pub ecn: Option<bool>,
    /// Smallest retransmission timeout.
    pub minimum_rto: Option<Duration>,
    /// What gives way to a host with a stack of its own.
    pub suggested: Suggested,
    /// Polling.
    pub polling: Option<Polling>,
}

/// Settings that a named transport comes with and that are not what it is: the
/// host's own take their place where its profile decides alone
/// ([`crate::Rules::decides_alone`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suggested {
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Timestamps option.
    pub timestamps: Option<bool>,
    /// Recovery fix.
    pub recovery_fix: Option<bool>,
    /// Undo of spurious retransmissions.
    pub undo: Option<bool>,
    /// Packet spacing; only the kernel's controls do without it.
    pub pacing: Option<Pacing>,
}

impl Suggested {
    fn over(self, below: Suggested) -> Suggested {
        Suggested {
            recovery: self.recovery.or(below.recovery),
            timestamps: self.timestamps.or(below.timestamps),
            recovery_fix: self.recovery_fix.or(below.recovery_fix),
            undo: self.undo.or(below.undo),
            pacing: self.pacing.or(below.pacing),
        }
    }
}

impl TransportSettings {
    /// These settings, with those of `below` where these say nothing.
    ///
    /// Parameters are merged name by name; those of `below` are dropped where
    /// this layer chooses another congestion control that does not have them.
    #[must_use]
    pub fn over(self, below: TransportSettings) -> TransportSettings {
        let changed = self.congestion_control.is_some();
        let congestion_control = self.congestion_control.or(below.congestion_control);
        let mut parameters = below.parameters;
        if let (true, Some(choice)) = (changed, &congestion_control) {
            let unknown: Vec<String> = parameters
                .iter()
                .filter(|(name, _)| !choice.knows(name))
                .map(|(name, _)| name.to_string())
                .collect();
            for name in unknown {
                parameters.remove(&name);
            }
        }
        for (name, value) in self.parameters.iter() {
            parameters.set(name, value.clone());
        }
        TransportSettings {
            on_linux: if changed {
                self.on_linux
            } else {
                below.on_linux
            },
            congestion_control,
            parameters,
            profile: self.profile.or(below.profile),
            recovery: self.recovery.or(below.recovery),
            mss: self.mss.or(below.mss),
            initial_window: self.initial_window.or(below.initial_window),
            initial_ssthresh: self.initial_ssthresh.or(below.initial_ssthresh),
            send_buffer: self.send_buffer.or(below.send_buffer),
            receive_buffer: self.receive_buffer.or(below.receive_buffer),
            ack_count: self.ack_count.or(below.ack_count),
            ack_timer: self.ack_timer.or(below.ack_timer),
            quick_acks: self.quick_acks.or(below.quick_acks),
            timestamps: self.timestamps.or(below.timestamps),
            limited_transmit: self.limited_transmit.or(below.limited_transmit),
            recovery_fix: self.recovery_fix.or(below.recovery_fix),
            undo: self.undo.or(below.undo),
            pacing: self.pacing.or(below.pacing),
            ecn: self.ecn.or(below.ecn),
            minimum_rto: self.minimum_rto.or(below.minimum_rto),
            suggested: self.suggested.over(below.suggested),
            polling: self.polling.or(below.polling),
        }
    }

    /// The congestion control that runs under these settings and their profile.
    #[must_use]
    pub fn control(&self) -> CongestionControlChoice {
        match self.kernels() {
            Some(name) => CongestionControlChoice::Named(name.to_owned()),
            None => self
                .congestion_control
                .clone()
                .unwrap_or_else(|| CongestionControlChoice::Named("newreno".to_owned())),
        }
    }

    /// The kernel's control, where the profile runs it in place of the named one.
    fn kernels(&self) -> Option<&'static str> {
        self.on_linux
            .filter(|_| self.profile == Some(HostProfile::Linux))
    }

    /// The transport that these settings and the rules of their profile make.
    #[must_use]
    pub fn resolve(self, name: impl Into<String>) -> Transport {
        let profile = self.profile.unwrap_or_default();
        let rules = profile.rules();
        let congestion_control = self.control();
        // The kernel's controls do not space packets by the window.
        let spacing = match self.kernels() {
            Some(_) => None,
            None => self.suggested.pacing,
        };
        let suggested = if rules.decides_alone {
            Suggested::default()
        } else {
            self.suggested
        };
        let timestamps = self.timestamps.or(suggested.timestamps);
        let recovery = self.recovery.or(suggested.recovery);
        let recovery_fix = self.recovery_fix.or(suggested.recovery_fix);
        let undo = self.undo.or(suggested.undo);
        let mut transport = Transport {
            name: name.into(),
            congestion_control,
            parameters: self.parameters,
            profile,
            recovery: recovery.map_or(rules.recovery, |recovery| profile.runs(recovery)),
            mss: 0,
            initial_window: self.initial_window.unwrap_or(rules.initial_window),
            initial_ssthresh: self.initial_ssthresh.filter(|s| s.is_finite()),
            send_buffer: self.send_buffer.unwrap_or(DEFAULT_BUFFER),
            receive_buffer: self.receive_buffer.unwrap_or(DEFAULT_BUFFER),
            delayed_ack: DelayedAck {
                count: self.ack_count.unwrap_or(rules.delayed_ack.count),
                timer: self.ack_timer.unwrap_or(rules.delayed_ack.timer),
                quick_acks: self.quick_acks.unwrap_or(rules.delayed_ack.quick_acks),
            },
            timestamps: timestamps.unwrap_or(rules.timestamps),
            limited_transmit: self.limited_transmit.unwrap_or(rules.limited_transmit),
            recovery_fix: recovery_fix.unwrap_or(rules.recovery_fix),
            undo: undo.unwrap_or(rules.undo),
            pacing: self.pacing.or(spacing).unwrap_or(Pacing::Off),
            ecn: self.ecn.unwrap_or(false),
            minimum_rto: self.minimum_rto,
            polling: self.polling.unwrap_or_default(),
        };
        let full = DEFAULT_PACKET - transport.header_bytes();
        transport.mss = self.mss.unwrap_or(full);
        if !rules.has_buffers && self.send_buffer.is_none() && self.receive_buffer.is_none() {
            transport.send_buffer = UNBOUNDED_BUFFER;
            transport.receive_buffer = UNBOUNDED_BUFFER;
            let window = DEFAULT_BUFFER.get() / u64::from(transport.mss.max(1));
            transport.initial_ssthresh = transport.initial_ssthresh.or(Some(window as f64));
        }
        transport
    }
}

impl CongestionControlChoice {
    /// True if it has a parameter of that name.
    #[must_use]
    pub fn knows(&self, parameter: &str) -> bool {
        self.described_parameters().any(|p| p.name == parameter)
    }

    /// The parameters that it takes; a name may come more than once.
    pub fn described_parameters(&self) -> impl Iterator<Item = &'static bentpipe_cc::Parameter> {
        use bentpipe_cc::{SlotKind, find, slots};
        let slot = |kind: SlotKind, name: &str| {
            slots(kind)
                .iter()
                .find(|s| s.name == name)
                .map_or(&[][..], |s| s.parameters)
        };
        let lists = match self {
            CongestionControlChoice::Named(name) => {
                [find(name).map_or(&[][..], |d| d.parameters), &[], &[], &[]]
            }
            CongestionControlChoice::Slots {
                start,
                avoidance,
                reaction,
            } => [
                slot(SlotKind::Start, start),
                slot(SlotKind::Avoidance, avoidance),
                slot(SlotKind::Reaction, reaction),
                hoe(),
            ],
            CongestionControlChoice::Ideal => [&[][..]; 4],
        };
        lists.into_iter().flatten()
    }
}

/// Hoe's estimate, which every combination of slots takes.
fn hoe() -> &'static [bentpipe_cc::Parameter] {
    let newreno = bentpipe_cc::find("newreno").map_or(&[][..], |d| d.parameters);
    match newreno.iter().position(|p| p.name == "hoe") {
        Some(at) => &newreno[at..=at],
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::named::control;
    use super::*;

    #[test]
    fn every_named_transport_builds_its_congestion_control() {
        for named in transports() {
            let transport = named.transport();
            assert_eq!(transport.name, named.name);
            assert!(transport.controller().is_ok(), "{}", named.name);
            assert_eq!(transport.header_bytes() + transport.mss, DEFAULT_PACKET);
            assert_eq!(find_transport(named.name).map(|t| t.name), Some(named.name));
        }
        assert_eq!(nearest_transport("mtis"), Some("mtsi"));
    }

    #[test]
    fn a_layer_wins_over_those_below_and_the_profile_comes_last() {
        let file = TransportSettings {
            profile: Some(HostProfile::Linux22),
            ack_count: Some(1),
            ..TransportSettings::default()
        };
        let mtsi = find_transport("mtsi").unwrap().settings();
        let transport = file.over(mtsi).resolve("mine");
        // File over profile, name over profile, profile for the rest.
        assert_eq!(transport.delayed_ack.count, 1);
        assert_eq!(transport.initial_window, 6.0);
        assert_eq!(transport.recovery, Recovery::Fack);
        assert_eq!(transport.delayed_ack.timer, Duration::from_millis(40));
        assert!(!transport.limited_transmit);

        let file = TransportSettings {
            initial_window: Some(2.0),
            ..Default::default()
        };
        let transport = file
            .over(find_transport("mtsi").unwrap().settings())
            .resolve("mine");
        assert_eq!(transport.initial_window, 2.0);
    }

    #[test]
    fn the_profile_sets_the_initial_window_of_a_base_that_is_not_about_it() {
        let initial_window = |base: &str, profile, own| {
            let settings = TransportSettings {
                profile: Some(profile),
                initial_window: own,
                ..TransportSettings::default()
            };
            let base = find_transport(base).unwrap().settings();
            settings.over(base).resolve("mine").initial_window
        };
        for base in ["sack", "newreno", "reno", "tahoe", "vegas", "cubic"] {
            assert_eq!(initial_window(base, HostProfile::Rfc, None), 10.0, "{base}");
            assert_eq!(initial_window(base, HostProfile::Ns2, None), 2.0, "{base}");
            let own = initial_window(base, HostProfile::Ns2, Some(4.0));
            assert_eq!(own, 4.0, "{base}");
        }
    }

    #[test]
    fn the_profile_alone_chooses_the_stack() {
        let on = |profile, base: &str| {
            let file = TransportSettings {
                profile: Some(profile),
                ..TransportSettings::default()
            };
            let base = find_transport(base).unwrap().settings();
            file.over(base).resolve("mine")
        };
        for base in ["sack", "newreno", "reno", "hybla", "westwood", "satpep"] {
            let transport = on(HostProfile::Linux, base);
            assert_eq!(transport.recovery, Recovery::Rack, "{base}");
            assert!(transport.controller().is_ok(), "{base}");
            for (profile, recovery) in [
                (HostProfile::Linux22, Recovery::Fack),
                (HostProfile::Linux24, Recovery::Fack),
                (HostProfile::Ns2Linux, Recovery::Sack),
            ] {
                assert_eq!(on(profile, base).recovery, recovery, "{base}");
            }
        }
        // Hybla's recovery fix is not Linux'; its initial window is the host's.
        let hybla = on(HostProfile::Linux, "hybla");
        assert!(!hybla.recovery_fix && hybla.undo);
        assert_eq!(hybla.initial_window, 10.0);
        // The agents of ns-2 are chosen by name.
        let newreno = on(HostProfile::Ns2, "newreno");
        assert_eq!(newreno.recovery, Recovery::NewReno);
        assert_eq!(on(HostProfile::Ns2, "sack").recovery, Recovery::Sack);
        // What is a recovery needs a host that has it.
        for base in ["tahoe", "fack", "scps-tp"] {
            let error = on(HostProfile::Linux, base).controller().unwrap_err();
            assert_eq!(error.key(), "recovery");
            let text = error.to_string();
            assert!(text.contains("profile `linux`"), "{text}");
            assert!(on(HostProfile::Rfc, base).controller().is_ok());
        }
    }

    #[test]
    fn on_linux_a_file_may_switch_sack_off_and_no_more() {
        let with = |recovery| TransportSettings {
            profile: Some(HostProfile::Linux),
            recovery: Some(recovery),
            ..control("newreno")
        };
        for (written, runs) in [
            (Recovery::Rack, Some(Recovery::Rack)),
            (Recovery::Sack, Some(Recovery::Rack)),
            (Recovery::NewReno, Some(Recovery::NewReno)),
            (Recovery::SackRepeat, None),
            (Recovery::Reno, None),
        ] {
            let transport = with(written).resolve("mine");
            match runs {
                Some(recovery) => assert_eq!(transport.recovery, recovery),
                None => assert!(transport.controller().is_err(), "{written:?}"),
            }
        }
    }

    /// Raw Hybla has more than 16 MB under way, which ns-2's agent sends.
    #[test]
    fn no_buffer_bounds_the_agent_tcp_linux_of_ns_2() {
        let resolve = |profile, send_buffer| {
            let settings = TransportSettings {
                profile: Some(profile),
                send_buffer,
                ..TransportSettings::default()
            };
            let base = find_transport("hybla-linux").unwrap().settings();
            settings.over(base).resolve("mine")
        };
        let agent = resolve(HostProfile::Ns2Linux, None);
        assert_eq!(agent.send_buffer.get(), 1 << 30);
        assert_eq!(agent.receive_buffer.get(), 1 << 30);
        // The first threshold is that of the default buffer as before.
        assert_eq!(agent.initial_ssthresh, Some(11_049.0));
        let own = resolve(HostProfile::Ns2Linux, Some(Bytes::new(64_000)));
        assert_eq!(own.send_buffer.get(), 64_000);
        let rfc = resolve(HostProfile::Rfc, None);
        assert_eq!(rfc.send_buffer, DEFAULT_BUFFER);
    }

    #[test]
    fn on_linux_a_name_runs_the_kernels_control_unless_the_control_is_named() {
        let on_linux = || TransportSettings {
            profile: Some(HostProfile::Linux),
            ..TransportSettings::default()
        };
        let runs = |above: TransportSettings, name: &str| {
            let named = find_transport(name).unwrap().settings();
            let transport = above.over(named).resolve("t");
            assert!(transport.controller().is_ok(), "{name}");
            assert_eq!(transport.pacing, Pacing::Off, "{name}");
            transport.congestion_control
        };
        for (name, kernels) in [
            ("cubic", "cubic-linux"),
            ("reno", "reno-linux"),
            ("vegas", "vegas-linux"),
            ("westwood", "westwood-linux"),
            ("hybla", "hybla-linux"),
            ("dctcp", "dctcp-linux"),
            ("bbr", "bbr"),
            ("westwood+", "westwood+"),
            ("dvegas", "dvegas"),
        ] {
            let got = runs(on_linux(), name);
            assert_eq!(
                got,
                CongestionControlChoice::Named(kernels.into()),
                "{name}"
            );
        }
        // By its name the paper's, with what it has around it.
        let above = TransportSettings {
            congestion_control: Some(CongestionControlChoice::Named("cubic".into())),
            ..on_linux()
        };
        let got = runs(above, "cubic");
        assert_eq!(got, CongestionControlChoice::Named("cubic".into()));
        // Elsewhere the RFC's.
        let got = runs(TransportSettings::default(), "cubic");
        assert_eq!(got, CongestionControlChoice::Named("cubic".into()));
    }

    #[test]
    fn parameters_of_a_replaced_congestion_control_go_with_it() {
        let below = TransportSettings {
            parameters: Parameters::new()
                .with("thresholds", vec![1.0])
                .with("hoe", "round"),
            ..control("mtsi")
        };
        let above = control("newreno").over(below.clone());
        assert_eq!(above.parameters.get("thresholds"), None);
        assert!(above.parameters.get("hoe").is_some());
        let same = TransportSettings::default().over(below.clone());
        assert_eq!(same, below);
    }

    #[test]
    fn the_mss_fills_a_packet_with_or_without_timestamps() {
        let without = TransportSettings {
            timestamps: Some(false),
            ..control("cubic")
        };
        assert_eq!(without.resolve("a").mss, 1460);
        assert_eq!(control("cubic").resolve("b").mss, 1448);
    }
}
