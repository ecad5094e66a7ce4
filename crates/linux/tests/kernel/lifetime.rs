//! How long a control stays: with its value, with its process, or until it is
//! unloaded.

use crate::common::{chosen, connect, forgotten, known, ready, shown, unique};
use bentpipe_bpf::{Values, find};
use bentpipe_linux::kernel::{Entry, Holder, KernelError, load, load_pinned, status, unload};
use bentpipe_linux::namespace::Namespace;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// In the environment of the process that is killed: the name that it loads.
const NAME: &str = "BENTPIPE_TEST_LOADS";

fn values(initial_window: u32) -> Values {
    let mut values = Values::new(find("bp_const").expect("the control"));
    let window = initial_window.to_string();
    values.set_text("initial_window", &window).unwrap();
    values
}

fn entry(name: &str) -> Option<Entry> {
    status().unwrap().into_iter().find(|e| e.name == name)
}

/// Unloads on the way out of a test that failed.
struct Unload(String);

impl Drop for Unload {
    fn drop(&mut self) {
        let _ = unload(&self.0);
    }
}

#[test]
fn copies_with_different_parameters_stand_beside_each_other() {
    if !ready("copies_with_different_parameters_stand_beside_each_other") {
        return;
    }
    let (a, b) = (unique(), unique());
    let (small, large) = (values(3), values(9));
    let _small = load(small.control(), &small, &a).unwrap();
    let _large = load(large.control(), &large, &b).unwrap();
    for (name, window) in [(&a, 3), (&b, 9)] {
        let (stream, reader) = connect(name);
        assert_eq!(chosen(&stream), *name);
        assert_eq!(shown(&stream, "cwnd").unwrap_or(window), window);
        let entry = entry(name).unwrap();
        let text = entry.parameters().next().map(|(p, text)| (p.name, text));
        assert_eq!(text, Some(("initial_window", window.to_string())));
        drop(stream);
        reader.join().unwrap();
    }
}

#[test]
fn a_pinned_control_stays_until_it_is_unloaded() {
    if !ready("a_pinned_control_stays_until_it_is_unloaded") {
        return;
    }
    let (values, name) = (values(5), unique());
    let path = load_pinned(values.control(), &values, &name).unwrap();
    let guard = Unload(name.clone());
    assert_eq!(path, PathBuf::from("/sys/fs/bpf/bentpipe").join(&name));
    assert!(path.exists() && known(&name));
    assert_eq!(
        entry(&name).unwrap().holder,
        Holder::Pin { path: path.clone() }
    );
    let again = load(values.control(), &values, &name).unwrap_err();
    assert!(
        again.to_string().contains("bentpipe kernel unload"),
        "{again}"
    );

    let (mut stream, reader) = connect(&name);
    stream.write_all(&[0; 1000]).unwrap();
    // The socket keeps its control, no other gets it.
    assert_eq!(unload(&name).unwrap(), 1);
    assert!(forgotten(&name) && !path.exists());
    let left = entry(&name).unwrap();
    assert_eq!((left.holder, left.users), (Holder::Nobody, 1));
    stream.write_all(&[0; 100_000]).unwrap();
    assert_eq!(chosen(&stream), name);
    drop(stream);
    assert_eq!(reader.join().unwrap(), 101_000);

    let gone = unload(&name).unwrap_err();
    assert!(matches!(gone, KernelError::NotLoaded { .. }), "{gone}");
    drop(guard);
}

/// A namespace takes it from a route and as its default, since anybody may
/// choose it; and keeps what is its default.
#[test]
fn a_namespace_takes_it_by_route_and_by_default() {
    if !ready("a_namespace_takes_it_by_route_and_by_default") {
        return;
    }
    let (values, name) = (values(5), unique());
    load_pinned(values.control(), &values, &name).unwrap();
    let _guard = Unload(name.clone());
    // A namespace that is refused its default never lets go of it again.
    let allowed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    assert!(allowed.unwrap().split_whitespace().any(|n| n == name));

    let namespace = Namespace::create(&name).unwrap();
    let route = format!(
        "link set lo up\naddr add 10.9.9.9/32 dev lo\n\
         route change local 10.9.9.9 dev lo table local congctl {name}\n"
    );
    namespace.ip(&route).unwrap();
    let connected = |address: &str| {
        let work = || {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            chosen(&stream)
        };
        namespace.enter(work).unwrap()
    };
    assert_eq!(connected("10.9.9.9"), name);
    assert_ne!(connected("127.0.0.1"), name);

    let default = "net.ipv4.tcp_congestion_control";
    namespace.sysctl(default, &name).unwrap();
    assert_eq!(connected("127.0.0.1"), name);
    let kept = namespace.enter(|| unload(&name)).unwrap().unwrap_err();
    assert!(matches!(kept, KernelError::Default { .. }), "{kept}");
    let said = kept.to_string();
    assert!(
        said.contains("sysctl net.ipv4.tcp_congestion_control="),
        "{said}"
    );
    namespace.sysctl(default, "reno").unwrap();
    drop(namespace);
    // Sockets that are closed linger for a moment.
    let begun = Instant::now();
    while entry(&name).unwrap().users > 0 && begun.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(50));
    }
    assert_eq!(unload(&name).unwrap(), 0);
}

#[test]
fn a_killed_process_leaves_nothing() {
    if !ready("a_killed_process_leaves_nothing") {
        return;
    }
    let name = unique();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "lifetime::loads_and_waits_to_be_killed",
            "--nocapture",
        ])
        .env(NAME, &name)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let loaded = output.lines().any(|line| line.unwrap().contains("loaded"));
    let held = unload(&name);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(loaded);
    assert!(
        matches!(&held, Err(KernelError::Held { pid, .. }) if *pid == child.id()),
        "{held:?}"
    );
    // The kernel closes the files of the dead before `wait` returns.
    assert!(forgotten(&name));
    assert!(entry(&name).is_none());
}

/// The process of the test above; nothing where it is not asked to be.
#[test]
fn loads_and_waits_to_be_killed() {
    let Ok(name) = std::env::var(NAME) else {
        return;
    };
    let values = values(5);
    let _loaded = load(values.control(), &values, &name).unwrap();
    let _ = writeln!(std::io::stdout(), "\nloaded");
    sleep(Duration::from_secs(60));
}
