//! The boxes of a gateway as programs of a run: `bentpipe gateway` in the namespaces
//! of the nodes where the scenario has its PEPs.

use super::boxes::Boxes;
use crate::emulator::{self, Emulator, Host};
use crate::namespace::{NamespaceError, terminate};
use bentpipe_scenario::Scenario;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The port of the tunnel.
const PORT: u16 = 4433;

/// How long a program of the gateway has to end. What it may leave goes with its
/// namespace and the run's folder.
const PATIENCE: Duration = Duration::from_millis(500);

/// Interval at which the state of the association is polled.
const LOOK: Duration = Duration::from_millis(100);

const NAMES: [&str; 2] = ["terminal", "hub"];

/// Why the gateway does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The run was given no program of the gateway.
    #[error("a scenario with a tunnel needs `bentpipe gateway`, which this build lacks")]
    NoProgram,
    /// A file could not be written or a program not be started.
    #[error("cannot start the gateway's {name}: {why}")]
    Start {
        /// `terminal` or `hub`.
        name: &'static str,
        /// Error of the system.
        why: io::Error,
    },
    /// A namespace could not be prepared.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The process of a box ended early.
    #[error("the gateway's {name} {what}{}", indented(.said))]
    Failed {
        /// `terminal` or `hub`.
        name: &'static str,
        /// What happened to it.
        what: String,
        /// Its last output.
        said: String,
    },
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("\n  {line}")).collect()
}

