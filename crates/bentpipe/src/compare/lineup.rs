//! Which settings are compared: those that are named, or a selection that suits the
//! path.

use super::candidate::{Availability, Candidate, DEFAULT, Hosts, IDEAL};
use super::comparison::Comparison;
use super::path::NetworkPath;
use super::setting::{self, Setting};
use super::{entries, linux};
use crate::Error;
use bentpipe_cc::nearest;
use bentpipe_scenario::refused_over_quic;
use bentpipe_tcp::{Protocol, Resumption, Transport, TransportSettings, find_transport};
use bentpipe_units::Bytes;

impl Hosts {
    /// Everything that [`Comparison::transports`](super::Comparison::transports) takes on
    /// these hosts, without refinements.
    #[must_use]
    pub fn candidates(self) -> Vec<Candidate> {
        match Comparison::new().path() {
            Ok(path) => all(self, &path),
            Err(_) => Vec::new(),
        }
    }
}

/// What is compared on Linux unless it is named, the default first.
const SELECTION: [&str; 12] = [
    DEFAULT,
    "cubic + IW 32",
    "bbr",
    "bbr + IW 32",
    "hybla",
    "westwood",
    "vegas",
    "bp_hybla",
    "bp_hybla + IW 32",
    "bp_etcpw",
    "bp_westwood",
    "bp_mtsi",
];

/// What of it is compared where several queues are, each with each.
const FOR_QUEUES: [&str; 5] = [
    DEFAULT,
    "cubic + IW 32",
    "bbr",
    "bp_hybla",
    "bp_hybla + IW 32",
];

/// What is compared on RFC hosts only if it is named.
const ON_DEMAND: [&str; 8] = [
    "tahoe",
    "reno",
    "fack",
    "sack-iw32",
    "const-2",
    "linear-20",
    "mtsi-320k",
    "hybla-unpaced",
];

/// Congestion controls that most libraries of QUIC have.
const IN_QUIC_LIBRARIES: [&str; 3] = [DEFAULT, "reno", "bbr"];

/// What of the catalogue is there for one path: names and settings are looked up
/// here.
pub(super) struct Lineup<'a> {
    hosts: Hosts,
    path: &'a NetworkPath,
    /// Users that share what the link holds.
    users: u32,
    all: Vec<Candidate>,
}

impl<'a> Lineup<'a> {
    pub(super) fn new(hosts: Hosts, path: &'a NetworkPath, users: u32) -> Lineup<'a> {
        let all = all(hosts, path);
        Lineup {
            hosts,
            path,
            users,
            all,
        }
    }

    /// What is compared unless it is named; less of it where several queues are compared.
    pub(super) fn selection(&self, queues: usize) -> Result<Vec<Candidate>, Error> {
        if self.hosts == Hosts::Rfc {
            let of_note = entries::of_note(self.path).into_iter();
            return Ok(of_note
                .filter(|c| !ON_DEMAND.contains(&c.name.as_str()))
                .collect());
        }
        let wide = self.needs_buffers();
        let mut chosen = vec![self.default()];
        let names = match queues {
            0 | 1 => &SELECTION[..],
            _ => &FOR_QUEUES,
        };
        for name in names.iter().copied() {
            let mut setting: Setting = name.parse().map_err(|e| wrong(name, &e))?;
            setting.buffers = wide;
            if name != DEFAULT || wide {
                chosen.push(self.candidate(setting)?);
            }
        }
        Ok(chosen)
    }

    /// True if the windows of stock Linux bind on this path.
    fn needs_buffers(&self) -> bool {
        self.held() > linux::STOCK_WINDOW
    }

    /// What the link and its queue hold, for one user.
    fn held(&self) -> Bytes {
        let all = self
            .path
            .bdp()
            .get()
            .saturating_add(self.path.standing_bytes().get());
        Bytes::new(all / u64::from(self.users.max(1)))
    }

    /// The default of Linux.
    pub(super) fn default(&self) -> Candidate {
        let found = self.all.iter().find(|c| c.name == DEFAULT);
        // It is the first of both lists.
        found.unwrap_or(&self.all[0]).clone()
    }

    /// Those of these names; `all` stands for every one without refinements.
    pub(super) fn named(&self, names: &[String]) -> Result<Vec<Candidate>, Error> {
        let mut chosen: Vec<Candidate> = Vec::new();
        for name in names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()) {
            let found = match name {
                "all" => self.all.clone(),
                IDEAL => Vec::new(),
                _ => vec![self.candidate(name.parse().map_err(|e| wrong(name, &e))?)?],
            };
            for candidate in found {
                if !chosen.iter().any(|c| c.name == candidate.name) {
                    chosen.push(candidate);
                }
            }
        }
        match chosen.is_empty() {
            true => Err(Error::setting("transport", "names nothing to compare")),
            false => Ok(chosen),
        }
    }

