use super::*;
use crate::testing;
use std::os::unix::process::{CommandExt, ExitStatusExt};

#[test]
fn names_are_plain() {
    assert_eq!(plain("sender[3]"), "sender-3");
    assert_eq!(plain("Zürich/1"), "Z-rich-1");
    for wrong in ["", ".", "..", "a/b", "a b", "-x", "ü"] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
    assert!(check("bp-12-server.1").is_ok());
}

#[test]
fn a_namespace_is_entered_and_removed() {
    if !testing::may("a_namespace_is_entered_and_removed") {
        return;
    }
    let name = testing::name("enter");
    let namespace = Namespace::create(&name).unwrap();
    assert!(matches!(
        Namespace::create(&name),
        Err(NamespaceError::Exists(_))
    ));
    let inside = || fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let devices = namespace.enter(inside).unwrap();
    assert_eq!(devices.lines().count(), 3, "{devices}");
    namespace
        .sysctl("net.ipv4.tcp_no_metrics_save", "1")
        .unwrap();
    let outside = namespace.enter(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_no_metrics_save"));
    assert_eq!(outside.unwrap().unwrap().trim(), "1");
    let wrong = namespace.ip("link set nothing up\n").unwrap_err();
    assert!(wrong.to_string().contains("nothing"), "{wrong}");
    let listing = namespace
        .command("ip")
        .unwrap()
        .args(["-o", "link"])
        .output();
    let listing = String::from_utf8(listing.unwrap().stdout).unwrap();
    assert_eq!(listing.lines().count(), 1, "{listing}");
    let mut sleeper = namespace.command("sleep").unwrap();
    let mut sleeper = sleeper.arg("60").spawn().unwrap();
    let status = terminate(&mut sleeper, Duration::from_secs(30)).unwrap();
    assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
    let path = namespace.path();
    drop(namespace);
    assert!(!path.exists());
    assert!(matches!(
        Namespace::open(&name),
        Err(NamespaceError::Missing(_))
    ));
}

/// Not a separate test: the process that the test below starts and kills.
#[test]
fn hold_a_namespace() {
    if let Ok(name) = std::env::var("BENTPIPE_TEST_HOLD") {
        let _namespace = Namespace::create(&name).unwrap();
        std::thread::sleep(Duration::from_secs(60));
    }
}

#[test]
fn what_a_killed_process_leaves_is_swept() {
    if !testing::may("what_a_killed_process_leaves_is_swept") {
        return;
    }
    let name = testing::name("killed");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "namespace::tests::hold_a_namespace"])
        .env("BENTPIPE_TEST_HOLD", &name)
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let appeared = testing::wait(|| path(&name).exists());
    sweep();
    let kept = path(&name).exists();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(appeared && kept);
    // Another test may have swept it in the meantime.
    sweep();
    assert!(!path(&name).exists());
}

#[test]
fn a_process_number_that_was_used_again_is_not_taken_for_its_owner() {
    if !testing::may("a_process_number_that_was_used_again_is_not_taken_for_its_owner") {
        return;
    }
    let [ours, other] = ["reused", "taken"].map(testing::name);
    for name in [&ours, &other] {
        let made = Command::new("ip").args(["netns", "add", name]).status();
        assert!(made.unwrap().success() && path(name).exists());
    }
    let is = Identity::of(path(&ours)).unwrap();
    let elsewhere = format!("feature lo gro {is}\n");
    // Process 1 runs, and did not start at this time. Another process has since made a namespace
    // with the second name.
    let start = std::process::id();
    let record = PathBuf::from(format!("/run/bentpipe/1.{start}"));
    fs::create_dir_all("/run/bentpipe").unwrap();
    let text = format!("{start}\nnamespace {ours} {is}\nnamespace {other} {is}\n");
    fs::write(&record, format!("{text}nonsense\n{elsewhere}")).unwrap();
    sweep();
    // Another test may be sweeping, too, and not be done.
    let gone = testing::wait(|| !path(&ours).exists());
    let kept = format!("{start}\n{elsewhere}");
    let is_kept = testing::wait(|| fs::read_to_string(&record).is_ok_and(|text| text == kept));
    let stayed = Identity::of(path(&other)).is_ok();
    let made = Identity::of(path(&other)).map(|is| remove(&other, is));
    assert!(testing::wait(|| fs::remove_file(&record).is_ok()));
    assert!(gone && is_kept && stayed && matches!(made, Ok(Ok(true))));
}

#[test]
fn two_sweepers_do_not_work_on_one_record() {
    if !testing::may("two_sweepers_do_not_work_on_one_record") {
        return;
    }
    let name = testing::name("shared");
    let made = Command::new("ip").args(["netns", "add", &name]).status();
    assert!(made.unwrap().success());
    let is = Identity::of(path(&name)).unwrap();
    fs::create_dir_all("/run/bentpipe").unwrap();
    // No process has so high a number.
    let record = format!("/run/bentpipe/{}", u32::MAX - std::process::id());
    fs::write(&record, format!("3\nnamespace {name} {is}\n")).unwrap();
    let removed = std::thread::scope(|scope| {
        let sweepers = [0; 4].map(|_| scope.spawn(sweep));
        sweepers.map(|sweeper| sweeper.join().unwrap()).concat()
    });
    let ours = Leftover::Namespace {
        name: name.clone(),
        identity: is,
    };
    // Another test may have been the one.
    assert!(removed.iter().filter(|what| **what == ours).count() <= 1);
    assert!(testing::wait(|| !path(&name).exists()));
}

#[test]
fn what_runs_in_a_namespace_ends_with_it() {
    if !testing::may("what_runs_in_a_namespace_ends_with_it") {
        return;
    }
    let namespace = Namespace::create(&testing::name("inside")).unwrap();
    let identity = namespace.made.unwrap();
    // The second does not listen to those who ask.
    let script = "sleep 60 & (trap '' TERM; exec sleep 60) &";
    let mut shell = namespace.command("sh").unwrap();
    let status = shell.args(["-c", script]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    assert_eq!(inside::programs(identity).len(), 2);
    drop(namespace);
    assert!(inside::programs(identity).is_empty());
}