/// The programs, which end when this is dropped.
#[derive(Debug)]
pub(crate) struct Gateway {
    program: PathBuf,
    folder: Folder,
    running: Vec<(&'static str, Child)>,
}

/// A temporary folder, which is removed with its contents. Files have their own names, since the
/// gateway names after them what it makes elsewhere.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    run: String,
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Folder {
    fn new() -> io::Result<Folder> {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let run = format!("{}-{run}", std::process::id());
        let path = std::env::temp_dir().join(format!("bentpipe-gateway-{run}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder { path, run })
    }

    fn file(&self, name: &str, suffix: &str) -> PathBuf {
        self.path.join(format!("{name}-{}.{suffix}", self.run))
    }
}

impl Gateway {
    /// Starts the hub and the terminal. The emulator is about to run.
    pub(crate) fn start(
        program: &Path,
        scenario: &Scenario,
        boxes: &Boxes,
        emulator: &Emulator,
    ) -> Result<Gateway, GatewayError> {
        let failed = |name| move |why| GatewayError::Start { name, why };
        let folder = Folder::new().map_err(failed("terminal"))?;
        let mut gateway = Gateway {
            program: program.to_owned(),
            folder,
            running: Vec::new(),
        };
        let mut keys = Vec::new();
        for name in NAMES {
            keys.push(gateway.key(name)?);
        }
        for (which, name) in [(1, "hub"), (0, "terminal")] {
            let devices = devices(emulator, boxes, which);
            forward(scenario, &devices)?;
            let text = configuration(boxes, which, &keys[1 - which], &devices);
            let file = gateway.folder.file(name, "toml");
            fs::write(&file, text).map_err(failed(name))?;
            let log = File::create(gateway.folder.file(name, "log")).map_err(failed(name))?;
            let [(host, _), ..] = devices.as_slice() else {
                continue;
            };
            let child = host
                .namespace
                .command(&gateway.program)?
                .args(["gateway", "run"])
                .arg(&file)
                .env("RUNTIME_DIRECTORY", &gateway.folder.path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .map_err(failed(name))?;
            gateway.running.push((name, child));
        }
        Ok(gateway)
    }

    /// Makes a key, and returns its public part.
    fn key(&self, name: &'static str) -> Result<String, GatewayError> {
        let file = self.folder.file(name, "key");
        let output = self.ask(name, "keys", &file, &[])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split(|c: char| c.is_whitespace() || "\"',[]".contains(c));
        words
            .find(|word| word.starts_with("bpk1-"))
            .map(str::to_owned)
            .ok_or_else(|| GatewayError::Failed {
                name,
                what: "got no key".to_owned(),
                said: String::from_utf8_lossy(&output.stderr).into_owned(),
            })
    }

    /// Runs a command of the gateway for one of its files.
    fn ask(
        &self,
        name: &'static str,
        command: &str,
        file: &Path,
        more: &[&str],
    ) -> Result<Output, GatewayError> {
        Command::new(&self.program)
            .args(["gateway", command])
            .arg(file)
            .args(more)
            .stdin(Stdio::null())
            .output()
            .map_err(|why| GatewayError::Start { name, why })
    }

    /// Waits until the boxes carry connections, by `deadline` at the latest.
    pub(crate) fn wait(&mut self, deadline: Instant) -> Result<(), GatewayError> {
        let file = self.folder.file("terminal", "toml");
        loop {
            self.check()?;
            let output = self.ask("terminal", "status", &file, &["--json"])?;
            if is_up(&String::from_utf8_lossy(&output.stdout)) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(self.failed("terminal", "has no association with the hub".to_owned()));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Fails if one of the programs has ended.
    pub(crate) fn check(&mut self) -> Result<(), GatewayError> {
        let mut ended = None;
        for (name, child) in &mut self.running {
            if let Ok(Some(status)) = child.try_wait() {
                ended = Some((*name, status));
            }
        }
        match ended {
            Some((name, status)) => Err(self.failed(name, format!("has ended ({status})"))),
            None => Ok(()),
        }
    }

    fn failed(&self, name: &'static str, what: String) -> GatewayError {
        let log = fs::read_to_string(self.folder.file(name, "log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(10);
        GatewayError::Failed {
            name,
            what,
            said: lines[last..].join("\n"),
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        for (_, child) in self.running.iter_mut().rev() {
            let _ = terminate(child, PATIENCE);
        }
    }
}

/// True if a status in JSON reports that the association is up and takes new connections.
fn is_up(status: &str) -> bool {
    let compact: String = status.chars().filter(|c| !c.is_whitespace()).collect();
    compact.contains("\"associations\":[{") && compact.contains("\"new_connections\":\"gateway\"")
}

/// The devices of a box, and for each whether it leads to the other box.
fn devices<'a>(emulator: &'a Emulator, boxes: &Boxes, which: usize) -> Vec<(&'a Host, bool)> {
    let hosts = emulator.hosts().iter();
    let own = hosts.filter(|host| host.node == boxes.nodes[which]);
    let leads = |host: &Host| host.paths.iter().any(|(pair, _)| *pair == boxes.pair);
    own.map(|host| (host, leads(host))).collect()
}

/// Lets a box forward packets between its devices: those to an end of a flow leave
/// towards it.
fn forward(scenario: &Scenario, devices: &[(&Host, bool)]) -> Result<(), NamespaceError> {
    let Some((host, _)) = devices.first() else {
        return Ok(());
    };
    host.namespace.sysctl("net.ipv4.ip_forward", "1")?;
    host.namespace.sysctl("net.ipv4.conf.all.rp_filter", "0")?;
    let mut routes = String::new();
    for (pair, part) in scenario.connections().enumerate() {
        for end in [0, 1] {
            // What leaves here on this part is for the flow's end beyond it.
            let here = |(host, _): &&(&Host, bool)| host.paths.contains(&(pair, 1 - end));
            if let Some((device, _)) = devices.iter().find(here) {
                let to = emulator::ipv4(part.flow, end);
                routes.push_str(&format!("route replace {to}/32 dev {}\n", device.interface));
            }
        }
    }
    for (device, _) in devices {
        let key = format!("net.ipv4.conf.{}.rp_filter", device.interface);
        device.namespace.sysctl(&key, "0")?;
    }
    host.namespace.ip(&routes)
}

/// The configuration of a box.
fn configuration(boxes: &Boxes, which: usize, peer: &str, devices: &[(&Host, bool)]) -> String {
    let hub = emulator::ipv4(boxes.pair, 1 - boxes.end);
    let names = |leads: bool| {
        let of = devices.iter().filter(|(_, l)| *l == leads);
        let names: Vec<String> = of
            .map(|(host, _)| format!("\"{}\"", host.interface))
            .collect();
        names.join(", ")
    };
    let name = NAMES[which];
    let intercept = match which {
        0 => format!("[intercept]\ninterfaces = [{}]\n", names(false)),
        // Hosts of a run have the addresses of a private network. The return route of connections
        // that it makes from clients' addresses.
        _ => format!(
            "[intercept]\ninterfaces = [{}]\n\n[policy]\nallow = [\"10.0.0.0/8\"]\n",
            names(false)
        ),
    };
    format!(
        "role = \"{name}\"\n\n[link]\nrate = \"{}\"\nrtt = \"{}\"\ninterfaces = [{}]\n\n\
         [tunnel]\naddress = \"{hub}:{PORT}\"\npeers = [\"{peer}\"]\nstream_window = \"{}\"\n\n\
         {intercept}\n[status]\ncontrol = \"{name}.sock\"\n",
        boxes.rates[which],
        boxes.rtt,
        names(true),
        boxes.window,
    )
}