    /// The candidate of that setting.
    pub(super) fn candidate(&self, setting: Setting) -> Result<Candidate, Error> {
        let found = self.all.iter().find(|c| c.name == setting.control);
        let Some(plain) = found else {
            return Err(self.unknown(&setting.control));
        };
        let mut candidate = plain.clone();
        candidate.name = setting.to_string();
        if setting.quic {
            over_quic(&mut candidate, &setting)?;
        }
        if let Some(why) = contradiction(&setting) {
            return Err(Error::setting("transport", format!("`{setting}`: {why}")));
        }
        if setting.tls {
            candidate.transport.tls = Some(match setting.zero_rtt {
                true => Resumption::ZeroRtt,
                false => Resumption::None,
            });
        }
        self.refine(&mut candidate, &setting);
        candidate.setting = setting;
        candidate.transport.name.clone_from(&candidate.name);
        if let Err(why) = candidate.transport.controller() {
            let name = &candidate.name;
            return Err(Error::setting("transport", format!("{name}: {why}")));
        }
        if let Some(why) = refused(&candidate.transport) {
            let name = &candidate.name;
            return Err(Error::setting("transport", format!("`{name}`: {why}")));
        }
        Ok(candidate)
    }

    fn refine(&self, candidate: &mut Candidate, setting: &Setting) {
        if !setting.is_plain() && candidate.availability == Availability::Default {
            candidate.availability = Availability::Setting;
        }
        let transport = &mut candidate.transport;
        if let Some(segments) = setting.initial_window {
            transport.initial_window = f64::from(segments);
        }
        for (name, text) in &setting.parameters {
            transport.parameters.set(name, setting::value(text));
        }
        if setting.buffers {
            let room = Bytes::new(self.held().get().saturating_mul(2));
            let room = room.max(linux::STOCK_WINDOW);
            candidate.room = Some(room);
            transport.receive_buffer = room;
            if transport.quic.is_some() {
                transport.send_buffer = room;
            }
        }
        if let Some(clamp) = setting.clamp {
            let segments = (f64::from(self.path.bdp_segments()) * clamp) as u32;
            let bytes = u64::from(segments.max(2)) * u64::from(transport.mss);
            candidate.clamp = Some(segments.max(2));
            transport.receive_buffer = transport.receive_buffer.min(Bytes::new(bytes));
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let other = match self.hosts {
            Hosts::Linux => Hosts::Rfc,
            Hosts::Rfc => Hosts::Linux,
        };
        if all(other, self.path).iter().any(|c| c.name == name) {
            let why = match other {
                Hosts::Rfc => format!(
                    "`{name}` is no congestion control of Linux: it exists on idealised hosts \
                     only, with `--hosts rfc`"
                ),
                Hosts::Linux => format!(
                    "`{name}` is one of Linux, which `--hosts rfc` leaves out: compare it without \
                     that option"
                ),
            };
            return Error::setting("transport", why);
        }
        let names = || {
            self.all
                .iter()
                .map(|c| c.name.as_str())
                .chain([IDEAL, "all"])
        };
        Error::UnknownTransport {
            name: name.to_owned(),
            nearest: nearest(name, names()).map(str::to_owned),
            known: names().map(str::to_owned).collect(),
        }
    }
}

/// Every name without refinements.
fn all(hosts: Hosts, path: &NetworkPath) -> Vec<Candidate> {
    match hosts {
        Hosts::Linux => linux::all(),
        Hosts::Rfc => entries::all(path),
    }
}

/// The same congestion control over QUIC, as `protocol = "quic"` in a scenario has it. Its window
/// for data that the other end has not read is that of stock Linux, which QUIC libraries have, too
/// (Chromium: 6 MB a stream).
fn over_quic(candidate: &mut Candidate, setting: &Setting) -> Result<(), Error> {
    let named = candidate.base.and_then(find_transport);
    let Some(named) = named else {
        let name = &candidate.name;
        let why = format!(
            "`{name}`: QUIC is compared with the congestion controls of Linux only, and not with \
             `--hosts rfc` or controls of one's own program"
        );
        return Err(Error::setting("transport", why));
    };
    let settings = TransportSettings {
        protocol: Some(Protocol::Quic),
        resumption: setting.zero_rtt.then_some(Resumption::ZeroRtt),
        send_buffer: Some(linux::STOCK_WINDOW),
        receive_buffer: Some(linux::STOCK_WINDOW),
        ..TransportSettings::default()
    };
    candidate.transport = settings.over(named.settings()).resolve(&candidate.name);
    // Libraries take no parameters, and buffers are the users' programs' own.
    let offered = IN_QUIC_LIBRARIES.contains(&setting.control.as_str())
        && setting.parameters.is_empty()
        && setting.clamp.is_none()
        && !setting.buffers;
    candidate.availability = match offered {
        true => Availability::Quic,
        false => Availability::Absent.max(candidate.availability),
    };
    candidate.about = format!("{}, over QUIC", candidate.setting.control);
    Ok(())
}

/// Why the refinements of a setting do not go together, if they do not.
fn contradiction(setting: &Setting) -> Option<&'static str> {
    match (setting.quic, setting.tls, setting.zero_rtt) {
        (true, true, _) => Some("QUIC has TLS in it: leave `TLS` out"),
        (false, false, true) => Some("`0-RTT` is of QUIC or TLS: add one of them"),
        _ => None,
    }
}

/// Why a transport cannot run over QUIC, where it is to.
fn refused(transport: &Transport) -> Option<String> {
    let quic = transport.quic.is_some();
    quic.then(|| refused_over_quic(transport)).flatten()
}

fn wrong(name: &str, why: &setting::SettingError) -> Error {
    Error::setting("transport", format!("`{name}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::path::tests::path;
    use super::*;

    fn lineup(hosts: Hosts, path: &NetworkPath) -> Lineup<'_> {
        Lineup::new(hosts, path, 1)
    }

    fn named(hosts: Hosts, text: &str) -> Result<Vec<String>, String> {
        let path = path();
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        let found = lineup(hosts, &path).named(&names);
        let names = |list: Vec<Candidate>| list.into_iter().map(|c| c.name).collect();
        found.map(names).map_err(|e| e.to_string())
    }

    #[test]
    fn every_name_builds_and_is_typed_as_it_is_shown() {
        let mut fast = path();
        fast.rate = bentpipe_units::Rate::from_mbps(200);
        for path in [path(), fast] {
            for (_, hosts) in Hosts::ALL {
                let lineup = lineup(hosts, &path);
                let selection = lineup.selection(1).unwrap();
                assert!(selection.len() >= 12);
                for candidate in lineup.all.iter().chain(&selection) {
                    assert!(
                        candidate.transport.controller().is_ok(),
                        "{}",
                        candidate.name
                    );
                    let again = lineup.named(std::slice::from_ref(&candidate.name)).unwrap();
                    assert_eq!(again[0].name, candidate.name);
                    assert_eq!(
                        again[0].transport, candidate.transport,
                        "{}",
                        candidate.name
                    );
                }
                assert_eq!(lineup.default().name, DEFAULT);
                assert_eq!(lineup.default().availability, Availability::Default);
            }
        }
    }

    #[test]
    fn fewer_are_selected_for_several_queues() {
        let path = path();
        let lineup = lineup(Hosts::Linux, &path);
        let names = |queues| -> Vec<String> {
            let chosen = lineup.selection(queues).unwrap();
            chosen.into_iter().map(|candidate| candidate.name).collect()
        };
        assert_eq!(names(2), FOR_QUEUES);
        assert_eq!(names(1).len(), SELECTION.len());
    }

    #[test]
    fn on_linux_a_name_is_what_linux_has_by_it() {
        let path = path();
        let lineup = lineup(Hosts::Linux, &path);
        for candidate in &lineup.all {
            assert_eq!(
                candidate.transport.profile.name(),
                "linux",
                "{}",
                candidate.name
            );
            assert!(candidate.availability != Availability::Absent);
        }
        let names: Vec<&str> = lineup.all.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(
            &names[..11],
            [
                "cubic",
                "bbr",
                "dctcp",
                "highspeed",
                "hybla",
                "reno",
                "scalable",
                "vegas",
                "veno",
                "westwood",
                "bp_const"
            ]
        );
    }

    #[test]
    fn settings_reach_the_transport() {
        let path = path();
        let lineup = lineup(Hosts::Linux, &path);
        let of = |text: &str| lineup.candidate(text.parse().unwrap()).unwrap();
        assert_eq!(of("cubic + IW 32").transport.initial_window, 32.0);
        assert_eq!(of("cubic + IW 32").availability, Availability::Setting);
        assert_eq!(of("bbr + IW 32").availability, Availability::Module);
        assert_eq!(of("cubic + clamp 1 BDP").clamp, Some(500));
        assert_ne!(
            of("bp_const + k=2").transport.parameters,
            of("bp_const").transport.parameters
        );
        let wrong = lineup.candidate("bp_const + q=2".parse().unwrap());
        assert!(wrong.unwrap_err().to_string().contains("bp_const + q=2"));
    }

    #[test]
    fn names_are_looked_up_once_and_misspelt_ones_get_a_hint() {
        let found = named(Hosts::Rfc, "mtsi, cubic,mtsi,ideal").unwrap();
        assert_eq!(found, ["mtsi", "cubic"]);
        let message = named(Hosts::Linux, "hyblla").unwrap_err();
        assert!(message.contains("did you mean `hybla`?"), "{message}");
        let message = named(Hosts::Linux, "bp_hibla").unwrap_err();
        assert!(message.contains("did you mean `bp_hybla`?"), "{message}");
        let message = named(Hosts::Linux, "mtsi").unwrap_err();
        assert!(message.contains("--hosts rfc"), "{message}");
        let message = named(Hosts::Linux, "cubic + IV 3").unwrap_err();
        assert!(message.contains("did you mean `IW`?"), "{message}");
        assert!(named(Hosts::Linux, " ,").is_err());
    }
}
